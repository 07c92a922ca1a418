"""Laws of all estimators and all p values; each has a broken member that it catches."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.axes import Float, Int, NDArray
from assay.errors import EstimateError
from assay.seeds import stream
from assay.stats.arrangements import item_arrangements
from assay.stats.bca import bca_mean, bca_paired_difference, bca_ratio
from assay.stats.bootstrap import cluster_mean, cluster_ratio, paired_difference, paired_ratio_difference
from assay.stats.correlation import partial_spearman, spearman
from assay.stats.equivalence import bootstrap_p, bootstrap_tost, paired_tost
from assay.stats.estimate import Estimate
from assay.stats.multiplicity import benjamini_hochberg, holm
from assay.stats.permutation import permutation_p
from assay.stats.proportion import binomial_p, proportion, sign_test
from assay.stats.sign_flip import sign_flip_p

Values = Float[NDArray, " item"]
Estimator = Callable[..., Estimate]
"""(values, clusters, draws=, rng=, level=) to an estimate that is linear in the values."""


def ones(values: Values) -> Values:
    return np.ones(len(values))


ESTIMATORS: dict[str, Estimator] = {
    "cluster_mean": lambda v, c, **options: cluster_mean(v, clusters=c, **options),
    "cluster_ratio": lambda v, c, **options: cluster_ratio(v, ones(v), clusters=c, **options),
    "paired_difference": lambda v, c, **options: paired_difference(v, 2 * v, clusters=c, **options),
    "paired_ratio_difference": lambda v, c, **options: paired_ratio_difference(
        (v, ones(v)), (3 * v, 2 * ones(v)), clusters=c, **options
    ),
    "bca_mean by item": lambda v, c, **options: bca_mean(v, clusters=c, estimand="item-weighted", **options).estimate,
    "bca_mean by cluster": lambda v, c, **options: (
        bca_mean(v, clusters=c, estimand="cluster-weighted", **options).estimate
    ),
    "bca_ratio": lambda v, c, **options: bca_ratio(v, ones(v), clusters=c, **options).estimate,
    "bca_paired_difference": lambda v, c, **options: (
        bca_paired_difference(v, 2 * v, clusters=c, estimand="item-weighted", **options).estimate
    ),
}


class Sample(NamedTuple):
    values: Values
    clusters: Int[NDArray, " item"]
    seed: int


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Ten to forty clusters of one to five items, of any scale, heavy-tailed or with ties."""
    seed = draw(st.integers(0, 2**32))
    rng = stream(seed, "sample")
    clusters = np.repeat(np.arange(draw(st.integers(10, 40))), draw(st.integers(1, 5)))
    kind = draw(st.sampled_from(["normal", "cauchy", "few values"]))
    raw = {"normal": rng.standard_normal, "cauchy": rng.standard_cauchy}
    values = raw[kind](len(clusters)) if kind in raw else rng.integers(-2, 3, len(clusters)).astype(float)
    return Sample(values * 10.0 ** draw(st.integers(-6, 6)), clusters, seed)


every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def estimate(estimator: Estimator, values: Values, sample: Sample, *, level: float = 0.95) -> Estimate:
    return estimator(values, sample.clusters, draws=200, rng=stream(sample.seed, "draws"), level=level)


def run(estimator: Estimator, values: Values, sample: Sample) -> NDArray:
    found = estimate(estimator, values, sample)
    return np.array([found.value, found.low, found.high])


def near(left: NDArray, right: NDArray, scale: float) -> bool:
    return bool(np.allclose(left, right, rtol=1e-9, atol=1e-9 * scale))


def order_within_clusters(estimator: Estimator, sample: Sample) -> bool:
    """Items of a cluster may stand in any order."""
    order = np.lexsort((stream(sample.seed, "order").random(len(sample.values)), sample.clusters))
    scale = float(np.abs(sample.values).max())
    return near(run(estimator, sample.values, sample), run(estimator, sample.values[order], sample), scale)


def scale_equivariance(estimator: Estimator, sample: Sample) -> bool:
    """Another unit changes value and ends by its factor."""
    scale = float(np.abs(sample.values).max())
    return near(
        run(estimator, 1000.0 * sample.values, sample), 1000.0 * run(estimator, sample.values, sample), 1e3 * scale
    )


def holds_its_value_if_symmetric(estimator: Estimator, sample: Sample) -> bool:
    """Data that equal their mirror image have an estimate of 0, inside the interval."""
    clusters = np.concatenate([sample.clusters, sample.clusters + sample.clusters.max() + 1])
    mirrored = Sample(np.concatenate([sample.values, -sample.values]), clusters, sample.seed)
    value, low, high = run(estimator, mirrored.values, mirrored)
    slack = 1e-9 * float(np.abs(sample.values).max())
    return abs(value) <= slack and low <= value + slack and value <= high + slack


def refuses_nan(estimator: Estimator, sample: Sample) -> bool:
    """A missing value is refused, never skipped or spread."""
    values = np.where(np.arange(len(sample.values)) == 3, math.nan, sample.values)
    try:
        run(estimator, values, sample)
    except EstimateError:
        return True
    return False


