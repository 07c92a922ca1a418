"""Exact shares: the interval of 0 of n has a width, and exact zeros are not directions."""

import math

import numpy as np
import pytest

from assay.errors import EstimateError
from assay.stats.bootstrap import cluster_mean
from assay.stats.proportion import binomial_p, proportion, sign_test


def test_golden_values_of_the_sign_test():
    share = proportion(17, n=20)
    assert (share.value, share.low, share.high, share.n) == pytest.approx((0.85, 0.62107, 0.96793, 20), abs=1e-5)
    expected = {15: 0.0414, 16: 0.0118, 17: 0.0026}
    for k, p in expected.items():
        assert binomial_p(k, n=20, chance=0.5) == pytest.approx(p, abs=5e-5)
    assert binomial_p(14, n=20, chance=0.5) > 0.05


def test_nothing_and_everything_have_a_width_where_the_bootstrap_has_none():
    boot = cluster_mean(np.zeros(40), clusters=range(40), draws=200, rng=np.random.default_rng(0))
    assert boot.high - boot.low == 0
    nothing, everything = proportion(0, n=40), proportion(40, n=40)
    assert (nothing.low, everything.high) == (0.0, 1.0)
    assert nothing.high == pytest.approx(1 - 0.025 ** (1 / 40))
    assert everything.low == pytest.approx(0.025 ** (1 / 40))


def test_wilson_by_its_formula():
    found = proportion(3, n=30, level=0.90, kind="wilson")
    z, p, n = 1.6448536269514722, 0.1, 30
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    assert (found.low, found.high) == pytest.approx((middle - half, middle + half))
    assert proportion(3, n=30, level=0.90).low < found.low


def test_one_sided_p():
    assert binomial_p(3, n=3, chance=0.5, alternative="greater") == pytest.approx(0.125)
    assert binomial_p(3, n=3, chance=0.5, alternative="less") == 1.0
    assert binomial_p(3, n=3, chance=0.1) == pytest.approx(0.001)
    assert binomial_p(3, n=3, chance=1.0) == binomial_p(0, n=3, chance=0.0) == 1.0


def test_zeros_are_dropped_and_reported():
    found = sign_test(np.array([0.1] * 17 + [-0.2] * 3 + [0.0, -0.0]))
    assert (found.positive, found.negative, found.zeros) == (17, 3, 2)
    assert found.p == binomial_p(17, n=20, chance=0.5)
    assert found.share == proportion(17, n=20)
    assert sign_test(np.array([1, 2, -1, -1])).p == 1.0
    assert sign_test(np.array([1, 2, -1]), level=0.5).share == proportion(2, n=3, level=0.5)


def test_all_zero_has_no_p():
    found = sign_test(np.zeros(4))
    assert math.isnan(found.p)
    assert math.isnan(found.share.value)
    assert (found.positive, found.negative) == (0, 0)
    assert (found.zeros, found.share.n, found.share.reason) == (4, 0, "all 4 differences are exactly zero")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: proportion(3, n=2), "3 of 2"),
        (lambda: proportion(-1, n=2), "-1 of 2"),
        (lambda: proportion(0, n=0), "0 of 0"),
        (lambda: proportion(0.5, n=2), "0.5 of 2"),
        (lambda: proportion(1, n=2, level=1.0), "level 1.0"),
        (lambda: proportion(1, n=2, level=0.0), "level 0.0"),
        (lambda: proportion(1, n=2, kind="wald"), "kind 'wald'"),
        (lambda: binomial_p(1, n=2, chance=1.5), "chance 1.5"),
        (lambda: binomial_p(1, n=2, chance=0.5, alternative="up"), "alternative 'up'"),
        (lambda: sign_test(np.array([])), r"^sign_test: values of shape \(0,\)"),
        (lambda: sign_test(np.array([1.0, np.nan])), "1 not finite"),
        (lambda: sign_test(np.ones((2, 2))), r"shape \(2, 2\)"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(EstimateError, match=message):
        call()
