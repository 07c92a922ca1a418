"""Sign-flip test over clusters: the exact alternative to a binomial test of directions that share a model or a page."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from assay.axes import Float, Int, NDArray
from assay.clusters import clusters_of
from assay.errors import EstimateError
from assay.stats.arrangements import EXACT_LIMIT

_TIE = 1e-12
_BLOCK = 4096


class SignFlip(NamedTuple):
    """P over all (``exact``) or random sign patterns of ``n_clusters`` totals; ``smallest_p`` is the least possible."""

    p: float
    n_clusters: int
    exact: bool
    smallest_p: float


def sign_flip_p(
    values: Float[NDArray, " item"] | Int[NDArray, " item"],
    *,
    clusters: Sequence[Hashable],
    draws: int,
    rng: np.random.Generator,
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
) -> SignFlip:
    """Is the mean zero, if every cluster's values could as well have the other sign? All its items flip together.

    All 2^G patterns if at most 20,000 (14 clusters), with p = count / patterns; else random ones with
    p = (1 + count) / (1 + draws). Five clusters give no p below 1/16 two-sided.

    Raises:
        EstimateError: values that are not finite, not one cluster an item, one cluster, another alternative, or fewer
            than 99 draws where they are needed.
    """
    totals = _totals(values, clusters)
    exact = 2**totals.size <= EXACT_LIMIT
    if alternative not in ("two-sided", "greater", "less"):
        raise EstimateError(f"sign_flip_p: alternative {alternative!r}; two-sided, greater or less.")
    if exact:
        signs = np.array(list(itertools.product((1.0, -1.0), repeat=totals.size)))
        sums = signs @ totals
    elif draws >= 99:
        parts = (min(_BLOCK, draws - start) for start in range(0, draws, _BLOCK))
        sums = np.concatenate([(2.0 * rng.integers(0, 2, (part, totals.size)) - 1) @ totals for part in parts])
    else:
        raise EstimateError(f"sign_flip_p: {draws} draws for {totals.size} clusters; at least 99.")
    observed = totals.sum()
    if alternative == "two-sided":
        sums, observed = np.abs(sums), abs(observed)
    elif alternative == "less":
        sums, observed = -sums, -observed
    count = int((sums >= observed - _TIE * np.abs(totals).sum()).sum())
    least = 2 if alternative == "two-sided" else 1
    if exact:
        return SignFlip(count / sums.size, totals.size, exact, least / sums.size)
    return SignFlip((1 + count) / (1 + draws), totals.size, exact, 1 / (1 + draws))


def _totals(values: NDArray, clusters: Sequence[Hashable]) -> Float[NDArray, " cluster"]:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (len(clusters),) or not np.isfinite(numbers).all():
        raise EstimateError(
            f"sign_flip_p: values of shape {numbers.shape}, {int((~np.isfinite(numbers)).sum())} not finite, "
            f"{len(clusters)} cluster names; one finite value and one name an item."
        )
    found = clusters_of(clusters, numbers.size, what="sign_flip_p")
    if found.n_clusters < 2:
        raise EstimateError(f"sign_flip_p: {numbers.size} values in {found.n_clusters} clusters; at least 2 clusters.")
    return np.bincount(found.of_item, weights=numbers)
