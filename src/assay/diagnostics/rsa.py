"""Representational similarity analysis: agreement between the distances among items on the two sides."""

from __future__ import annotations

from typing import Literal

import numpy as np

from assay.axes import Float, NDArray
from assay.choices import checked_choice
from assay.errors import EstimateError
from assay.rows import PairedRows, checked_rows, paired_rows

Distance = Literal["correlation", "cosine", "euclidean", "sqeuclidean"]
Comparison = Literal["spearman", "pearson", "whitened_cosine"]
FEWEST_ITEMS = 4


def rsa(
    donor: Float[NDArray, "item d_donor"],
    recipient: Float[NDArray, "item d_recipient"],
    *,
    distance: Distance = "euclidean",
    comparison: Comparison = "spearman",
) -> float:
    """Agreement of the distances over all pairs of items, in [-1, 1] (whitened cosine of distances: [0, 1]).

    ``correlation`` centres each row over its columns, so it changes with shifts and rotations; ``euclidean`` does not.
    ``whitened_cosine`` weighs pairs by the covariance that independent noise of items gives their distances; on
    ``sqeuclidean`` it equals biased linear CKA.

    Raises:
        ShapeError: different numbers of items.
        EstimateError: fewer than 4 items, a row for which the distance is not defined, distances that are all equal,
            another distance or comparison.

    Source: Kriegeskorte et al. 2008 (doi 10.3389/neuro.06.004.2008); whitening from Diedrichsen et al. 2020
        (arXiv 2007.02789).
    """
    checked_choice(comparison, Comparison, what="rsa: comparison")
    rows = paired_rows(donor, recipient, what="rsa", fewest=FEWEST_ITEMS)
    one, other = (_pairs(side, distance) for side in _as_read(donor, recipient, rows, distance))
    if comparison == "whitened_cosine":
        return _whitened_cosine(one, other, len(rows.donor))
    for side, values in (("donor", one), ("recipient", other)):
        if not np.ptp(values) > 1e-12 * np.abs(values).max():
            raise EstimateError(f"rsa: all {len(values)} {distance} distances of the {side} are equal.")
    if comparison == "spearman":
        from scipy.stats import rankdata

        one, other = rankdata(one), rankdata(other)
    return float(np.corrcoef(one, other)[0, 1].clip(-1, 1))


def item_distances(rows: Float[NDArray, "item d"], *, distance: Distance = "euclidean") -> Float[NDArray, " pair"]:
    """Distances of all pairs of items i < j, row by row of the upper triangle (scipy's pdist).

    ``correlation`` is 1 - Pearson correlation over columns, ``cosine`` 1 - cosine; the others in the unit of the rows
    or its square.

    Raises:
        ShapeError: not a matrix.
        EstimateError: NaN or infinity; a constant row (correlation) or a row of zeros (cosine), with its place.
    """
    return _pairs(checked_rows(rows, what="item_distances"), distance)


def _as_read(
    donor: Float[NDArray, "item d_donor"],
    recipient: Float[NDArray, "item d_recipient"],
    rows: PairedRows,
    distance: Distance,
) -> tuple[Float[NDArray, "item d_donor"], Float[NDArray, "item d_recipient"]]:
    """Euclidean distances ignore shifts, so they are taken of centred rows, which round less."""
    if distance in ("euclidean", "sqeuclidean"):
        return rows.donor, rows.recipient
    return np.asarray(donor, dtype=np.float64), np.asarray(recipient, dtype=np.float64)


def _pairs(rows: Float[NDArray, "item d"], distance: Distance) -> Float[NDArray, " pair"]:
    from scipy.spatial.distance import pdist

    checked_choice(distance, Distance, what="rsa: distance")
    if distance in ("correlation", "cosine"):
        spread = rows - rows.mean(axis=1, keepdims=True) if distance == "correlation" else rows
        size = np.abs(rows).max(axis=1)
        flat = np.flatnonzero(np.abs(spread).max(axis=1) <= 8 * np.finfo(np.float64).eps * size)
        if len(flat):
            what = "is constant over its columns" if distance == "correlation" else "is zero"
            raise EstimateError(f"rsa: row {int(flat[0])} {what}, so it has no {distance} distance to the others.")
    return np.asarray(pdist(rows, metric=distance))


def _whitened_cosine(one: Float[NDArray, " pair"], other: Float[NDArray, " pair"], n: int) -> float:
    """x'V^-1 y / sqrt(x'V^-1 x y'V^-1 y), V = 2 I + B'B with B the incidence of items and pairs.

    V is the covariance of squared distances under independent noise of equal size: 4 on the diagonal, 1 for pairs that
    share an item. By Woodbury V^-1 = (I - B' (2 I + B B')^-1 B) / 2, and B B' = (n - 2) I + 1 1', so that only sums
    over the pairs of each item are needed.
    """

    def product(x: Float[NDArray, " pair"], y: Float[NDArray, " pair"]) -> float:
        at_x, at_y = _per_item(x, n), _per_item(y, n)
        inner = (at_x @ at_y - at_x.sum() * at_y.sum() / (2 * n)) / n
        return float(x @ y - inner)

    return product(one, other) / float(np.sqrt(product(one, one) * product(other, other)))


def _per_item(pairs: Float[NDArray, " pair"], n: int) -> Float[NDArray, " item"]:
    first, second = np.triu_indices(n, 1)
    return np.bincount(first, pairs, minlength=n) + np.bincount(second, pairs, minlength=n)
