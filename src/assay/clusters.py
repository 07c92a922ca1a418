"""Clusters of items: what is drawn, shuffled or held out together, because it comes from one document."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from assay.axes import Int, NDArray
from assay.errors import EstimateError


class Clusters(NamedTuple):
    """The cluster of every item as a number from 0 to ``n_clusters - 1``, in the order of first appearance."""

    of_item: Int[NDArray, " item"]
    n_clusters: int

    @property
    def members(self) -> list[Int[NDArray, " member"]]:
        """The items of each cluster, in their order."""
        ends = np.cumsum(np.bincount(self.of_item, minlength=self.n_clusters))[:-1]
        return list(np.split(np.argsort(self.of_item, kind="stable"), ends))


def clusters_of(names: Sequence[Hashable], n_items: int, *, what: str) -> Clusters:
    """Numbers for the names of clusters, one name an item. ``what`` begins the message of an error.

    Raises:
        EstimateError: not one name an item, or an item without a name (None, NaN), which would be a cluster of its own
            or one with all others that have none.
    """
    if len(names) != n_items:
        raise EstimateError(f"{what}: {len(names)} cluster names for {n_items} items. Name the cluster of every item.")
    numbers: dict[Hashable, int] = {}
    of_item = np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
    if nameless := [number for name, number in numbers.items() if _is_missing(name)]:
        item = int(np.flatnonzero(of_item == nameless[0])[0])
        raise EstimateError(f"{what}: item {item} has no cluster ({names[item]!r}). Name it, or leave the item out.")
    return Clusters(of_item, len(numbers))


def _is_missing(name: Hashable) -> bool:
    try:
        return name is None or bool(name != name)  # NaN
    except TypeError:  # pandas.NA is neither equal nor not
        return True
