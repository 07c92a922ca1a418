"""Rounding gives the exact marginals and an upper bound; any potential gives a lower one."""

import warnings

import numpy as np
import pytest

from assay.transport.bounds import blocks, dual_bound, rounded_cost, rounding

ROW, COLUMN = np.array([0.5, 0.2, 0.3]), np.array([0.25, 0.25, 0.4, 0.1])


def candidate(seed=0):
    matrix = np.random.default_rng(seed).random((3, 4))
    return matrix / matrix.sum()


def rounded_matrix(matrix, *, row, column):
    parts = rounding(matrix, row=row, column=column)
    return parts.row[:, None] * matrix * parts.column + np.outer(parts.row_rest, parts.column_rest)


def test_rounded_plan_is_feasible_and_costs_what_is_said():
    cost = np.random.default_rng(1).random((3, 4))
    rounded = rounded_matrix(candidate(), row=ROW, column=COLUMN)
    np.testing.assert_allclose(rounded.sum(axis=1), ROW, atol=1e-15)
    np.testing.assert_allclose(rounded.sum(axis=0), COLUMN, atol=1e-15)
    assert rounded.min() >= 0
    assert rounded_cost(candidate(), cost, row=ROW, column=COLUMN) == pytest.approx((rounded * cost).sum(), rel=1e-12)


def test_a_feasible_plan_is_its_own_rounding():
    plan = np.outer(ROW, COLUMN)
    np.testing.assert_allclose(rounded_matrix(plan, row=ROW, column=COLUMN), plan, atol=1e-17)


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-5), ("float64", 1e-12)])
def test_rounding_and_its_cost_over_several_blocks(dtype, rtol):
    """Algorithm 2 of Altschuler et al. 2017 written out in float64; sums that are known change nothing."""
    rng = np.random.default_rng(2)
    matrix, cost = rng.random((2, 300, 1400)).astype(dtype)
    matrix /= matrix.sum(dtype=float)
    row, column = (weights / weights.sum() for weights in (rng.random(300) + 0.1, rng.random(1400) + 0.1))
    exact = matrix.astype(float)
    scaled = exact * np.minimum(1, row / exact.sum(axis=1))[:, None]
    scaled *= np.minimum(1, column / scaled.sum(axis=0))
    rest = row - scaled.sum(axis=1), column - scaled.sum(axis=0)
    wanted = scaled + np.outer(*rest) / rest[0].sum()
    rounded = rounded_matrix(matrix, row=row, column=column)
    np.testing.assert_allclose(rounded, wanted, rtol=rtol, atol=rtol / rounded.size)
    for sums in (None, exact.sum(axis=1)):
        found = rounded_cost(matrix, cost, row=row, column=column, row_sums=sums)
        assert found == pytest.approx((wanted * cost).sum(), rel=rtol)


def test_dual_bound_over_several_blocks():
    rng = np.random.default_rng(3)
    cost, potential = rng.random((300, 1400)), rng.random(1400)
    row, column = (weights / weights.sum() for weights in (rng.random(300), rng.random(1400)))
    f = (cost - potential).min(axis=1)
    g = (cost - f[:, None]).min(axis=0)
    assert dual_bound(cost, potential, row=row, column=column) == pytest.approx(f @ row + g @ column, rel=1e-13)


def test_rows_and_columns_without_mass_are_filled():
    matrix = np.zeros((3, 4))
    matrix[0, 0] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rounded = rounded_matrix(matrix, row=ROW, column=COLUMN)
    np.testing.assert_allclose(rounded.sum(axis=1), ROW, atol=1e-15)
    np.testing.assert_allclose(rounded.sum(axis=0), COLUMN, atol=1e-15)
    parts = rounding(matrix, row=ROW, column=COLUMN)
    assert (parts.row.tolist(), parts.column.tolist()) == ([0.5, 1, 1], [0.5, 1, 1, 1])


def test_dual_bound_by_hand():
    """g = 0: f = row minima (1, 2), then g_j = min_i (C_ij - f_i) = (0, 1): 1.5 + 0.5."""
    cost = np.array([[1.0, 4.0], [2.0, 3.0]])
    half = np.full(2, 0.5)
    assert dual_bound(cost, np.zeros(2), row=half, column=half) == 2.0


def test_blocks_cover_every_row_once():
    matrix = np.zeros((5000, 70))
    rows = np.concatenate([np.arange(5000)[block] for block in blocks(matrix)])
    np.testing.assert_array_equal(rows, np.arange(5000))
    assert len(blocks(matrix)) > 1
    assert len(blocks(matrix.astype(np.float32))) == len(blocks(matrix)) // 2
    assert blocks(matrix)[0].stop * 70 * 8 == pytest.approx(2**19, rel=1e-3)
    assert blocks(np.zeros((2, 10**6)))[0] == slice(0, 1)