def same_draws_same_numbers(estimator: Estimator, sample: Sample) -> bool:
    """Equal streams give equal bits, and the values given are left as they are."""
    before = sample.values.copy()
    first, second = (run(estimator, sample.values, sample) for _ in range(2))
    return bool((first == second).all() and (before == sample.values).all())


def a_higher_level_is_wider(estimator: Estimator, sample: Sample) -> bool:
    """The level asked for is the level used."""
    narrow, wide = (estimate(estimator, sample.values, sample, level=level) for level in (0.5, 0.98))
    return wide.low <= narrow.low <= narrow.high <= wide.high and wide.high - wide.low > narrow.high - narrow.low


def counts_items_and_flags_few_clusters(estimator: Estimator, sample: Sample) -> bool:
    """n is the number of items; fewer than 30 clusters are said, more are not."""
    found = estimate(estimator, sample.values, sample)
    few = len(set(sample.clusters)) < 30
    return found.n == len(sample.values) and few == ("clusters, fewer than 30" in found.reason)


def whole_numbers_do_not_wrap(estimator: Estimator, sample: Sample) -> bool:
    """Counts of a small unsigned type give what the same numbers as floats give."""
    counts = stream(sample.seed, "counts").integers(0, 80, len(sample.values))
    return bool((run(estimator, counts.astype(np.uint8), sample) == run(estimator, counts.astype(float), sample)).all())


LAWS = {
    one.__name__: one
    for one in (
        order_within_clusters,
        scale_equivariance,
        holds_its_value_if_symmetric,
        refuses_nan,
        same_draws_same_numbers,
        a_higher_level_is_wider,
        counts_items_and_flags_few_clusters,
        whole_numbers_do_not_wrap,
    )
}
mean = ESTIMATORS["cluster_mean"]


def item_bootstrap(v: Values, c: Int[NDArray, " item"], **options: Any) -> Estimate:
    """Forgets the clusters: the order of items decides what is drawn."""
    picked = options["rng"].integers(0, len(v), (options["draws"], len(v)))
    low, high = np.quantile(v[picked].mean(axis=1), [0.025, 0.975])
    return Estimate(float(v.mean()), float(low), float(high), len(v))


def with_epsilon(v: Values, c: Int[NDArray, " item"], **options: Any) -> Estimate:
    """Adds a constant "for stability"."""
    found = mean(v, c, **options)
    return replace(found, value=found.value + 1e-3, high=found.high + 1e-3)


def one_sided(v: Values, c: Int[NDArray, " item"], **options: Any) -> Estimate:
    """Takes the upper half of the resamples for the interval."""
    found = mean(v, c, **options)
    return replace(found, low=found.value + 0.5 * (found.high - found.value))


def skips_nan(v: Values, c: Int[NDArray, " item"], **options: Any) -> Estimate:
    """Drops what is missing."""
    return mean(v[~np.isnan(v)], c[~np.isnan(v)], **options)


GLOBAL = np.random.default_rng(0)

TWINS: dict[str, Estimator] = {
    "order_within_clusters": item_bootstrap,
    "scale_equivariance": with_epsilon,
    "holds_its_value_if_symmetric": one_sided,
    "refuses_nan": skips_nan,
    "same_draws_same_numbers": lambda v, c, **options: mean(v, c, **{**options, "rng": GLOBAL}),
    "a_higher_level_is_wider": lambda v, c, **options: mean(v, c, **{**options, "level": 0.95}),
    "counts_items_and_flags_few_clusters": lambda v, c, **options: replace(mean(v, c, **options), reason=""),
    "whole_numbers_do_not_wrap": lambda v, c, **options: mean(v - 2 * v, c, **options),
}


@every_estimator
@pytest.mark.parametrize("which", LAWS)
@given(sample=samples())
def test_law_of_estimators(which: str, name: str, sample: Sample) -> None:
    assert LAWS[which](ESTIMATORS[name], sample), f"{name} breaks {which}"


@pytest.mark.parametrize("which", LAWS)
def test_each_law_catches_its_broken_twin(which: str) -> None:
    rng = stream(0, "twin")
    clusters = np.repeat(np.arange(12), 3)
    sample = Sample(rng.standard_normal(36) + np.repeat(rng.standard_normal(12), 3), clusters, 0)
    assert LAWS[which](ESTIMATORS["cluster_mean"], sample)
    assert not LAWS[which](TWINS[which], sample)


def of_correlation(effect: float, rng: np.random.Generator) -> float:
    """Ranks of 12 items; the stronger the effect, the more of the second side is the first."""
    first, noise = np.arange(12.0), rng.standard_normal(12)
    order = item_arrangements(12, draws=99, rng=rng)
    return spearman(first, effect * first + noise, arrangements=order, alternative="greater").p


def of_partial_correlation(effect: float, rng: np.random.Generator) -> float:
    first, noise, given_ = np.arange(12.0), rng.standard_normal(12), rng.standard_normal((12, 1))
    order = item_arrangements(12, draws=99, rng=rng)
    second = first if math.isinf(effect) else effect * first + noise
    return partial_spearman(first, second, given=given_, arrangements=order, alternative="greater").p


