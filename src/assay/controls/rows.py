"""The sham of a similarity: the same rows, paired at random."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from assay.axes import Float, Int, NDArray
from assay.errors import EstimateError, ShapeError


def shuffled_values(
    measure: Callable[[NDArray, NDArray], float],
    donor: Float[NDArray, "item d_donor"],
    recipient: Float[NDArray, "item d_recipient"],
    *,
    draws: int,
    rng: np.random.Generator,
    clusters: Sequence[Hashable] | None = None,
) -> Float[NDArray, " draw"]:
    """``measure(donor, recipient)`` after each of ``draws`` random orders of the recipient's rows.

    The value of a measure means something next to the mean of these: SVCCA at 99 % of unrelated wide rows is 0.94.
    Measures that do not change with rotations are faster on `assay.diagnostics.procrustes.compact_rows` of both sides.

    Raises:
        ShapeError: different numbers of rows.
        EstimateError: no draws, clusters as for `shuffled_order`, or what the measure raises.
    """
    if len(donor) != len(recipient):
        raise ShapeError(f"shuffled_values: {len(donor)} donor rows, {len(recipient)} recipient rows.")
    if draws < 1:
        raise EstimateError(f"shuffled_values: {draws} draws; at least 1.")
    orders = (shuffled_order(len(donor), rng=rng, clusters=clusters) for _ in range(draws))
    return np.array([measure(donor, recipient[order]) for order in orders], dtype=np.float64)


def shuffled_order(
    n: int, *, rng: np.random.Generator, clusters: Sequence[Hashable] | None = None
) -> Int[NDArray, " item"]:
    """A random order of n items; with ``clusters`` the items of a cluster stay next to each other.

    Clusters are put in random order and their items laid out one after the other in the places of the original
    clusters, so that neighbours meet neighbours of another document.

    Raises:
        EstimateError: not one cluster name an item, or one cluster.
    """
    if clusters is None:
        return np.asarray(rng.permutation(n))
    if len(clusters) != n:
        raise EstimateError(f"shuffled_order: {len(clusters)} cluster names for {n} items. Name every item's cluster.")
    members: dict[Hashable, list[int]] = {}
    for item, name in enumerate(clusters):
        members.setdefault(name, []).append(item)
    if len(members) < 2:
        raise EstimateError("shuffled_order: all items are in one cluster, so there is nothing to shuffle.")
    groups = list(members.values())
    order = np.empty(n, dtype=np.int64)
    order[np.concatenate(groups)] = np.concatenate([groups[place] for place in rng.permutation(len(groups))])
    return order
