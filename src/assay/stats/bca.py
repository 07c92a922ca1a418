"""Bias-corrected and accelerated (BCa) intervals where whole clusters are drawn.

The bias correction comes from the resamples, the acceleration from a jackknife that leaves out one cluster at a time.
scipy.stats.bootstrap has BCa for independent items only and returns NaN for degenerate samples; here clusters are
drawn, and where BCa is not defined the interval is the percentile one and its reason says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri

from assay.axes import Float, NDArray
from assay.choices import checked_choice
from assay.clusters import Clusters
from assay.errors import EstimateError
from assay.stats.bootstrap import LEVEL, Numbers, cluster_codes, cluster_flag, draw_counts, percentile_estimate
from assay.stats.estimate import Estimate

Estimand: TypeAlias = Literal["item-weighted", "cluster-weighted"]
"""What is estimated: sum over sum, where a cluster weighs as many items as it has, or the mean of cluster means."""
Statistic: TypeAlias = Callable[[Float[NDArray, "draw cluster"]], Float[NDArray, " draw"]]
"""One value a row of cluster counts; the sample itself is the row of ones."""
_BLOCK = 512
_TIE = 1e-12


class Interval(NamedTuple):
    """An estimate with the quantity that it estimates and the way its ends were found.

    ``method`` is "percentile" where BCa is not defined; then ``estimate.reason`` says why.
    """

    estimate: Estimate
    estimand: Estimand
    method: Literal["BCa", "percentile"]


class Correction(NamedTuple):
    """Bias correction z0 and acceleration a; ``reason`` says why BCa is not defined and is empty if it is."""

    z0: float
    acceleration: float
    reason: str


class _Levels(NamedTuple):
    """Shares of the resamples that lie below the two ends."""

    low: float
    high: float


def bca_correction(
    value: float, resampled: Float[NDArray, " draw"], jackknife: Float[NDArray, " cluster"]
) -> Correction:
    """z0 = Phi^-1(share of resamples below the value, ties half); a = sum d^3 / (6 (sum d^2)^1.5), d = mean - left out.

    Source: Efron 1987 (doi 10.1080/01621459.1987.10478410); Efron and Tibshirani 1993, chapter 14.3.
    """
    values = np.asarray(resampled, dtype=np.float64)
    left_out = np.asarray(jackknife, dtype=np.float64)
    if not (math.isfinite(value) and np.isfinite(values).all()):
        return Correction(math.nan, math.nan, "the statistic is not defined on the sample and in all resamples")
    if not np.isfinite(left_out).all():
        absent = int((~np.isfinite(left_out)).sum())
        return Correction(
            math.nan, math.nan, f"the statistic is not defined without one of {absent} of the {left_out.size} clusters"
        )
    tied = np.abs(values - value) <= _TIE * max(abs(value), float(np.abs(values).max()))
    share = (int(((values < value) & ~tied).sum()) + int(tied.sum()) / 2) / values.size
    deviation = left_out.mean() - left_out
    if not np.abs(deviation).max() > _TIE * np.abs(left_out).max():
        return Correction(math.nan, math.nan, "the statistic does not change when a cluster is left out")
    deviation = deviation / np.abs(deviation).max()
    acceleration = float((deviation**3).sum() / (6 * (deviation**2).sum() ** 1.5))
    z0 = float(ndtri(share))
    reason = "" if math.isfinite(z0) else f"{share:.0%} of the resamples lie below the value"
    return Correction(z0, acceleration, reason)


def _levels(correction: Correction, *, level: float) -> _Levels | None:
    """Quantiles at which BCa reads the resamples: Phi(z0 + u / (1 - a u)) with u = z0 + Phi^-1((1 -/+ level) / 2).

    None where BCa is not defined: the correction has a reason, or 1 - a u is not positive.
    """
    if correction.reason:
        return None
    shifted = [correction.z0 + float(ndtri((1 + sign * level) / 2)) for sign in (-1, 1)]
    scales = [1 - correction.acceleration * one for one in shifted]
    if min(scales) <= 0:
        return None
    low, high = (float(ndtr(correction.z0 + one / scale)) for one, scale in zip(shifted, scales, strict=True))
    return _Levels(low, high)


def bca_interval(
    statistic: Statistic,
    *,
    codes: Clusters,
    estimand: Estimand,
    draws: int,
    rng: np.random.Generator,
    level: float = LEVEL,
) -> Interval:
    """BCa interval of any statistic of cluster counts, for example a maximum over controls taken anew in each draw.

    ``statistic`` gets counts (draw x cluster) and returns one value a draw: row sums of counts times cluster totals.
    ``estimand`` says which quantity that is; it is recorded, not computed.
    Resamples without a value leave the ends NaN.

    Raises:
        EstimateError: fewer than 10 clusters or 100 draws, a level outside (0, 1), not one value a draw, an unknown
            estimand.
    """
    checked_choice(estimand, Estimand, what="bca: estimand")
    flag = cluster_flag(codes.n_clusters)
    value = float(_values(statistic, np.ones((1, codes.n_clusters)))[0])
    resampled = _values(statistic, draw_counts(codes.n_clusters, draws=draws, rng=rng))
    percentile = percentile_estimate(value, resampled, n=len(codes.of_item), flag=flag, level=level)
    correction = bca_correction(value, resampled, _leave_one_out(statistic, codes.n_clusters))
    quantiles = _levels(correction, level=level)
    if quantiles is None:
        why = correction.reason or f"acceleration {correction.acceleration:.3g} is too large for level {level}"
        reason = "; ".join(part for part in (percentile.reason, f"percentile instead of BCa: {why}") if part)
        plain = Estimate(percentile.value, percentile.low, percentile.high, percentile.n, reason)
        return Interval(plain, estimand, "percentile")
    low, high = (float(end) for end in np.quantile(resampled, quantiles))
    return Interval(Estimate(value, low, high, len(codes.of_item), flag), estimand, "BCa")


def bca_mean(
    values: Numbers,
    *,
    clusters: Sequence[Hashable],
    estimand: Estimand,
    draws: int,
    rng: np.random.Generator,
    level: float = LEVEL,
) -> Interval:
    """Mean over items ("item-weighted") or mean of the clusters' means ("cluster-weighted"), with a BCa interval.

    Raises:
        EstimateError: as for `bca_interval`; another estimand; values that are not finite, not one an item.
    """
    codes, (totals,) = _cluster_totals(clusters, values=values)
    sizes = np.bincount(codes.of_item, minlength=codes.n_clusters).astype(np.float64)
    if estimand == "item-weighted":
        statistic = _ratio(totals, sizes)
    elif estimand == "cluster-weighted":
        statistic = _ratio(totals / sizes, np.ones(codes.n_clusters))
    else:
        raise EstimateError(f"bca: estimand {estimand!r}; say 'item-weighted' or 'cluster-weighted'.")
    return bca_interval(statistic, codes=codes, estimand=estimand, draws=draws, rng=rng, level=level)


def bca_ratio(
    numerator: Numbers,
    denominator: Numbers,
    *,
    clusters: Sequence[Hashable],
    draws: int,
    rng: np.random.Generator,
    level: float = LEVEL,
) -> Interval:
    """Ratio of sums with a BCa interval; item-weighted: a cluster weighs as much as its denominator.

    Raises:
        EstimateError: as for `bca_interval`; values that are not finite, not one an item.
    """
    codes, (upper, lower) = _cluster_totals(clusters, numerator=numerator, denominator=denominator)
    statistic = _ratio(upper, lower)
    return bca_interval(statistic, codes=codes, estimand="item-weighted", draws=draws, rng=rng, level=level)


def bca_paired_difference(
    first: Numbers,
    second: Numbers,
    *,
    clusters: Sequence[Hashable],
    estimand: Estimand,
    draws: int,
    rng: np.random.Generator,
    level: float = LEVEL,
) -> Interval:
    """Mean of first - second with a BCa interval; both arms of an item are in the same resamples.

    Raises:
        EstimateError: as for `bca_mean`.
    """
    if np.shape(first) != np.shape(second):
        raise EstimateError(
            f"bca: first has shape {np.shape(first)}, second {np.shape(second)}; pair them item by item."
        )
    difference = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    return bca_mean(difference, clusters=clusters, estimand=estimand, draws=draws, rng=rng, level=level)


def _cluster_totals(
    clusters: Sequence[Hashable], **columns: Numbers
) -> tuple[Clusters, list[Float[NDArray, " cluster"]]]:
    codes = cluster_codes(clusters, len(clusters))
    totals = []
    for name, column in columns.items():
        values = np.asarray(column, dtype=np.float64)
        if values.shape != (len(clusters),):
            raise EstimateError(f"bca: {name} has shape {values.shape} for {len(clusters)} items; one value an item.")
        if not np.isfinite(values).all():
            where = int(np.flatnonzero(~np.isfinite(values))[0])
            raise EstimateError(f"bca: {name} of item {where} is {values[where]}. Remove the item from all arms.")
        totals.append(np.bincount(codes.of_item, weights=values, minlength=codes.n_clusters))
    return codes, totals


def _ratio(numerator: Float[NDArray, " cluster"], denominator: Float[NDArray, " cluster"]) -> Statistic:
    def ratio(counts: Float[NDArray, "draw cluster"]) -> Float[NDArray, " draw"]:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((counts @ numerator) / (counts @ denominator))

    return ratio


def _values(statistic: Statistic, counts: Float[NDArray, "draw cluster"]) -> Float[NDArray, " draw"]:
    values = np.asarray(statistic(counts), dtype=np.float64)
    if values.shape != (len(counts),):
        raise EstimateError(
            f"bca: the statistic gave shape {values.shape} for {len(counts)} draws; one value a row of counts."
        )
    return np.where(np.isfinite(values), values, np.nan)


def _leave_one_out(statistic: Statistic, n_clusters: int) -> Float[NDArray, " cluster"]:
    parts = []
    for start in range(0, n_clusters, _BLOCK):
        left_out = np.arange(start, min(start + _BLOCK, n_clusters))
        counts = np.ones((left_out.size, n_clusters))
        counts[np.arange(left_out.size), left_out] = 0.0
        parts.append(_values(statistic, counts))
    return np.concatenate(parts)
