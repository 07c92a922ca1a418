"""Spearman tables: scipy's numbers, exact ties, and the label orders that hold their level where pairs do not."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from assay.errors import EstimateError
from assay.seeds import stream
from assay.stats.arrangements import crossed_arrangements, item_arrangements, label_arrangements
from assay.stats.correlation import pair_entries, partial_spearman, partial_spearman_table, spearman, spearman_table


def rng(name="orders"):
    return stream(0, "correlation", name)


def columns(n, k, name="values"):
    return stream(1, "correlation", name).standard_normal((n, k))


def test_every_cell_of_a_table_is_scipys_rho():
    first, second = columns(12, 4), np.round(columns(12, 3, "other"))
    table = spearman_table(first, second, arrangements=item_arrangements(12, draws=99, rng=rng()))
    expected = [[stats.spearmanr(left, right).statistic for right in second.T] for left in first.T]
    assert table.rho == pytest.approx(np.array(expected), abs=1e-15)
    assert (table.n, table.smallest_p, table.reasons, table.alternative) == (12, 0.01, (), "two-sided")


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_all_orders_counted_by_hand(alternative):
    first, second = np.array([1.0, 2.0, 2.0, 4.0, 9.0, 5.0]), np.array([0.3, 0.1, 0.4, 0.4, 0.7, -1.0])
    found = spearman(first, second, arrangements=item_arrangements(6, draws=99, rng=rng()), alternative=alternative)
    ranks = stats.rankdata(second)
    observed = np.corrcoef(stats.rankdata(first), ranks)[0, 1]
    other = [np.corrcoef(stats.rankdata(first), ranks[list(one)])[0, 1] for one in itertools.permutations(range(6))]
    sign = {"greater": np.array, "less": np.negative, "two-sided": np.abs}[alternative]
    assert found.p == pytest.approx((sign(other) >= sign(observed) - 1e-9).mean())
    assert found.rho == pytest.approx(observed)


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_drawn_orders_counted_by_hand(alternative):
    first, second = columns(9, 1)[:, 0], columns(9, 1, "other")[:, 0]
    orders = item_arrangements(9, draws=150, rng=rng())
    found = spearman(first, second, arrangements=orders, alternative=alternative)
    sign = {"greater": np.array, "less": np.negative, "two-sided": np.abs}[alternative]
    other = [stats.spearmanr(first, second[order]).statistic for order in orders.order]
    count = (sign(other) >= sign(found.rho) - 1e-9).sum()
    assert found.p == pytest.approx((1 + count) / 151)


def test_ties_are_exact_when_rho_is_zero():
    """Rounding would split orders with rho = 0 at random."""
    first, flat = np.array([0.1, 0.2, 0.3, 0.4, 0.5]), np.array([1.0, 1.0, 2.0, 1.0, 1.0])
    found = spearman(first, flat, arrangements=item_arrangements(5, draws=99, rng=rng()))
    assert (found.rho, found.p) == (0.0, 1.0)


def test_a_perfect_relation_has_the_least_p():
    first = np.arange(6.0)
    orders = item_arrangements(6, draws=99, rng=rng())
    assert spearman(first, np.exp(first), arrangements=orders, alternative="greater").p == 1 / 720
    assert spearman(first, np.exp(first), arrangements=orders).p == 2 / 720
    assert spearman(first, -first, arrangements=orders, alternative="greater").p == 1.0
    found = spearman(first, np.exp(first), arrangements=orders)
    assert (found.rho, found.n, found.smallest_p, found.reason) == (1.0, 6, 1 / 720, "")


def test_long_columns_use_wider_floats_and_blocks():
    """400 entries are beyond exact float32, and 3,000 orders of them beyond one block."""
    first, second = columns(400, 2), columns(400, 2, "other")
    second[:, 1] = first[:, 0] + 0.01 * second[:, 1]
    orders = item_arrangements(400, draws=3000, rng=rng())
    table = spearman_table(first, second, arrangements=orders, alternative="greater")
    ranks = [stats.rankdata(one, axis=0) for one in (first, second)]
    for row, column in itertools.product(range(2), repeat=2):
        left, right = ranks[0][:, row], ranks[1][:, column]
        count = (right[orders.order] @ left >= left @ right).sum()
        assert table.p[row, column] == (1 + count) / 3001
        assert table.rho[row, column] == pytest.approx(np.corrcoef(left, right)[0, 1], rel=1e-12)


def test_a_close_relation_of_long_columns_is_exact():
    """Sums of products of ranks up to 2.7e9, where float32 steps by 256."""
    first = columns(2000, 1)[:, 0]
    second = first + 0.01 * columns(2000, 1, "other")[:, 0]
    found = spearman(first, second, arrangements=item_arrangements(2000, draws=99, rng=rng()))
    assert found.rho == pytest.approx(stats.spearmanr(first, second).statistic, rel=1e-13)


def test_a_column_that_does_not_vary_has_no_p_and_a_reason():
    first = columns(6, 3)
    first[:, 1] = 2.0
    table = spearman_table(first, columns(6, 2, "other"), arrangements=item_arrangements(6, draws=99, rng=rng()))
    assert np.isnan(table.p[1]).all()
    assert np.isnan(table.rho[1]).all()
    assert np.isfinite(table.p[[0, 2]]).all()
    assert table.reasons == ("first column 1 does not vary",)
    alone = spearman(first[:, 1], first[:, 1], arrangements=item_arrangements(6, draws=99, rng=rng()))
    assert math.isnan(alone.p)
    assert alone.reason == "first column 0 does not vary; second column 0 does not vary"


def test_symmetric_matrices_give_the_rho_of_their_upper_triangles():
    source = stream(2, "matrices").standard_normal((2, 6, 6))
    both = source + source.transpose(0, 2, 1)
    entries = pair_entries(both)
    found = spearman(*entries.T, arrangements=label_arrangements(6, draws=99, rng=rng()))
    upper = np.triu_indices(6, 1)
    assert found.rho == pytest.approx(stats.spearmanr(both[0][upper], both[1][upper]).statistic)
    observed, other = abs(found.rho), []
    for one in map(list, itertools.permutations(range(6))):
        other.append(abs(stats.spearmanr(both[0][upper], both[1][np.ix_(one, one)][upper]).statistic))
    assert found.p == pytest.approx((np.array(other) >= observed - 1e-9).mean())


def test_directed_matrices_keep_both_directions():
    matrix = np.arange(9.0).reshape(3, 3)
    assert pair_entries(matrix)[:, 0].tolist() == [1, 2, 3, 5, 6, 7]
    assert pair_entries(np.stack([matrix, -matrix])).shape == (6, 2)


def type_one_errors(n_models, repetitions, draws):
    """Shares of p <= .05 by pair and by label orders: both sides have model effects and no relation."""
    found = np.zeros(2)
    upper = np.triu_indices(n_models, 1)
    source = stream(0, "type one", n_models)
    labels = label_arrangements(n_models, draws=draws, rng=source)
    pairs = item_arrangements(len(upper[0]), draws=draws, rng=source)
    for _ in range(repetitions):
        effect = source.standard_normal((2, n_models, 1))
        noise = source.standard_normal((2, n_models, n_models))
        sides = effect + effect.transpose(0, 2, 1) + 0.5 * (noise + noise.transpose(0, 2, 1)) / math.sqrt(2)
        found[0] += spearman(sides[0][upper], sides[1][upper], arrangements=pairs).p <= 0.05
        found[1] += spearman(*pair_entries(sides).T, arrangements=labels).p <= 0.05
    return found / repetitions


def test_shuffled_pairs_find_relations_that_are_not_there_and_shuffled_labels_do_not():
    by_pair, by_label = type_one_errors(5, 500, 999)
    assert by_pair > 0.10
    assert by_label <= 0.075
    by_pair, by_label = type_one_errors(24, 100, 299)
    assert by_pair > 0.40
    assert by_label <= 0.12


def test_crossed_tables_hold_their_level():
    source = stream(0, "crossed")
    orders = crossed_arrangements(4, 4, draws=99, rng=source)
    found = []
    for _ in range(300):
        sides = source.standard_normal((2, 4, 1)) + source.standard_normal((2, 1, 4))
        sides += 0.3 * source.standard_normal((2, 4, 4))
        found.append(spearman(sides[0].ravel(), sides[1].ravel(), arrangements=orders).p <= 0.05)
    assert np.mean(found) <= 0.09


def test_bad_input_is_refused():
    orders = item_arrangements(5, draws=99, rng=rng())
    five = np.arange(5.0)
    hole = np.array([0.0, np.nan, 1.0, 2.0, 3.0])
    with pytest.raises(EstimateError, match="second is nan at entry 1 of column 0"):
        spearman(five, hole, arrangements=orders)
    with pytest.raises(EstimateError, match="5 entries in the first side, 4 in the second, arrangements of 5"):
        spearman(five, five[1:], arrangements=orders)
    with pytest.raises(EstimateError, match="arrangements of 5"):
        spearman(np.arange(6.0), np.arange(6.0), arrangements=orders)
    with pytest.raises(EstimateError, match=r"first has shape \(5, 1\)"):
        spearman(five[:, None], five, arrangements=orders)
    with pytest.raises(EstimateError, match=r"first has shape \(5, 0\)"):
        spearman_table(np.zeros((5, 0)), five[:, None], arrangements=orders)
    with pytest.raises(EstimateError, match="alternative 'both'"):
        spearman(five, five, arrangements=orders, alternative="both")
    with pytest.raises(EstimateError, match=r"second has shape \(5, 1\)"):
        spearman(five, five[:, None], arrangements=orders)
    for place, name in enumerate(("first", "second", "given")):
        sides = [hole[:, None] if place == which else five[:, None] for which in range(3)]
        with pytest.raises(EstimateError, match=f"spearman: {name} is nan at entry 1"):
            partial_spearman_table(sides[0], sides[1], given=sides[2], arrangements=orders)
    with pytest.raises(EstimateError, match=r"first has shape \(1, 5\)"):
        partial_spearman(five[None], five, given=five[:, None], arrangements=orders)
    with pytest.raises(EstimateError, match=r"second has shape \(1, 5\)"):
        partial_spearman(five, five[None], given=five[:, None], arrangements=orders)
    with pytest.raises(EstimateError, match="4 entries of the covariates for 5"):
        partial_spearman(five, five, given=np.ones((4, 1)), arrangements=orders)
    with pytest.raises(EstimateError, match=r"shape \(3, 4\)"):
        pair_entries(np.zeros((3, 4)))
    with pytest.raises(EstimateError, match=r"entry \(1, 0\) of matrix 0 is not finite"):
        pair_entries(np.array([[0.0, 1.0], [np.inf, 0.0]]))
    assert pair_entries(np.array([[np.nan, 1.0], [2.0, np.nan]])).tolist() == [[1.0], [2.0]]
