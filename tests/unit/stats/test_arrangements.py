"""Orders of pairs and of labels: whole groups when they are small, draws from them otherwise."""

import itertools

import numpy as np
import pytest

from assay.errors import EstimateError
from assay.seeds import stream
from assay.stats.arrangements import crossed_arrangements, item_arrangements, label_arrangements, off_diagonal


def rng():
    return stream(0, "arrangements")


@pytest.mark.parametrize("n", [3, 5, 7])
def test_small_groups_are_enumerated(n):
    found = item_arrangements(n, draws=99, rng=rng())
    assert {tuple(row) for row in found.order} == set(itertools.permutations(range(n)))
    assert (found.exact, found.unit, found.group) == (True, "items", len(found.order))
    assert found.smallest_p == 1 / found.group


def test_eight_items_are_more_than_twenty_thousand_orders():
    found = item_arrangements(8, draws=500, rng=rng())
    assert (found.exact, found.group, found.order.shape) == (False, 40_320, (500, 8))
    assert (np.sort(found.order, axis=1) == np.arange(8)).all()
    assert len({tuple(row) for row in found.order}) > 480
    assert found.smallest_p == 1 / 501


def test_drawn_orders_are_uniform():
    order = item_arrangements(9, draws=20_000, rng=rng()).order
    seen = np.stack([np.bincount(order[:, place], minlength=9) for place in range(9)])
    assert abs(seen / 20_000 - 1 / 9).max() < 0.01


def test_five_models_have_120_label_orders_and_no_p_below():
    found = label_arrangements(5, draws=99, rng=rng())
    assert (found.exact, found.group, found.order.shape) == (True, 120, (120, 20))
    assert found.smallest_p == 1 / 120


def test_labels_move_rows_and_columns_together():
    matrix = np.arange(36).reshape(6, 6)
    place = off_diagonal(6)
    entries = matrix[place.row, place.column]
    found = label_arrangements(6, draws=99, rng=rng())
    expected = {
        tuple(matrix[np.ix_(one, one)][place.row, place.column]) for one in map(list, itertools.permutations(range(6)))
    }
    assert {tuple(entries[row]) for row in found.order} == expected


def test_many_labels_are_drawn():
    found = label_arrangements(24, draws=100, rng=rng())
    assert (found.exact, found.unit, found.order.shape) == (False, "labels", (100, 552))
    matrix = np.add.outer(1000 * np.arange(24), np.arange(24))
    place = off_diagonal(24)
    moved = np.zeros((24, 24), dtype=int)
    moved[place.row, place.column] = matrix[place.row, place.column][found.order[0]]
    donors = [set(row[row > 0] // 1000) for row in moved[1:]]
    assert all(len(one) == 1 for one in donors if 0 not in one)


def test_crossed_tables_exchange_rows_and_columns_apart():
    found = crossed_arrangements(3, 3, draws=99, rng=rng())
    table = np.arange(9).reshape(3, 3)
    expected = {
        tuple(table[np.ix_(rows, columns)].ravel())
        for rows in map(list, itertools.permutations(range(3)))
        for columns in map(list, itertools.permutations(range(3)))
    }
    assert {tuple(row) for row in found.order} == expected
    assert (found.exact, found.group, found.unit) == (True, 36, "rows and columns")


def test_two_rows_and_two_columns_have_four_orders():
    found = crossed_arrangements(2, 2, draws=99, rng=rng())
    assert sorted(map(tuple, found.order)) == [(0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0)]


def test_large_crossed_tables_are_drawn():
    found = crossed_arrangements(6, 5, draws=200, rng=rng())
    assert (found.exact, found.group, found.order.shape) == (False, 86_400, (200, 30))
    for row in found.order.reshape(200, 6, 5):
        assert all(len(set(line // 5)) == 1 for line in row)
        assert all(len(set(line % 5)) == 1 for line in row.T)


def test_p_counts_the_identity_once():
    whole, drawn = item_arrangements(4, draws=99, rng=rng()), item_arrangements(9, draws=99, rng=rng())
    assert whole.p_from(np.array([1, 24])) == pytest.approx([1 / 24, 1.0])
    assert drawn.p_from(np.array([0, 99])) == pytest.approx([0.01, 1.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: item_arrangements(2, draws=99, rng=rng()), "2 items; at least 3"),
        (lambda: label_arrangements(2, draws=99, rng=rng()), "2 labels; at least 3"),
        (lambda: item_arrangements(8, draws=98, rng=rng()), "98 draws from 40320 orders"),
        (lambda: crossed_arrangements(6, 6, draws=0, rng=rng()), "0 draws from 518400 orders"),
        (lambda: crossed_arrangements(1, 6, draws=99, rng=rng()), "1 rows, 6 columns"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(EstimateError, match=message):
        call()
