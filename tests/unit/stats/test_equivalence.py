"""Three outcomes only; what was not rejected is not thereby equal."""

import math

import numpy as np
import pytest
from scipy import stats

from assay.errors import EstimateError
from assay.seeds import stream
from assay.stats.bootstrap import paired_difference
from assay.stats.equivalence import (
    Decision,
    bootstrap_p,
    bootstrap_tost,
    conjunction,
    equivalence,
    paired_tost,
    superiority,
)
from assay.stats.estimate import Estimate


def effect(low, high):
    return Estimate((low + high) / 2, low, high, 100)


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.26, 0.9, "supported"),
        (0.25, 0.9, "inconclusive"),
        (0.1, 0.3, "inconclusive"),
        (0.1, 0.25, "not supported"),
        (-0.9, -0.3, "not supported"),
    ],
)
def test_superiority_is_decided_by_the_ends(low, high, outcome):
    found = superiority(effect(low, high), sesoi=0.25, level=0.95)
    assert (found.outcome, found.statement, found.level) == (outcome, "effect > 0.25", 0.95)
    assert found.alpha == pytest.approx(0.025)
    assert found.reason


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (-0.09, 0.09, "supported"),
        (0.02, 0.09, "supported"),
        (-0.1, 0.05, "inconclusive"),
        (-0.05, 0.1, "inconclusive"),
        (-0.5, 0.5, "inconclusive"),
        (0.05, 0.2, "inconclusive"),
        (0.1, 0.2, "not supported"),
        (-0.3, -0.1, "not supported"),
    ],
)
def test_equivalence_is_decided_by_the_ends(low, high, outcome):
    found = equivalence(effect(low, high), margin=0.1, level=0.90)
    assert (found.outcome, found.statement, found.level) == (outcome, "|effect| < 0.1", 0.90)
    assert found.reason.startswith(f"[{low:g}, {high:g}]")
    assert found.alpha == pytest.approx(0.05)


def test_an_effect_can_be_there_and_too_small_to_matter():
    small = effect(0.01, 0.05)
    assert superiority(small, sesoi=0.0, level=0.90).outcome == "supported"
    assert equivalence(small, margin=0.1, level=0.90).outcome == "supported"


def test_not_rejected_is_not_equal():
    """Eight noisy pairs: no difference found, and nothing said about equality."""
    source = stream(0, "noisy")
    first, second = 3 * source.standard_normal((2, 12))
    assert stats.ttest_rel(first, second).pvalue > 0.05
    found = paired_difference(first, second, clusters=range(12), draws=500, rng=source, level=0.90)
    assert found.low < 0 < found.high
    assert equivalence(found, margin=0.5, level=0.90).outcome == "inconclusive"
    assert paired_tost(first, second, margin=0.5).p > 0.05


def test_without_an_interval_nothing_is_decided():
    missing = Estimate(0.5, math.nan, math.nan, 3, reason="no variance")
    for found in (superiority(missing, sesoi=0.1, level=0.95), equivalence(missing, margin=0.1, level=0.9)):
        assert (found.outcome, found.reason) == ("inconclusive", "no interval: no variance")
    assert superiority(missing, sesoi=0.1, level=0.95).statement == "effect > 0.1"
    assert equivalence(missing, margin=0.1, level=0.90).statement == "|effect| < 0.1"
    assert superiority(missing, sesoi=0.1, level=0.95).level == 0.95
    assert equivalence(missing, margin=0.1, level=0.90).level == 0.90


def test_all_pairs_must_pass():
    yes, no, open_ = (
        superiority(effect(*ends), sesoi=0.25, level=0.95) for ends in ((0.3, 0.4), (0.1, 0.2), (0.1, 0.4))
    )
    for parts, outcome, reason in (
        ([yes] * 9, "supported", "9 of 9 supported"),
        ([yes] * 8 + [open_], "inconclusive", "8 of 9 supported"),
        ([yes, open_, no], "not supported", "1 of 3 supported, 1 not supported"),
    ):
        assert conjunction(parts, statement="H2") == Decision(outcome, "H2", 0.95, reason)


