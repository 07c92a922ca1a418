"""Sign flips of whole clusters: twenty directions from five models are five observations."""

import itertools

import numpy as np
import pytest

from assay.errors import EstimateError
from assay.seeds import stream
from assay.stats.proportion import sign_test
from assay.stats.sign_flip import sign_flip_p


def rng():
    return stream(0, "flips")


def test_twenty_directions_of_five_targets_are_five_observations():
    values, targets = np.ones(20), [i % 5 for i in range(20)]
    found = sign_flip_p(values, clusters=targets, draws=99, rng=rng())
    assert (found.p, found.n_clusters, found.exact, found.smallest_p) == (2 / 32, 5, True, 2 / 32)
    assert sign_test(values).p < 1e-5
    assert sign_flip_p(values, clusters=targets, draws=99, rng=rng(), alternative="greater").p == 1 / 32
    assert sign_flip_p(values, clusters=targets, draws=99, rng=rng(), alternative="greater").smallest_p == 1 / 32
    assert sign_flip_p(values, clusters=targets, draws=99, rng=rng(), alternative="less").p == 1.0
    assert sign_flip_p(-values, clusters=targets, draws=99, rng=rng(), alternative="less").p == 1 / 32


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_all_patterns_counted_by_hand(alternative):
    values = stream(1, "values").standard_normal(18) + 0.3
    clusters = np.repeat(np.arange(6), 3)
    totals = values.reshape(6, 3).sum(axis=1)
    sums = np.array([np.dot(signs, totals) for signs in itertools.product((1, -1), repeat=6)])
    sign = {"greater": np.array, "less": np.negative, "two-sided": np.abs}[alternative]
    found = sign_flip_p(values, clusters=clusters, draws=99, rng=rng(), alternative=alternative)
    assert found.p == (sign(sums) >= sign(totals.sum()) - 1e-9).mean()


def test_fourteen_clusters_are_enumerated_and_fifteen_drawn():
    assert sign_flip_p(np.ones(14), clusters=range(14), draws=0, rng=rng()).p == 2 / 2**14
    drawn = sign_flip_p(np.ones(15), clusters=range(15), draws=9000, rng=rng())
    assert (drawn.exact, drawn.n_clusters) == (False, 15)
    assert drawn.p < 0.002
    assert drawn.smallest_p == 1 / 9001
    assert sign_flip_p(np.ones(15), clusters=range(15), draws=99, rng=rng()).smallest_p == 0.01
    assert sign_flip_p(np.zeros(15), clusters=range(15), draws=5000, rng=rng()).p == 1.0


def test_drawn_patterns_hold_the_level():
    source = stream(2, "level")
    found = [
        sign_flip_p(source.standard_normal(16), clusters=range(16), draws=199, rng=source).p <= 0.05 for _ in range(400)
    ]
    assert 0.02 <= np.mean(found) <= 0.08


def test_both_directions_of_a_pair_are_one_observation():
    """The unordered pair names the cluster: twenty directions of five models are ten pairs."""
    directions = [(i, j) for i in range(5) for j in range(5) if i != j]
    pairs = [frozenset(direction) for direction in directions]
    found = sign_flip_p(np.ones(20), clusters=pairs, draws=99, rng=rng())
    assert (found.n_clusters, found.p) == (10, 2 / 2**10)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_rounding_does_not_split_ties_in_any_unit(unit):
    tied = unit * np.array([0.1, 0.2, 0.3, -0.6, 0.0])
    assert sign_flip_p(tied, clusters=range(5), draws=99, rng=rng()).p == 1.0
    clear = unit * np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert sign_flip_p(clear, clusters=range(5), draws=99, rng=rng()).p == 2 / 32


def test_less_is_greater_of_the_negative_in_the_same_draws():
    values = stream(3, "values").standard_normal(15) - 0.2
    less = sign_flip_p(values, clusters=range(15), draws=199, rng=rng(), alternative="less")
    assert less == sign_flip_p(-values, clusters=range(15), draws=199, rng=rng(), alternative="greater")


def test_two_clusters_have_four_patterns():
    assert sign_flip_p(np.array([1, 2, 3]), clusters=["a", "b", "b"], draws=99, rng=rng()).p == 2 / 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_flip_p(np.ones(3), clusters=[0, 0, 0], draws=99, rng=rng()), "3 values in 1 clusters"),
        (lambda: sign_flip_p(np.ones(3), clusters=[0, 1], draws=99, rng=rng()), "2 cluster names"),
        (lambda: sign_flip_p(np.array([1.0, np.nan]), clusters=[0, 1], draws=99, rng=rng()), "1 not finite"),
        (lambda: sign_flip_p(np.ones(15), clusters=range(15), draws=98, rng=rng()), "98 draws for 15 clusters"),
        (
            lambda: sign_flip_p(np.ones(3), clusters=range(3), draws=99, rng=rng(), alternative="up"),
            "alternative 'up'",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(EstimateError, match=message):
        call()
