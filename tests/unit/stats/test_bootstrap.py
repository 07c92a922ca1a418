"""Cluster bootstrap: equal to a plain loop, near scipy where scipy can do it, and right about dependence."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats

from assay.errors import EstimateError
from assay.seeds import stream
from assay.stats.bootstrap import (
    cluster_codes,
    cluster_mean,
    cluster_ratio,
    draw_counts,
    paired_difference,
    paired_ratio_difference,
    percentile_estimate,
)

DRAWS = 2000


def rng(name="draws"):
    return stream(0, "bootstrap", name)


def grouped(n_clusters=60, size=4, shared=1.0, seed=0):
    """Values whose clusters share a part of the given standard deviation."""
    source = np.random.default_rng(seed)
    common = np.repeat(source.standard_normal(n_clusters) * shared, size)
    return common + source.standard_normal(n_clusters * size), [f"page {i // size}" for i in range(n_clusters * size)]


def test_counts_are_multinomial():
    counts = draw_counts(50, draws=3000, rng=rng())
    assert counts.shape == (3000, 50)
    assert (counts.sum(axis=1) == 50).all()
    assert abs(counts.var() - (1 - 1 / 50)) < 0.02


def test_ratio_equals_a_plain_loop_over_drawn_clusters():
    values, clusters = grouped()
    weights = np.abs(values) + 1
    found = cluster_ratio(values, weights, clusters=clusters, draws=300, rng=rng())
    counts = draw_counts(60, draws=300, rng=rng()).astype(int)
    members = np.arange(240).reshape(60, 4)
    looped = []
    for row in counts:
        items = np.concatenate([members[cluster] for cluster in range(60) for _ in range(row[cluster])])
        looped.append(values[items].sum() / weights[items].sum())
    assert found.value == pytest.approx(values.sum() / weights.sum(), rel=1e-12)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(looped, [0.025, 0.975])), rel=1e-10)
    assert (found.n, found.reason) == (240, "")


def test_single_item_clusters_agree_with_scipy():
    values, _ = grouped(size=1, n_clusters=200)
    found = cluster_mean(values, clusters=list(range(200)), draws=20_000, rng=rng())
    peer = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=1).confidence_interval
    width = peer.high - peer.low
    assert abs(found.low - peer.low) < 0.03 * width
    assert abs(found.high - peer.high) < 0.03 * width


def test_names_of_clusters_and_order_of_appearance_do_not_matter():
    values, clusters = grouped()
    renamed = cluster_mean(values, clusters=[("new", name) for name in clusters], draws=DRAWS, rng=rng())
    assert cluster_mean(values, clusters=clusters, draws=DRAWS, rng=rng()) == renamed


def test_coverage_with_dependent_items_and_the_item_bootstrap_that_fails_it():
    covered, naive = 0, 0
    for trial in range(200):
        values, clusters = grouped(shared=1.5, seed=trial)
        draws = stream(trial, "coverage")
        one = cluster_mean(values, clusters=clusters, draws=400, rng=draws)
        other = cluster_mean(values, clusters=list(range(len(values))), draws=400, rng=draws)
        covered += one.low <= 0 <= one.high
        naive += other.low <= 0 <= other.high
    assert 0.90 <= covered / 200 <= 0.99
    assert naive / 200 < 0.85


def test_pairs_share_their_resamples():
    values, clusters = grouped(shared=3.0)
    shift = paired_difference(values + 0.5, values, clusters=clusters, draws=DRAWS, rng=rng())
    assert (shift.value, shift.low, shift.high) == pytest.approx((0.5, 0.5, 0.5))


def test_ratio_difference_of_equal_arms_is_exactly_zero():
    values, clusters = grouped()
    size = np.abs(values) + 1
    same = paired_ratio_difference((values, size), (values, size), clusters=clusters, draws=200, rng=rng())
    assert (same.value, same.low, same.high) == (0, 0, 0)
    twice = paired_ratio_difference((2 * size, size), (size, size), clusters=clusters, draws=200, rng=rng())
    assert (twice.value, twice.low, twice.high) == pytest.approx((1, 1, 1))


def test_whole_numbers_are_numbers():
    tokens, clusters = np.arange(240), [i // 4 for i in range(240)]
    assert cluster_ratio(tokens, tokens + 1, clusters=clusters, draws=100, rng=rng()).value < 1


def test_few_clusters_are_flagged_and_very_few_refused():
    values = np.arange(48.0)
    flagged = cluster_mean(values, clusters=[i % 12 for i in range(48)], draws=100, rng=rng())
    assert "12 clusters, fewer than 30" in flagged.reason
    with pytest.raises(EstimateError, match="48 items from 9 clusters; an interval needs 10"):
        cluster_mean(values, clusters=[i % 9 for i in range(48)], draws=100, rng=rng())


def test_ten_clusters_thirty_clusters_and_a_hundred_draws_are_enough():
    found = [cluster_mean(np.arange(k), clusters=range(k), draws=100, rng=rng()) for k in (10, 29, 30)]
    few = "fewer than 30: percentile intervals are too narrow"
    assert [one.reason for one in found] == [f"10 clusters, {few}", f"29 clusters, {few}", ""]


def test_quantiles_of_known_resamples():
    found = percentile_estimate(7.0, np.arange(101.0), n=5, flag="few", level=0.9)
    assert (found.value, found.low, found.high) == pytest.approx((7.0, 5.0, 95.0))
    assert (found.n, found.reason) == (5, "few")
    missing = percentile_estimate(math.nan, np.array([1.0, np.inf, np.nan]), n=5, flag="few")
    assert missing.reason == (
        "few; the statistic is not defined in 2 of 3 resamples; the statistic is not defined on the sample"
    )
    assert np.isnan([missing.low, missing.high]).all()
    assert percentile_estimate(0.0, np.zeros(9), n=5).reason == ""
    hole = percentile_estimate(0.0, np.array([1.0, np.nan]), n=5)
    assert hole.reason == "the statistic is not defined in 1 of 2 resamples"


def test_an_undefined_resample_is_not_dropped():
    numerator = np.ones(40)
    denominator = np.zeros(40)
    denominator[:3] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cluster_ratio(numerator, denominator, clusters=list(range(40)), draws=500, rng=rng())
        empty = cluster_ratio(denominator, denominator, clusters=list(range(40)), draws=500, rng=rng())
    assert (empty.value, math.isnan(empty.low)) == (1.0, True)
    assert found.value == pytest.approx(40 / 3)
    assert math.isnan(found.low)
    assert "not defined in" in found.reason
    nothing = cluster_ratio(numerator, np.zeros(40), clusters=list(range(40)), draws=100, rng=rng())
    assert math.isnan(nothing.value)
    assert "not defined on the sample" in nothing.reason


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cluster_codes(["a"] * 3, 4), "3 cluster names for 4 items"),
        (lambda: draw_counts(10, draws=99, rng=rng()), "at least 100"),
        (lambda: percentile_estimate(0.0, np.zeros(5), n=5, level=95), "level 95"),
        (lambda: percentile_estimate(0.0, np.zeros(5), n=5, level=0.0), "level 0.0"),
        (lambda: percentile_estimate(0.0, np.zeros(5), n=5, level=1.0), "level 1.0"),
        (lambda: cluster_mean(np.array([0.0] * 9 + [-np.inf]), clusters=range(10), draws=100, rng=rng()), "9 is -inf"),
        (lambda: cluster_mean(np.array([np.nan] * 20), clusters=range(20), draws=100, rng=rng()), "item 0 is nan"),
        (
            lambda: paired_difference(np.ones(20), np.ones(19), clusters=range(20), draws=100, rng=rng()),
            r"first \(20,\), second \(19,\)",
        ),
        (
            lambda: cluster_ratio(np.ones(20), np.ones((20, 1)), clusters=range(20), draws=100, rng=rng()),
            r"denominator \(20, 1\)",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(EstimateError, match=message):
        call()
