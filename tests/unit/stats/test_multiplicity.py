"""Holm and Benjamini-Hochberg: golden values, and tests without a p that still count."""

import numpy as np
import pytest

from assay.errors import EstimateError
from assay.seeds import stream
from assay.stats.multiplicity import benjamini_hochberg, holm, lone_discovery_possible

P = np.array([0.001, 0.01, 0.02, 0.03, 0.04, 0.2, 0.5])
HOLM = np.array([0.007, 0.06, 0.1, 0.12, 0.12, 0.4, 0.5])
BH = np.array([0.007, 0.035, 0.14 / 3, 0.0525, 0.056, 0.7 / 3, 0.5])


def test_golden_values():
    assert holm(P, planned=7).p == pytest.approx(HOLM)
    assert benjamini_hochberg(P, planned=7).p == pytest.approx(BH)
    assert (holm(P, planned=7).method, benjamini_hochberg(P, planned=7).method) == ("holm", "benjamini-hochberg")


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_a_test_without_p_stays_without_and_counts(adjust):
    """statsmodels' fdr_bh would give NaN for all; dropping the NaN would make every other p smaller."""
    found = adjust(np.array([0.01, np.nan, 0.02]), planned=3)
    assert np.isnan(found.p[1])
    assert found.p[[0, 2]] == pytest.approx(adjust(np.array([0.01, 0.02, 1.0]), planned=3).p[:2])
    assert found.p[0] == pytest.approx(0.03)
    assert (found.undefined, found.planned) == (1, 3)
    assert found.rejected(0.05).tolist() == [True, False, found.p[2] <= 0.05]
    dropped = adjust(np.array([0.01, 0.02]), planned=2)
    assert (found.p[[0, 2]] > dropped.p).all()


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_planned_tests_that_never_came_count(adjust):
    found = adjust(np.array([0.01, 0.02]), planned=10)
    assert found.p == pytest.approx([0.1, 0.18 if adjust is holm else 0.1])
    assert found.undefined == 8
    assert len(found.p) == 2


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_the_order_of_the_tests_does_not_matter(adjust):
    order = stream(0, "order").permutation(7)
    assert adjust(P[order], planned=7).p == pytest.approx(adjust(P, planned=7).p[order])


def test_rejection_includes_the_level_itself():
    assert holm(np.array([0.05]), planned=1).rejected(0.05).tolist() == [True]
    assert holm(np.array([np.nan]), planned=1).rejected(1.0).tolist() == [False]


def test_five_models_cannot_give_a_lone_discovery_among_55():
    assert not lone_discovery_possible(1 / 120, planned=55, alpha=0.05)
    assert lone_discovery_possible(1 / 120, planned=6, alpha=0.05)
    assert not lone_discovery_possible(1 / 120, planned=7, alpha=0.05)
    alone = np.ones(55)
    alone[0] = 1 / 120
    for adjust in (holm, benjamini_hochberg):
        assert not adjust(alone, planned=55).rejected(0.05).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: holm(np.array([]), planned=1), r"shape \(0,\)"),
        (lambda: holm(np.ones((2, 2)), planned=4), r"shape \(2, 2\)"),
        (lambda: holm(np.array([0.1, -0.1]), planned=2), "p value -0.1 at place 1"),
        (lambda: benjamini_hochberg(np.array([1.1]), planned=1), "p value 1.1 at place 0"),
        (lambda: holm(P, planned=6), "7 p values for 6 planned tests"),
        (lambda: lone_discovery_possible(0.0, planned=1, alpha=0.05), "smallest p 0.0"),
        (lambda: lone_discovery_possible(0.1, planned=0, alpha=0.05), "0 tests"),
        (lambda: lone_discovery_possible(1.5, planned=1, alpha=0.05), "smallest p 1.5"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(EstimateError, match=message):
        call()


def test_a_p_of_one_is_a_p():
    assert lone_discovery_possible(1.0, planned=1, alpha=1.0)
    assert benjamini_hochberg(np.array([0.0, 1.0]), planned=2).p.tolist() == [0.0, 1.0]
