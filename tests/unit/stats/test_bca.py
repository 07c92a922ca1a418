"""BCa intervals: scipy's numbers where scipy can, clusters where it cannot, and percentile with a reason elsewhere."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats

from assay.errors import EstimateError
from assay.seeds import stream
from assay.stats.bca import bca_correction, bca_interval, bca_mean, bca_paired_difference, bca_ratio
from assay.stats.bootstrap import cluster_codes, cluster_flag, draw_counts


def rng(name="draws"):
    return stream(0, "bca", name)


def skewed(n_clusters=50, seed=0):
    """Clusters of one to six items with a shared exponential part."""
    source = stream(seed, "skewed")
    sizes = source.integers(1, 7, n_clusters)
    clusters = np.repeat(np.arange(n_clusters), sizes)
    return source.exponential(size=n_clusters)[clusters] + 0.3 * source.exponential(size=len(clusters)), clusters


@pytest.mark.parametrize("level", [0.90, 0.95])
def test_single_items_give_the_numbers_of_scipy(level):
    values = stream(1, "items").exponential(size=60)
    found = bca_mean(values, clusters=range(60), estimand="item-weighted", draws=999, rng=rng(), level=level)
    peer = stats.bootstrap((values,), np.mean, n_resamples=999, method="BCa", confidence_level=level, rng=rng())
    assert (found.estimate.low, found.estimate.high) == pytest.approx(tuple(peer.confidence_interval), rel=1e-12)
    assert found.method == "BCa"
    assert found.estimate.value == pytest.approx(values.mean())
    assert found.estimate.n == 60
    assert found.estimate.reason == ""


def test_clusters_give_the_numbers_of_a_plain_loop():
    values, clusters = skewed()
    found = bca_mean(values, clusters=clusters, estimand="item-weighted", draws=500, rng=rng())
    counts = draw_counts(50, draws=500, rng=rng())
    resampled = np.array([np.repeat(values, row[clusters].astype(int)).mean() for row in counts])
    jackknife = np.array([values[clusters != one].mean() for one in range(50)])
    z0 = stats.norm.ppf((resampled < values.mean()).mean())
    deviation = jackknife.mean() - jackknife
    a = (deviation**3).sum() / (6 * (deviation**2).sum() ** 1.5)
    correction = bca_correction(values.mean(), resampled, jackknife)
    assert (correction.z0, correction.acceleration) == pytest.approx((z0, a))
    ends = []
    for share in (0.025, 0.975):
        u = z0 + stats.norm.ppf(share)
        ends.append(np.quantile(resampled, stats.norm.cdf(z0 + u / (1 - a * u))))
    assert (found.estimate.low, found.estimate.high) == pytest.approx(tuple(ends))


def test_ties_count_half_and_rounding_does_not_break_them():
    resampled = np.array([0.0, 0.3 * (1 + 1e-15), 0.3 * (1 - 1e-15), 1.0])
    jackknife = np.array([0.0, 1.0, 2.0])
    assert bca_correction(0.3, resampled, jackknife).z0 == 0.0
    assert bca_correction(0.3, np.array([0.3, 0.3, 1.0, 1.0]), jackknife).z0 == pytest.approx(stats.norm.ppf(0.25))
    assert bca_correction(0.3, np.array([0.2, 0.2, 0.3, 1.0]), jackknife).z0 == pytest.approx(stats.norm.ppf(0.625))


def test_resamples_that_all_equal_a_value_of_zero_are_ties():
    assert bca_correction(0.0, np.zeros(4), np.array([0.0, 1.0, 2.0])).z0 == 0.0


@pytest.mark.parametrize(
    ("value", "resampled", "jackknife", "reason"),
    [
        (math.nan, [0.0, 1.0], [0.0, 1.0], "the statistic is not defined on the sample and in all resamples"),
        (0.5, [0.0, math.inf], [0.0, 1.0], "the statistic is not defined on the sample and in all resamples"),
        (0.5, [0.0, 1.0], [0.0, math.nan, 1.0], "the statistic is not defined without one of 1 of the 3 clusters"),
        (0.5, [0.0, 1.0], [0.5, 0.5], "the statistic does not change when a cluster is left out"),
        (0.5, [0.0, 1.0], [0.0, 0.0], "the statistic does not change when a cluster is left out"),
        (0.5, [0.0, 1.0], [0.5, 0.5 + 1e-13], "the statistic does not change when a cluster is left out"),
    ],
)
def test_a_correction_that_is_not_defined_is_nan_and_says_why(value, resampled, jackknife, reason):
    found = bca_correction(value, np.array(resampled), np.array(jackknife))
    assert np.isnan([found.z0, found.acceleration]).all()
    assert found.reason == reason


def test_a_correction_beyond_all_resamples_keeps_its_numbers():
    found = bca_correction(2.0, np.array([0.0, 1.0]), np.array([1.0, 2.0, 4.0]))
    assert (found.z0, found.reason) == (math.inf, "100% of the resamples lie below the value")
    assert math.isfinite(found.acceleration)


def test_acceleration_of_a_known_jackknife():
    correction = bca_correction(0.0, np.array([-1.0, 1.0]), np.array([-2.0, 1.0, 1.0]))
    assert correction.acceleration == pytest.approx((8 - 1 - 1) / (6 * 6**1.5))
    tiny = bca_correction(0.0, np.array([-1.0, 1.0]), 1e-120 * np.array([-2.0, 1.0, 1.0]))
    assert tiny.acceleration == pytest.approx(correction.acceleration)


def test_the_estimand_decides_the_number():
    values = np.concatenate([np.zeros(90), np.arange(1.0, 31.0)])
    clusters = [0] * 90 + list(range(1, 31))
    by_item, by_cluster = (
        bca_mean(values, clusters=clusters, estimand=one, draws=200, rng=rng())
        for one in ("item-weighted", "cluster-weighted")
    )
    assert by_item.estimate.value == pytest.approx(465 / 120)
    assert by_cluster.estimate.value == pytest.approx(465 / 31)
    assert (by_item.estimand, by_cluster.estimand) == ("item-weighted", "cluster-weighted")
    assert by_cluster.estimate.n == 120
    values, clusters = skewed()
    means = [values[clusters == one].mean() for one in range(50)]
    whole = bca_mean(values, clusters=clusters, estimand="cluster-weighted", draws=200, rng=rng()).estimate
    assert whole.value == pytest.approx(np.mean(means))


def test_a_ratio_and_a_paired_difference():
    values, clusters = skewed()
    size = values + 1
    twice = bca_ratio(2 * size, size, clusters=clusters, draws=200, rng=rng())
    assert twice.estimate.value == pytest.approx(2.0)
    ratio = bca_ratio(values, size, clusters=clusters, draws=200, rng=rng())
    assert ratio.estimate.value == pytest.approx(values.sum() / size.sum())
    assert ratio.estimand == "item-weighted"
    shift = bca_paired_difference(
        values + np.sin(values), values, clusters=clusters, estimand="item-weighted", draws=200, rng=rng()
    )
    same = bca_mean(np.sin(values), clusters=clusters, estimand="item-weighted", draws=200, rng=rng())
    assert (shift.estimate.low, shift.estimate.high) == pytest.approx((same.estimate.low, same.estimate.high))


def test_a_degenerate_sample_has_a_percentile_interval_and_says_why():
    """scipy gives NaN here."""
    constant = bca_mean(np.ones(40), clusters=range(40), estimand="item-weighted", draws=100, rng=rng())
    assert constant.method == "percentile"
    assert (constant.estimate.value, constant.estimate.low, constant.estimate.high) == (1.0, 1.0, 1.0)
    assert (constant.estimand, constant.estimate.n) == ("item-weighted", 40)
    assert constant.estimate.reason == (
        "percentile instead of BCa: the statistic does not change when a cluster is left out"
    )
    few = bca_mean(np.ones(12), clusters=range(12), estimand="cluster-weighted", draws=100, rng=rng())
    assert few.estimand == "cluster-weighted"
    assert few.estimate.reason == f"{cluster_flag(12)}; {constant.estimate.reason}"


def test_a_value_beyond_all_resamples_has_a_percentile_interval_and_says_why():
    codes = cluster_codes(range(40), 40)
    totals = np.arange(40.0)

    def best(counts):
        return np.where(counts > 0, totals, -1.0).max(axis=1) - 0.001 * (counts.max(axis=1) > 1)

    found = bca_interval(best, codes=codes, estimand="item-weighted", draws=300, rng=rng())
    assert found.method == "percentile"
    assert found.estimate.reason == "percentile instead of BCa: 100% of the resamples lie below the value"
    assert found.estimate.low == pytest.approx(np.quantile(best(draw_counts(40, draws=300, rng=rng())), 0.025))


def test_a_statistic_undefined_without_one_cluster_has_a_percentile_interval():
    codes = cluster_codes(range(12), 12)

    def undefined_without_the_first(counts):
        return np.where((counts[:, 0] == 0) & (counts.sum(axis=1) == 11), np.nan, counts @ np.arange(12.0))

    found = bca_interval(undefined_without_the_first, codes=codes, estimand="item-weighted", draws=100, rng=rng())
    assert found.method == "percentile"
    assert "not defined without one of 1 of the 12 clusters" in found.estimate.reason
    assert "12 clusters, fewer than 30" in found.estimate.reason
    assert found.estimate.known


def test_resamples_without_a_value_leave_no_interval():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = bca_ratio(np.arange(40) < 3, np.arange(40) < 3, clusters=range(40), draws=500, rng=rng())
        assert math.isnan(found.estimate.low)
        found = bca_ratio(np.ones(40), np.arange(40) < 3, clusters=range(40), draws=500, rng=rng())
    assert found.estimate.value == pytest.approx(40 / 3)
    assert math.isnan(found.estimate.low)
    assert "not defined in" in found.estimate.reason
    assert "percentile instead of BCa: the statistic is not defined on the sample and in all" in found.estimate.reason


def test_an_acceleration_that_turns_the_interval_round_is_not_used():
    codes = cluster_codes(range(12), 12)

    def mostly_one_cluster(counts):
        return np.where(counts[:, 0] == 0, -1.0, 0.1 * (counts[:, 1] - 1) * (counts.sum(axis=1) == 12))

    found = bca_interval(
        mostly_one_cluster, codes=codes, estimand="item-weighted", draws=400, rng=rng(), level=1 - 1e-13
    )
    assert found.method == "percentile"
    assert "is too large for level 0.99999" in found.estimate.reason


def test_the_maximum_over_controls_is_taken_anew_in_every_draw():
    """The best control of a resample is at least as good as the best of the sample: fixing it flatters the effect."""
    controls = stream(3, "controls").standard_normal((8, 60))
    best = int(controls.mean(axis=1).argmax())

    def minus_best(counts):
        return -(counts @ controls.T).max(axis=1) / 60

    codes = cluster_codes(range(60), 60)
    anew = bca_interval(minus_best, codes=codes, estimand="item-weighted", draws=1000, rng=rng()).estimate
    fixed = bca_mean(-controls[best], clusters=range(60), estimand="item-weighted", draws=1000, rng=rng()).estimate
    assert anew.value == pytest.approx(fixed.value)
    assert anew.high < fixed.high
    counts = draw_counts(60, draws=1000, rng=rng())
    assert (minus_best(counts) <= -counts @ controls[best] / 60 + 1e-12).all()


def test_more_clusters_than_a_block_are_left_out_one_by_one():
    values = stream(4, "many").exponential(size=1100)
    found = bca_mean(values, clusters=range(1100), estimand="item-weighted", draws=200, rng=rng())
    peer = stats.bootstrap((values,), np.mean, n_resamples=200, method="BCa", rng=rng())
    assert (found.estimate.low, found.estimate.high) == pytest.approx(tuple(peer.confidence_interval), rel=1e-12)


def test_coverage_of_a_skewed_mean_with_clusters():
    covered = {"clusters": 0, "items": 0}
    for trial in range(150):
        values, clusters = skewed(60, seed=trial)
        for name, groups in (("clusters", clusters), ("items", range(len(values)))):
            one = bca_mean(
                values, clusters=groups, estimand="item-weighted", draws=300, rng=stream(trial, "cover")
            ).estimate
            covered[name] += one.low <= 1.3 <= one.high
    assert 0.88 <= covered["clusters"] / 150 <= 0.99
    assert covered["items"] / 150 < 0.85


def test_few_clusters_are_flagged_and_very_few_refused():
    values = np.arange(48.0)
    flagged = bca_mean(values, clusters=[i % 12 for i in range(48)], estimand="item-weighted", draws=100, rng=rng())
    assert "12 clusters, fewer than 30" in flagged.estimate.reason
    assert flagged.method == "BCa"
    with pytest.raises(EstimateError, match="48 items from 9 clusters"):
        bca_mean(values, clusters=[i % 9 for i in range(48)], estimand="item-weighted", draws=100, rng=rng())


def test_bad_input_is_refused():
    some = np.arange(20.0)
    options = {"clusters": range(20), "draws": 100, "rng": rng()}
    with pytest.raises(EstimateError, match="item 3 is nan"):
        bca_mean(np.where(some == 3, np.nan, some), estimand="item-weighted", **options)
    with pytest.raises(EstimateError, match="estimand 'items'"):
        bca_mean(some, estimand="items", **options)
    with pytest.raises(EstimateError, match=r"denominator has shape \(19,\) for 20 items"):
        bca_ratio(some, some[1:], **options)
    with pytest.raises(EstimateError, match=r"first has shape \(20,\), second \(1,\)"):
        bca_paired_difference(some, some[:1], estimand="item-weighted", **options)
    with pytest.raises(EstimateError, match="level 95"):
        bca_mean(some, estimand="item-weighted", level=95, **options)
    with pytest.raises(EstimateError, match="99 resamples"):
        bca_mean(some, estimand="item-weighted", **{**options, "draws": 99})
    with pytest.raises(EstimateError, match=r"gave shape \(\) for 1 draws"):
        bca_interval(
            lambda counts: counts.sum(),
            codes=cluster_codes(range(20), 20),
            estimand="item-weighted",
            draws=100,
            rng=rng(),
        )
