"""Orders of items drawn at random, whole clusters kept together, and p values from shuffles."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from assay.axes import Float, Int, NDArray
from assay.clusters import clusters_of
from assay.errors import EstimateError


def permutation_p(observed: float, shuffled: Float[NDArray, " draw"]) -> float:
    """One-sided p = (1 + #{shuffled >= observed - tolerance}) / (1 + draws), tolerance 1e-12 relative; never 0.

    The observed pairing counts as one of the shuffles.

    Raises:
        EstimateError: no shuffles, or a value that is not finite.

    Source: Phipson and Smyth 2010 (arXiv 1603.05766).
    """
    draws = np.asarray(shuffled, dtype=np.float64)
    if draws.ndim != 1 or draws.size == 0:
        raise EstimateError(f"permutation_p: shuffled values of shape {draws.shape}; a list of at least one is needed.")
    if not (np.isfinite(observed) and np.isfinite(draws).all()):
        n_bad = int((~np.isfinite(draws)).sum())
        raise EstimateError(
            f"permutation_p: observed {observed}, {n_bad} of {draws.size} shuffled values are not finite."
        )
    tolerance = 1e-12 * abs(observed)
    return float((1 + int((draws >= observed - tolerance).sum())) / (1 + draws.size))


def shuffled_order(
    n: int, *, rng: np.random.Generator, clusters: Sequence[Hashable] | None = None
) -> Int[NDArray, " item"]:
    """A random order of n items; with ``clusters`` the items of a cluster stay next to each other.

    Clusters are put in random order and their items laid out one after the other in the places of the original
    clusters, so that neighbours meet neighbours of another document.

    Raises:
        EstimateError: not one cluster name an item, one that is missing, or one cluster.
    """
    if clusters is None:
        return np.asarray(rng.permutation(n))
    groups = clusters_of(clusters, n, what="shuffled_order").members
    if len(groups) < 2:
        raise EstimateError("shuffled_order: all items are in one cluster, so there is nothing to shuffle.")
    order = np.empty(n, dtype=np.int64)
    order[np.concatenate(groups)] = np.concatenate([groups[place] for place in rng.permutation(len(groups))])
    return order