def test_bootstrap_p_has_the_plus_one():
    assert bootstrap_p(np.ones(1999), above=0.25) == 1 / 2000
    assert bootstrap_p(np.array([0.1, 0.25, 0.3]), above=0.25) == 3 / 4


def test_tost_takes_the_larger_p():
    values = np.array([-0.3, -0.1, 0.0, 0.1])
    found = bootstrap_tost(values, margin=0.2)
    assert (found.p_above, found.p_below, found.p) == (2 / 5, 1 / 5, 2 / 5)


def test_paired_tost_is_two_t_tests():
    source = stream(1, "tost")
    first = source.standard_normal(40)
    second = first + 0.1 * source.standard_normal(40)
    found = paired_tost(first, second, margin=0.05)
    above = stats.ttest_1samp(first - second, -0.05, alternative="greater").pvalue
    below = stats.ttest_1samp(first - second, 0.05, alternative="less").pvalue
    assert (found.p_above, found.p_below, found.p) == pytest.approx((above, below, max(above, below)))


def test_two_pairs_are_enough_for_a_t_test():
    """Differences 1 and 3: mean 2, error 1, one degree of freedom."""
    found = paired_tost(np.array([1, 3]), np.zeros(2), margin=1.0)
    assert (found.p_above, found.p_below) == pytest.approx((stats.t.sf(3, 1), stats.t.cdf(1, 1)))


def test_tost_and_the_ninety_percent_interval_agree():
    for trial in range(40):
        source = stream(trial, "agree")
        difference = 0.1 * source.standard_normal(20) + 0.03
        ends = stats.ttest_1samp(difference, 0).confidence_interval(0.90)
        found = equivalence(Estimate(difference.mean(), ends.low, ends.high, 20), margin=0.06, level=0.90)
        assert (found.outcome == "supported") == (paired_tost(difference, np.zeros(20), margin=0.06).p < 0.05)


SOME = np.arange(4.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: superiority(effect(0, 1), sesoi=-0.1, level=0.95), "sesoi -0.1"),
        (lambda: superiority(effect(0, 1), sesoi=math.nan, level=0.95), "sesoi nan"),
        (lambda: superiority(effect(0, 1), sesoi=0.1, level=95), "level 95"),
        (lambda: superiority(effect(0, 1), sesoi=0.1, level=1.0), "level 1.0"),
        (lambda: equivalence(effect(0, 1), margin=0.1, level=0.0), "level 0.0"),
        (lambda: equivalence(effect(0, 1), margin=0.0, level=0.9), "margin 0.0"),
        (lambda: equivalence(effect(0, 1), margin=math.inf, level=0.9), "margin inf"),
        (lambda: bootstrap_tost(SOME, margin=-1.0), "margin -1.0"),
        (lambda: paired_tost(SOME, SOME, margin=-0.5), "margin -0.5"),
        (lambda: conjunction([], statement="none"), r"0 parts with levels \[\]"),
        (
            lambda: conjunction([superiority(effect(0, 1), sesoi=0, level=one) for one in (0.9, 0.95)], statement="x"),
            r"2 parts with levels \[0.9, 0.95\]",
        ),
        (lambda: bootstrap_p(np.array([]), above=0.0), r"shape \(0,\)"),
        (lambda: bootstrap_p(np.ones((2, 2)), above=0.0), r"shape \(2, 2\)"),
        (lambda: bootstrap_p(np.array([1.0, np.nan]), above=0.0), "1 not finite"),
        (lambda: bootstrap_p(SOME, above=math.nan), "above nan"),
        (lambda: paired_tost(SOME, SOME[1:], margin=0.1), r"shapes \(4,\) and \(3,\)"),
        (lambda: paired_tost(SOME[None], SOME[None], margin=0.1), r"shapes \(1, 4\)"),
        (lambda: paired_tost(SOME, SOME, margin=0.1), "not all equal"),
        (lambda: paired_tost(SOME[:1], np.zeros(1), margin=0.1), "1 differences"),
        (lambda: paired_tost(SOME * np.nan, SOME, margin=0.1), "4 not finite"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(EstimateError, match=message):
        call()
