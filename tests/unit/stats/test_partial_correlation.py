"""Partial Spearman correlations: three correlations, what covariates explain, and rounding that decides nothing."""

import itertools
import math
import warnings

import numpy as np
import pytest
from scipy import stats

from assay.seeds import stream
from assay.stats.arrangements import Arrangements, item_arrangements
from assay.stats.correlation import partial_spearman, partial_spearman_table, spearman


def rng(name="orders"):
    return stream(0, "correlation", name)


def columns(n, k, name="values"):
    return stream(1, "correlation", name).standard_normal((n, k))


def test_partial_rho_is_the_formula_of_three_correlations():
    first, second, given = columns(15, 2), columns(15, 3, "other"), columns(15, 1, "given")
    table = partial_spearman_table(first, second, given=given, arrangements=item_arrangements(15, draws=99, rng=rng()))
    for row, column in itertools.product(range(2), range(3)):
        xy = stats.spearmanr(first[:, row], second[:, column]).statistic
        xz = stats.spearmanr(first[:, row], given[:, 0]).statistic
        yz = stats.spearmanr(second[:, column], given[:, 0]).statistic
        assert table.rho[row, column] == pytest.approx((xy - xz * yz) / math.sqrt((1 - xz**2) * (1 - yz**2)))


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_partial_p_regresses_again_in_every_order(alternative):
    first, second, given = columns(7, 1)[:, 0], columns(7, 1, "other")[:, 0], columns(7, 2, "given")
    orders = item_arrangements(7, draws=99, rng=rng())
    found = partial_spearman(first, second, given=given, arrangements=orders, alternative=alternative)
    design = np.column_stack([np.ones(7), stats.rankdata(given, axis=0)])
    annihilate = np.eye(7) - design @ np.linalg.pinv(design)
    left, right = annihilate @ stats.rankdata(first), annihilate @ stats.rankdata(second)
    moved = right[orders.order] @ annihilate
    values = moved @ left / np.linalg.norm(moved, axis=1) / np.linalg.norm(left)
    sign = {"greater": np.array, "less": np.negative, "two-sided": np.abs}[alternative]
    assert found.rho == pytest.approx(values[0])
    assert found.p == pytest.approx((sign(values) >= sign(values[0]) - 1e-9).mean())


def test_a_confounder_explains_a_relation_away():
    """The distance along a trajectory makes every diagnostic of checkpoints look related."""
    step = np.arange(40.0)
    noise = columns(40, 2)
    first, second = step + 4 * noise[:, 0], step + 4 * noise[:, 1]
    orders = item_arrangements(40, draws=999, rng=rng())
    assert spearman(first, second, arrangements=orders).p == 0.001
    assert partial_spearman(first, second, given=step[:, None], arrangements=orders).p > 0.05


def test_a_side_that_the_covariates_explain_has_no_p():
    first, given = columns(9, 1)[:, 0], columns(9, 1, "given")
    found = partial_spearman(first, given[:, 0], given=given, arrangements=item_arrangements(9, draws=99, rng=rng()))
    assert math.isnan(found.p)
    assert math.isnan(found.rho)
    assert found.reason == "second column 0 does not vary, or the covariates explain it"


def test_only_the_column_that_the_covariates_explain_is_without_p():
    first, second, given = columns(9, 2), columns(9, 2, "other"), columns(9, 1, "given")
    second[:, 1] = -given[:, 0]
    orders = item_arrangements(9, draws=99, rng=rng())
    table = partial_spearman_table(first, second, given=given, arrangements=orders)
    assert np.isnan(table.p).tolist() == [[False, True], [False, True]]
    assert np.isnan(table.rho).tolist() == [[False, True], [False, True]]
    turned = partial_spearman_table(second, first, given=given, arrangements=orders)
    assert np.isnan(turned.p).tolist() == [[False, False], [True, True]]
    assert turned.rho[0] == pytest.approx(table.rho[:, 0])
    assert turned.reasons == ("first column 1 does not vary, or the covariates explain it",)


def test_copies_of_a_covariate_change_nothing():
    first, second, given = columns(9, 1)[:, 0], columns(9, 1, "other")[:, 0], columns(9, 1, "given")
    orders = item_arrangements(9, draws=199, rng=rng())
    once = partial_spearman(first, second, given=given, arrangements=orders)
    thrice = partial_spearman(first, second, given=np.hstack([given, given, 3 * given + 1]), arrangements=orders)
    assert (thrice.rho, thrice.p) == pytest.approx((once.rho, once.p))


def test_rounding_does_not_split_ties_of_partial_correlations():
    """All orders of a symmetric design come in mirrored pairs with equal |rho|."""
    given = np.array([[1.0], [1.0], [2.0], [2.0], [3.0], [3.0]])
    first, second = np.array([1.0, 2.0, 5.0, 6.0, 3.0, 4.0]), np.array([2.0, 1.0, 4.0, 3.0, 6.0, 5.0])
    orders = item_arrangements(6, draws=99, rng=rng())
    both = partial_spearman(first, second, given=given, arrangements=orders)
    swapped = partial_spearman(first[[1, 0, 3, 2, 5, 4]], second[[1, 0, 3, 2, 5, 4]], given=given, arrangements=orders)
    assert both.p == swapped.p
    assert (both.p * 720) % 2 == pytest.approx(0, abs=1e-9)


def test_a_constant_covariate_changes_nothing():
    first, second = columns(9, 1)[:, 0], columns(9, 1, "other")[:, 0]
    orders = item_arrangements(9, draws=99, rng=rng())
    plain = spearman(first, second, arrangements=orders)
    given = partial_spearman(first, second, given=np.ones((9, 1)), arrangements=orders)
    assert (given.rho, given.p) == pytest.approx((plain.rho, plain.p))


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("copies", [1, 1000])
def test_an_order_in_which_the_covariates_explain_all_counts_as_extreme(alternative, copies):
    """The residual (1, -1, 1, -1) becomes (-1, -1, 1, 1), which is the covariate."""
    given, second = np.tile([0, 0, 1, 1], copies)[:, None], np.tile([1, 0, 1, 0], copies)
    order = (4 * np.arange(copies)[:, None] + [1, 3, 0, 2]).ravel()
    orders = Arrangements(np.array([np.arange(4 * copies), order]), exact=True, group=2, unit="items")
    first = second if alternative != "less" else -second
    found = partial_spearman(first, second, given=given, arrangements=orders, alternative=alternative)
    assert (abs(found.rho), found.p) == (pytest.approx(1), 1.0)


def test_long_columns_whose_squares_are_large():
    """Rounding grows with the ranks: copies of a covariate and a side that is one are still seen as such."""
    first, second, given = (columns(10_000, 1, name) for name in ("values", "other", "given"))
    orders = item_arrangements(10_000, draws=99, rng=rng())
    once, twice = (
        partial_spearman_table(first, np.hstack([second, -given]), given=side, arrangements=orders)
        for side in (given, np.hstack([given, 3 * given]))
    )
    assert twice.rho[0, 0] == pytest.approx(once.rho[0, 0], rel=1e-9)
    assert np.isnan(once.p).tolist() == np.isnan(twice.p).tolist() == [[False, True]]


def test_what_has_no_p_has_it_without_a_warning():
    first, given = columns(9, 1)[:, 0], columns(9, 1, "given")
    orders = item_arrangements(9, draws=99, rng=rng())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for sides in ((first, given[:, 0]), (given[:, 0], first)):
            assert math.isnan(partial_spearman(*sides, given=given, arrangements=orders).p)
        assert math.isnan(spearman(first, np.ones(9), arrangements=orders).p)