def noise(rng: np.random.Generator) -> Values:
    return rng.standard_normal(20)


P_VALUES: dict[str, Callable[[float, np.random.Generator], float]] = {
    "permutation_p": lambda effect, rng: permutation_p(effect, noise(rng)),
    "bootstrap_p": lambda effect, rng: bootstrap_p(effect + noise(rng), above=0.2),
    "bootstrap_tost from above": lambda effect, rng: bootstrap_tost(effect + noise(rng), margin=0.5).p_above,
    "paired_tost from above": lambda effect, rng: paired_tost(effect + noise(rng), np.zeros(20), margin=0.5).p_above,
    "sign_flip_p": lambda effect, rng: (
        sign_flip_p(
            effect + noise(rng), clusters=[i % 7 for i in range(20)], draws=99, rng=rng, alternative="greater"
        ).p
    ),
    "binomial_p": lambda effect, rng: binomial_p(
        int((effect + noise(rng) > 0).sum()), n=20, chance=0.5, alternative="greater"
    ),
    "sign_test": lambda effect, rng: sign_test(10.0 + effect + noise(rng)[:4]).p,
    "holm": lambda effect, rng: float(holm(np.append(np.exp(-effect - 3), rng.random(8)), planned=12).p[0]),
    "benjamini_hochberg": lambda effect, rng: float(
        benjamini_hochberg(np.append(np.exp(-effect - 3), rng.random(8)), planned=12).p[0]
    ),
}


def falls_with_the_effect(p_value: Callable[[float, np.random.Generator], float], seed: int) -> bool:
    """With the same noise and the same draws, a larger effect never has a larger p; p lies in (0, 1]."""
    found = np.array([p_value(effect, stream(seed, "p")) for effect in (-2.0, -0.5, 0.0, 0.3, 1.0, 3.0)])
    return bool((np.diff(found) <= 1e-12).all() and (found > 0).all() and (found <= 1).all())


@pytest.mark.parametrize("name", P_VALUES)
@given(seed=st.integers(0, 2**32))
def test_p_falls_with_the_effect(name: str, seed: int) -> None:
    assert falls_with_the_effect(P_VALUES[name], seed)


def test_a_p_without_the_plus_one_is_caught() -> None:
    assert not falls_with_the_effect(lambda effect, rng: float((noise(rng) >= effect).mean()), 0)


def test_a_p_of_the_wrong_tail_is_caught() -> None:
    assert not falls_with_the_effect(lambda effect, rng: permutation_p(-effect, -noise(rng)), 0)


@given(seed=st.integers(0, 2**32))
def test_a_closer_relation_has_a_smaller_p_at_the_ends(seed: int) -> None:
    """Ranks move in steps, so only the ends are ordered for sure: a perfect relation has the least p there is."""
    for correlation in (of_correlation, of_partial_correlation):
        perfect = correlation(1e9, stream(seed, "rank"))
        assert perfect <= correlation(0.1, stream(seed, "rank"))
        assert perfect >= 0.01


ADJUSTMENTS = {"holm": holm, "benjamini_hochberg": benjamini_hochberg}


def unmonotone(p_values: Values, *, planned: int) -> Values:
    """Holm without the running maximum: a smaller p may come out larger."""
    ranks = np.argsort(np.argsort(p_values))
    return np.minimum(1.0, (planned - ranks) * p_values)


def keeps_order_and_never_falls(adjusted: Values, p_values: Values) -> bool:
    order = np.argsort(p_values)
    return bool((np.diff(adjusted[order]) >= -1e-12).all() and (adjusted >= p_values - 1e-12).all())


@pytest.mark.parametrize("name", ADJUSTMENTS)
@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=20), extra=st.integers(0, 30))
def test_adjustment_keeps_the_order_and_grows_with_the_family(name: str, p_values: list[float], extra: int) -> None:
    p = np.array(p_values)
    small, large = (ADJUSTMENTS[name](p, planned=len(p) + more).p for more in (0, extra))
    assert keeps_order_and_never_falls(small, p)
    assert keeps_order_and_never_falls(large, p)
    assert (large >= small - 1e-12).all()


def test_an_adjustment_that_breaks_the_order_is_caught() -> None:
    p = np.array([0.01, 0.011, 0.012])
    assert not keeps_order_and_never_falls(unmonotone(p, planned=3), p)


@given(n=st.integers(1, 60), data=st.data(), level=st.floats(0.5, 0.999))
def test_an_exact_share_lies_in_its_interval_and_mirrors(n: int, data: st.DataObject, level: float) -> None:
    k = data.draw(st.integers(0, n))
    for kind in ("exact", "wilson"):
        found = proportion(k, n=n, level=level, kind=kind)
        mirrored = proportion(n - k, n=n, level=level, kind=kind)
        assert found.low - 1e-9 <= k / n <= found.high + 1e-9
        assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((found.low, found.high), abs=1e-9)
        assert found.high > found.low
