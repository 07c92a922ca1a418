"""Bootstrap intervals where whole clusters are drawn: percentile, from cluster totals.

Items of one document, page or program are not independent; resampling them one by one gives intervals that are too
narrow. All functions here draw clusters with replacement and take the generator as an argument. scipy.stats.bootstrap
knows no clusters; with one item a cluster and the same number of draws it gives the same intervals up to their noise.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np

from assay.axes import Float, Int, NDArray
from assay.clusters import Clusters, clusters_of
from assay.errors import EstimateError
from assay.stats.estimate import Estimate

FEWEST_CLUSTERS = 10
"""With fewer clusters there is no interval."""
FEW_CLUSTERS = 30
"""With fewer clusters percentile intervals are too narrow: the estimate is flagged."""
LEVEL = 0.95
Numbers: TypeAlias = Float[NDArray, " item"] | Int[NDArray, " item"]
"""One number an item."""


def cluster_codes(clusters: Sequence[Hashable], n_items: int) -> Clusters:
    """Numbers for the names of clusters, in the order of first appearance.

    Raises:
        EstimateError: not one name an item, one that is missing, or fewer than 10 clusters.
    """
    found = clusters_of(clusters, n_items, what="bootstrap")
    if found.n_clusters < FEWEST_CLUSTERS:
        raise EstimateError(
            f"bootstrap: {n_items} items from {found.n_clusters} clusters; an interval needs {FEWEST_CLUSTERS} "
            "clusters. Use more documents, or report the value without an interval."
        )
    return found


def cluster_flag(n_clusters: int) -> str:
    """Why an interval over so few clusters deserves less trust; empty from 30 clusters on."""
    if n_clusters >= FEW_CLUSTERS:
        return ""
    return f"{n_clusters} clusters, fewer than {FEW_CLUSTERS}: percentile intervals are too narrow"


def draw_counts(n_clusters: int, *, draws: int, rng: np.random.Generator) -> Float[NDArray, "draw cluster"]:
    """How often each cluster was drawn in each of the resamples (multinomial, ``n_clusters`` draws with replacement).

    Raises:
        EstimateError: fewer than 100 resamples.
    """
    if draws < 100:
        raise EstimateError(
            f"bootstrap: {draws} resamples; at least 100, and 2,000 or more for numbers that are reported."
        )
    picked = rng.integers(0, n_clusters, size=(draws, n_clusters))
    picked += n_clusters * np.arange(draws)[:, None]
    return np.bincount(picked.ravel(), minlength=draws * n_clusters).reshape(draws, n_clusters).astype(np.float64)


def percentile_estimate(
    value: float, resampled: Float[NDArray, " draw"], *, n: int, flag: str = "", level: float = LEVEL
) -> Estimate:
    """Estimate with the quantiles (1-level)/2 and (1+level)/2 of the resampled statistics (linear interpolation).

    Resamples without a value leave the interval NaN with the reason; they are not dropped.

    Raises:
        EstimateError: a level that is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise EstimateError(f"bootstrap: level {level}; it lies between 0 and 1, for example 0.95.")
    undefined = int((~np.isfinite(resampled)).sum())
    reasons = [flag] if flag else []
    low = high = math.nan
    if undefined:
        reasons.append(f"the statistic is not defined in {undefined} of {len(resampled)} resamples")
    else:
        low, high = (float(end) for end in np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2]))
    if math.isnan(value):
        reasons.append("the statistic is not defined on the sample")
    return Estimate(value, low, high, n, "; ".join(reasons))


def cluster_ratio(
    numerator: Numbers,
    denominator: Numbers,
    *,
    clusters: Sequence[Hashable],
    draws: int,
    rng: np.random.Generator,
    level: float = LEVEL,
) -> Estimate:
    """Ratio of sums: sum(numerator) / sum(denominator); each cluster weighs as much as its denominator.

    With counts W (draw x cluster) and cluster totals s, m the resampled values are (W s) / (W m).

    Raises:
        EstimateError: lengths that differ, values that are not finite, fewer than 10 clusters.
    """
    totals, codes = _totals({"numerator": numerator, "denominator": denominator}, clusters)
    counts = draw_counts(codes.n_clusters, draws=draws, rng=rng)
    resampled = _divide(counts @ totals["numerator"], counts @ totals["denominator"])
    value = float(_divide(np.asarray(totals["numerator"].sum()), np.asarray(totals["denominator"].sum())))
    return percentile_estimate(value, resampled, n=len(codes.of_item), flag=cluster_flag(codes.n_clusters), level=level)


