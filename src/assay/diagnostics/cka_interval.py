"""Cluster bootstrap of unbiased CKA with duplicates masked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from assay.axes import Float, NDArray
from assay.diagnostics.gram import Gram, as_float64, hsic, same_items
from assay.stats.bootstrap import LEVEL, cluster_codes, cluster_flag, draw_counts, percentile_estimate
from assay.stats.estimate import Estimate


class CkaDraws(NamedTuple):
    """Unbiased CKA and the same on every resample; NaN where it is not defined.

    Equal generators give equal resamples, so the values of several pairs, or of a pair and its sham
    (``recipient.shuffled(order)``), can be combined draw by draw; `percentile_estimate` makes an interval of them.
    """

    value: float
    drawn: Float[NDArray, " draw"]


class _Resampled(NamedTuple):
    """One Gram under all resamples: sums over the drawn partners of every item, their totals, and the self term."""

    gram: Gram
    rows: Float[NDArray, "draw item"]
    totals: Float[NDArray, " draw"]
    own: Float[NDArray, " draw"]


class _Resamples(NamedTuple):
    """Counts of every item in every resample, and which pairs of items are in one cluster (zero diagonal)."""

    counts: Float[NDArray, "draw item"]
    same: Float[NDArray, "item item"]
    flag: str
    level: float


def cka_interval(
    donor: Gram,
    recipient: Gram,
    *,
    clusters: Sequence[Hashable],
    draws: int,
    rng: np.random.Generator,
    level: float = LEVEL,
) -> Estimate:
    """Unbiased CKA with the percentile interval of a cluster bootstrap in which copies of an item are not compared.

    Resampling puts copies of an item off the diagonal, where HSIC1 takes them for perfect similarity: a plain bootstrap
    covers the truth in about one of ten intervals. Here entries between copies are zero. With counts w (equal for the
    items of a cluster), m = sum w and Grams K0, L0 of zero diagonal, the drawn partners of item i sum to
    k_i = sum_j v_ij K_ij, where v_ij = w_j, but v_ij = 1 in the same cluster: different copies of one cluster are not
    compared with each other, or dependence within clusters would count up to w times too often. With l_i likewise,
    S = sum_ij w_i v_ij K_ij L_ij, a = sum_i w_i k_i, b = sum_i w_i l_i and c = sum_i w_i k_i l_i:
    HSIC = [S + ab/((m-1)(m-2)) - 2c/(m-2)] / (m(m-3)). For clusters of one item this is w'(K0*L0)w and so on.

    Raises:
        ShapeError: different numbers of items.
        EstimateError: fewer than 10 clusters; below 30 the estimate is flagged in its reason.
    """
    same_items(donor, recipient)
    resamples = _resamples(donor.n, clusters, draws, rng, level)
    first, second = _resample(donor, resamples), _resample(recipient, resamples)
    return _estimate(resamples, _value(donor, recipient), _ratio(first, second, resamples), _flaws(donor, recipient))


def cka_draws(
    donor: Gram, recipient: Gram, *, clusters: Sequence[Hashable], draws: int, rng: np.random.Generator
) -> CkaDraws:
    """The resampled values behind `cka_interval`.

    Raises:
        ShapeError, EstimateError: as for `cka_interval`.
    """
    same_items(donor, recipient)
    resamples = _resamples(donor.n, clusters, draws, rng, LEVEL)
    drawn = _ratio(_resample(donor, resamples), _resample(recipient, resamples), resamples)
    return CkaDraws(_value(donor, recipient), drawn)


def _resamples(
    n_items: int, clusters: Sequence[Hashable], draws: int, rng: np.random.Generator, level: float
) -> _Resamples:
    codes = cluster_codes(clusters, n_items)
    counts = draw_counts(codes.n_clusters, draws=draws, rng=rng)[:, codes.of_item]
    same = (codes.of_item[:, None] == codes.of_item[None, :]).astype(np.float64)
    np.fill_diagonal(same, 0.0)
    return _Resamples(np.ascontiguousarray(counts), same, cluster_flag(codes.n_clusters), level)


def _resample(gram: Gram, resamples: _Resamples) -> _Resampled:
    zero = as_float64(gram.zero)
    rows = _partners(zero, resamples)
    totals = np.einsum("bi,bi->b", resamples.counts, rows)
    return _Resampled(gram, rows, totals, _hsic_of_draws(zero * zero, (rows, totals), (rows, totals), resamples))


def _partners(matrix: Float[NDArray, "item item"], resamples: _Resamples) -> Float[NDArray, "draw item"]:
    """For every draw and drawn item i the sum over j of v_ij matrix_ij."""
    within = np.einsum("ij,ij->i", matrix, resamples.same)
    return np.asarray(resamples.counts @ matrix - (resamples.counts - 1) * within)


def _ratio(donor: _Resampled, recipient: _Resampled, resamples: _Resamples) -> Float[NDArray, " draw"]:
    product = as_float64(donor.gram.zero) * as_float64(recipient.gram.zero)
    sums = (donor.rows, donor.totals), (recipient.rows, recipient.totals)
    cross = _hsic_of_draws(product, *sums, resamples)
    defined = (donor.own > 0) & (recipient.own > 0)
    scale = np.sqrt(np.where(defined, donor.own * recipient.own, np.nan))
    return np.asarray(cross / scale)


def _hsic_of_draws(
    product: Float[NDArray, "item item"],
    donor: tuple[Float[NDArray, "draw item"], Float[NDArray, " draw"]],
    recipient: tuple[Float[NDArray, "draw item"], Float[NDArray, " draw"]],
    resamples: _Resamples,
) -> Float[NDArray, " draw"]:
    counts = resamples.counts
    m = counts.sum(axis=1)
    pairs = np.einsum("bi,bi->b", _partners(product, resamples), counts)
    triples = np.einsum("bi,bi,bi->b", counts, donor[0], recipient[0])
    total = donor[1] * recipient[1] / ((m - 1) * (m - 2))
    return np.asarray((pairs + total - 2 / (m - 2) * triples) / (m * (m - 3)))


def _value(donor: Gram, recipient: Gram) -> float:
    if donor.flaw or recipient.flaw:
        return float("nan")
    return float(hsic(donor, recipient) / np.sqrt(donor.self_hsic * recipient.self_hsic))


def _flaws(donor: Gram, recipient: Gram) -> str:
    named = (("donor", donor.flaw), ("recipient", recipient.flaw))
    return "; ".join(f"{name}: {flaw}" for name, flaw in named if flaw)


def _estimate(resamples: _Resamples, value: float, drawn: Float[NDArray, " draw"], flaws: str) -> Estimate:
    n = resamples.counts.shape[1]
    flag = "; ".join(part for part in (flaws, resamples.flag) if part)
    return percentile_estimate(value, drawn, n=n, flag=flag, level=resamples.level)
