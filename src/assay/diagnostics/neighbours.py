"""Mutual nearest neighbours: do the two sides agree on which items are close to each other?"""

from __future__ import annotations

from typing import Literal

import numpy as np

from assay.axes import Float, NDArray
from assay.choices import checked_choice
from assay.errors import EstimateError
from assay.rows import checked_rows, paired_rows

Closeness = Literal["centred_cosine", "euclidean", "inner_product"]
TIE = 1e-9
"""Closeness within that share of the largest of its row counts as equal."""


def mutual_neighbours(
    donor: Float[NDArray, "item d_donor"],
    recipient: Float[NDArray, "item d_recipient"],
    *,
    k: int = 10,
    closeness: Closeness = "centred_cosine",
) -> float:
    """Mean over items of |N_donor(i) and N_recipient(i)| / k, N the k nearest other items; in [0, 1].

    Unrelated rows give k / (items - 1), see `neighbours_chance`. Items that tie for the last places share them: each
    is a neighbour by the share of places left, and the intersection takes the smaller share. So the value does not
    hang on the order of items, and equal rows leave the similarity of a side with its rotation at 1.
    ``centred_cosine`` centres columns first; ``inner_product`` takes rows as they are, as platonic-rep does.

    Raises:
        ShapeError: different numbers of items.
        EstimateError: k below 1 or above items - 2, an item equal to the mean of all (it has no cosine), rows that are
            no numbers or do not vary, another closeness.

    Source: Huh et al. 2024 (arXiv 2405.07987).
    """
    checked_choice(closeness, Closeness, what="mutual_neighbours: closeness")
    rows = paired_rows(donor, recipient, what="mutual_neighbours")
    n = len(rows.donor)
    neighbours_chance(n, k=k)
    sides = (rows.donor, rows.recipient) if closeness != "inner_product" else (donor, recipient)
    one, other = (_membership(_closeness(checked_rows(side, what="mutual_neighbours"), closeness), k) for side in sides)
    return float(np.minimum(one, other).sum() / (n * k))


def neighbours_chance(n_items: int, *, k: int = 10) -> float:
    """Expected `mutual_neighbours` of unrelated rows: k / (n_items - 1).

    Raises:
        EstimateError: k below 1, or so large that all other items are neighbours.
    """
    if not 1 <= k <= n_items - 2:
        raise EstimateError(f"mutual_neighbours: k = {k} of {n_items} items; k goes from 1 to items - 2.")
    return k / (n_items - 1)


def _closeness(rows: Float[NDArray, "item d"], kind: Closeness) -> Float[NDArray, "item item"]:
    if kind == "euclidean":
        squares = (rows**2).sum(axis=1)
        near = 2 * rows @ rows.T - squares[:, None] - squares[None, :]
    elif kind == "inner_product":
        near = rows @ rows.T
    else:
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        flat = np.flatnonzero(lengths[:, 0] <= 1e-12 * lengths.max())
        if len(flat):
            raise EstimateError(
                f"mutual_neighbours: item {int(flat[0])} is equal to the mean of all; it has no cosine."
            )
        unit = rows / lengths
        near = unit @ unit.T
    np.fill_diagonal(near, -np.inf)
    return np.asarray(near)


def _membership(near: Float[NDArray, "item item"], k: int) -> Float[NDArray, "item item"]:
    """1 for items nearer than the k-th, 0 for farther ones, the share of places left for those that tie with it."""
    n = len(near)
    last = np.partition(near, n - k, axis=1)[:, n - k : n - k + 1]
    finite = np.where(np.isfinite(near), np.abs(near), 0.0)
    margin = TIE * finite.max(axis=1, keepdims=True)
    nearer, tied = near > last + margin, np.abs(near - last) <= margin
    left = (k - nearer.sum(axis=1, keepdims=True)) / tied.sum(axis=1, keepdims=True)
    return np.asarray(nearer + tied * left)
