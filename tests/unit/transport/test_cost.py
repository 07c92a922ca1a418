"""Correlation costs: what they are, dead neurons, offsets, and what is refused."""

import numpy as np
import pytest

from assay.errors import EstimateError, ShapeError
from assay.transport.cost import correlation_cost


def rows(width=5, n=60, seed=0):
    return np.random.default_rng(seed).standard_normal((n, width))


def test_one_minus_pearson():
    left, right = rows(), rows(4, seed=1)
    wanted = 1 - np.corrcoef(left.T, right.T)[:5, 5:]
    cost = correlation_cost(left, right, storage="float64")
    np.testing.assert_allclose(cost.matrix, wanted, atol=1e-13)
    assert (cost.mean, cost.sd, cost.low, cost.high) == pytest.approx(
        (wanted.mean(), wanted.std(), wanted.min(), wanted.max())
    )
    assert cost.null_sd == pytest.approx(59**-0.5)
    absolute = correlation_cost(left, right, kind="one_minus_abs_corr", storage="float64")
    np.testing.assert_allclose(absolute.matrix, 1 - np.abs(1 - wanted), atol=1e-13)
    assert correlation_cost(left, right).matrix.dtype == np.float32
    assert (cost.kind, cost.n_rows, absolute.kind) == ("one_minus_corr", 60, "one_minus_abs_corr")


def test_itself_and_its_negative():
    left = rows()
    np.testing.assert_allclose(np.diag(correlation_cost(left, left).matrix), 0, atol=1e-7)
    np.testing.assert_allclose(np.diag(correlation_cost(left, -left).matrix), 2, atol=1e-7)


def test_costs_stay_in_their_range():
    """A correlation of 1 is often a little more than 1 after rounding."""
    wide = rows(40)
    assert correlation_cost(wide, wide, storage="float64").low == 0.0
    assert correlation_cost(wide, -wide, storage="float64").high == 2.0


def test_three_rows_and_one_neuron_are_enough():
    column = np.array([[1.0], [2.0], [4.0]])
    np.testing.assert_allclose(correlation_cost(column, column**2).matrix, 1 - np.corrcoef(column.T, column.T**2)[0, 1])


@pytest.mark.parametrize("unit", [1e-5, 1e5])
def test_the_unit_of_the_activations_does_not_matter(unit):
    left, right = rows(), rows(4, seed=1)
    scaled = correlation_cost(unit * left, right, storage="float64").matrix
    np.testing.assert_allclose(scaled, correlation_cost(left, right, storage="float64").matrix, atol=1e-13)


@pytest.mark.parametrize("offset", [10.0, 1e3, 1e5])
def test_massive_activations_do_not_spoil_it(offset):
    left, right = rows(), rows(4, seed=1)
    shifted = correlation_cost((left + offset).astype(np.float32).astype(np.float64), right, storage="float64")
    stored = (left + offset).astype(np.float32) - offset
    np.testing.assert_allclose(shifted.matrix, correlation_cost(stored, right, storage="float64").matrix, atol=1e-6)


def test_t13_dead_neurons():
    left, right = rows(), rows(4, seed=1)
    left[:, 2] = 0.1
    right[:, 0] = 3e7
    cost = correlation_cost(left, right)
    assert (list(cost.dead_recipient), list(cost.dead_donor)) == ([2], [0])
    assert (cost.matrix[2] == 1).all()
    assert (cost.matrix[:, 0] == 1).all()
    assert np.isfinite(cost.matrix).all()


def test_a_jump_by_the_last_digit_is_noise_and_a_small_signal_is_not():
    left = rows()
    left[:, 1] = np.where(np.arange(60) % 2, 1e11, np.nextafter(1e11, 2e11))
    left[:, 3] = 1e5 + 3e-6 * rows(1, seed=2)[:, 0]
    assert list(correlation_cost(left, rows()).dead_recipient) == [1]


def test_most_neurons_may_be_silent():
    left = np.where(np.arange(5) < 3, 0.0, rows())
    cost = correlation_cost(left, rows(4, seed=1))
    assert list(cost.dead_recipient) == [0, 1, 2]
    assert np.isfinite(cost.matrix).all()


@pytest.mark.parametrize(
    ("left", "right", "given", "error", "message"),
    [
        (rows(), rows(n=59), {}, ShapeError, r"\(60, 5\), donor rows \(59, 5\)"),
        (rows()[0], rows(), {}, ShapeError, r"recipient rows \(5,\)"),
        (rows()[:, 0], rows(), {}, ShapeError, r"recipient rows \(60,\)"),
        (rows(0), rows(), {}, ShapeError, r"recipient rows \(60, 0\)"),
        (rows()[:2], rows()[:2], {}, EstimateError, "2 rows"),
        (rows(), rows(), {"kind": "euclidean"}, EstimateError, "kind 'euclidean'"),
        (rows(), np.ones((60, 3)), {}, EstimateError, "none of the 3 donor neurons varies"),
        (rows(), np.where(np.arange(60)[:, None] == 7, np.nan, rows()), {}, EstimateError, "donor row 7 holds NaN"),
        (np.full((4, 2), np.inf), rows(n=4), {}, EstimateError, r"recipient row 0 .* \(4 of 4 rows do\)"),
    ],
)
def test_refused(left, right, given, error, message):
    with pytest.raises(error, match=message):
        correlation_cost(left, right, **given)


def test_rows_are_not_changed():
    left = rows()
    before = left.copy()
    correlation_cost(left, left)
    np.testing.assert_array_equal(left, before)