def cluster_mean(
    values: Numbers,
    *,
    clusters: Sequence[Hashable],
    draws: int,
    rng: np.random.Generator,
    level: float = LEVEL,
) -> Estimate:
    """Mean over items: every item weighs the same, so a cluster weighs as many items as it has.

    Raises:
        EstimateError: as for `cluster_ratio`.
    """
    ones = np.ones(len(values))
    return cluster_ratio(values, ones, clusters=clusters, draws=draws, rng=rng, level=level)


def paired_difference(
    first: Numbers,
    second: Numbers,
    *,
    clusters: Sequence[Hashable],
    draws: int,
    rng: np.random.Generator,
    level: float = LEVEL,
) -> Estimate:
    """Mean over items of first - second; both arms of an item are in the same resamples.

    Raises:
        EstimateError: as for `cluster_ratio`.
    """
    _same_length({"first": first, "second": second})
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return cluster_mean(difference, clusters=clusters, draws=draws, rng=rng, level=level)


def paired_ratio_difference(
    first: tuple[Numbers, Numbers],
    second: tuple[Numbers, Numbers],
    *,
    clusters: Sequence[Hashable],
    draws: int,
    rng: np.random.Generator,
    level: float = LEVEL,
) -> Estimate:
    """Difference of two ratios of sums, first - second, each given as (numerator, denominator); same resamples in both.

    For example nats per byte of one model minus that of another on the same sentences.

    Raises:
        EstimateError: as for `cluster_ratio`.
    """
    parts = {"first numerator": first[0], "first denominator": first[1]}
    parts |= {"second numerator": second[0], "second denominator": second[1]}
    totals, codes = _totals(parts, clusters)
    counts = draw_counts(codes.n_clusters, draws=draws, rng=rng)

    def difference(weights: Float[NDArray, "draw cluster"]) -> Float[NDArray, " draw"]:
        sums = {name: weights @ total for name, total in totals.items()}
        left = _divide(sums["first numerator"], sums["first denominator"])
        return np.asarray(left - _divide(sums["second numerator"], sums["second denominator"]))

    value = float(difference(np.ones((1, codes.n_clusters)))[0])
    flag = cluster_flag(codes.n_clusters)
    return percentile_estimate(value, difference(counts), n=len(codes.of_item), flag=flag, level=level)


def _same_length(columns: dict[str, Numbers]) -> int:
    shapes = {name: np.shape(column) for name, column in columns.items()}
    if len(set(shapes.values())) != 1 or len(next(iter(shapes.values()))) != 1:
        given = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise EstimateError(f"bootstrap: one value an item and column is needed, the shapes are: {given}.")
    return int(next(iter(shapes.values()))[0])


def _totals(
    columns: dict[str, Numbers], clusters: Sequence[Hashable]
) -> tuple[dict[str, Float[NDArray, " cluster"]], Clusters]:
    codes = cluster_codes(clusters, _same_length(columns))
    totals = {}
    for name, column in columns.items():
        values = np.asarray(column, dtype=np.float64)
        if not np.isfinite(values).all():
            where = int(np.flatnonzero(~np.isfinite(values))[0])
            raise EstimateError(
                f"bootstrap: {name} of item {where} is {values[where]}. Remove the item from both arms."
            )
        totals[name] = np.bincount(codes.of_item, weights=values, minlength=codes.n_clusters)
    return totals, codes


def _divide(numerator: Float[NDArray, "*draw"], denominator: Float[NDArray, "*draw"]) -> Float[NDArray, "*draw"]:
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.asarray(numerator / denominator)
    return np.where(np.isfinite(quotient), quotient, np.nan)
