"""Orders keep clusters together; a permutation p is never 0 and counts ties."""

import numpy as np
import pytest

from assay.errors import EstimateError
from assay.seeds import stream
from assay.stats.permutation import permutation_p, shuffled_order


def test_orders_are_permutations_and_keep_clusters_together():
    clusters = ["a", "b", "b", "c", "c", "c"]
    of = np.array(clusters)
    for seed in range(20):
        order = shuffled_order(6, rng=stream(seed, "order"), clusters=clusters)
        assert sorted(order) == list(range(6))
        assert sum(of[order][i] != of[order][i + 1] for i in range(5)) == 2
        assert sorted(shuffled_order(6, rng=stream(seed, "items"))) == list(range(6))


@pytest.mark.parametrize(
    ("clusters", "message"), [("ab", "2 cluster names for 3"), ("aaa", "all items are in one cluster")]
)
def test_clusters_that_cannot_be_shuffled_are_refused(clusters, message):
    with pytest.raises(EstimateError, match=message):
        shuffled_order(3, rng=stream(0, "x"), clusters=clusters)


def test_the_observed_pairing_counts_as_a_shuffle():
    assert permutation_p(5.0, np.zeros(99)) == 0.01
    assert permutation_p(-5.0, np.zeros(99)) == 1.0


def test_ties_count_against_the_claim():
    """Strictly greater would give 1/100 for data in which every shuffle ties."""
    assert permutation_p(0.0, np.zeros(99)) == 1.0
    assert permutation_p(0.3, np.full(99, 0.3 * (1 - 1e-14))) == 1.0


@pytest.mark.parametrize("observed", [3e-9, 0.3, -0.3, 3e9])
def test_a_tie_is_one_up_to_the_twelfth_digit_in_any_unit(observed):
    assert permutation_p(observed, np.full(99, observed - 0.9e-12 * abs(observed))) == 1.0
    assert permutation_p(observed, np.full(99, observed - 1.1e-12 * abs(observed))) == 0.01


def test_it_is_uniform_under_the_null():
    rng = np.random.default_rng(0)
    values = [permutation_p(float(rng.standard_normal()), rng.standard_normal(99)) for _ in range(2000)]
    assert 0.03 < np.mean(np.array(values) <= 0.05) < 0.07


@pytest.mark.parametrize(
    ("observed", "shuffled", "message"),
    [
        (1.0, [], r"shape \(0,\)"),
        (1.0, [[1.0]], r"shape \(1, 1\)"),
        (float("nan"), [1.0], "not finite"),
        (1.0, [1.0, np.nan, 2.0], "1 of 3 shuffled"),
    ],
)
def test_unusable_values_are_refused(observed, shuffled, message):
    with pytest.raises(EstimateError, match=message):
        permutation_p(observed, np.array(shuffled))
