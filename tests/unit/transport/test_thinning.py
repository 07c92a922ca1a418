"""Thinned kernels: few entries, nearly all of the mass, and marginals that fit them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from assay.transport.kernel import absorbed, minima, sweep
from assay.transport.problem import checked_problem
from assay.transport.thinning import thinned


def swept_kernel(cost, epsilon):
    task = checked_problem(cost, epsilon=epsilon, row_marginal=None, column_marginal=None, caller="test")
    swept = sweep(absorbed(task, minima(cost)), task)
    for _ in range(5):
        swept = sweep(swept.kernel._replace(v=swept.next_v), task)
    return swept.kernel, task


def test_large_entries_stay_and_small_ones_are_accounted_for(factor_cost):
    kernel, task = swept_kernel(factor_cost(200, 300), 0.01)
    thin = thinned(kernel, task, below=1e-5)
    assert isinstance(thin.matrix, csr_array)
    plan = kernel.u[:, None] * kernel.matrix * kernel.v
    kept = np.maximum(plan, plan / plan.sum(axis=0) / 300) >= 1e-5 / 200
    assert thin.matrix.nnz == kept.sum() < 0.2 * kept.size
    np.testing.assert_allclose(thin.matrix.toarray(), np.where(kept, kernel.matrix, 0))
    np.testing.assert_allclose(thin.row, np.where(kept, plan, 0).sum(axis=1), rtol=1e-12)
    assert abs(thin.row.sum() - thin.column.sum()) < 1e-14
    assert 0 < 1 - thin.row.sum() < 1e-3


def test_a_dense_plan_stays_whole(factor_cost):
    kernel, task = swept_kernel(factor_cost(100, 120), 0.5)
    thin = thinned(kernel, task, below=1e-5)
    assert thin.matrix is kernel.matrix
    np.testing.assert_array_equal(thin.column, task.column)


@pytest.mark.parametrize(("densest", "whole"), [(0.03, True), (0.3, False)])
def test_how_dense_may_be_asked_for(factor_cost, densest, whole):
    """Of the whole kernel, not of one of its blocks."""
    kernel, task = swept_kernel(factor_cost(400, 900), 0.01)
    thin = thinned(kernel, task, below=1e-5, densest=densest)
    assert (thin.matrix is kernel.matrix) == whole


def test_a_row_that_would_lose_all_keeps_the_kernel_whole(factor_cost):
    kernel, task = swept_kernel(factor_cost(200, 300), 0.01)
    thin = thinned(kernel, task, below=2.0)
    assert thin.matrix is kernel.matrix
    np.testing.assert_array_equal(thin.row, task.row)
    np.testing.assert_array_equal(thin.column, task.column)


def test_one_row_that_would_lose_all_is_enough():
    """The second row spreads evenly, a quarter a column; the others keep their halves and cover all columns."""
    far = 50.0
    cost = np.array([[0, 0, far, far], [0, 0, 0, 0], [far, far, 0, 0]])
    task = checked_problem(cost, epsilon=1.0, row_marginal=None, column_marginal=None, caller="test")
    kernel = sweep(absorbed(task, minima(cost)), task).kernel
    assert thinned(kernel, task, below=0.4, densest=1.0).matrix is kernel.matrix
    assert thinned(kernel, task, below=0.2, densest=1.0).matrix.nnz == 8


def test_several_blocks_and_float32(factor_cost):
    """The places of the entries, and the marginals that belong to them, in the order of the rows."""
    kernel, task = swept_kernel(factor_cost(400, 900, dtype=np.float32), 0.01)
    thin = thinned(kernel, task, below=1e-5)
    kept = thin.matrix.toarray()
    assert thin.matrix.dtype == np.float64
    np.testing.assert_array_equal(kept[kept > 0], kernel.matrix[kept > 0])
    plan = kernel.u[:, None] * kept * kernel.v
    np.testing.assert_allclose(thin.row, plan.sum(axis=1), rtol=1e-9)
    left_out = (kernel.u[:, None] * np.where(kept > 0, 0, kernel.matrix) * kernel.v).sum(axis=0)
    rest = task.column - left_out
    np.testing.assert_allclose(thin.column, rest * plan.sum() / rest.sum(), rtol=1e-5)


def test_both_sides_of_what_is_left_have_the_same_mass(factor_cost):
    """Also where the marginals that were given do not."""
    cost = factor_cost(60, 70)
    row, column = np.full(60, (1 + 9e-7) / 60), np.full(70, (1 - 9e-7) / 70)
    task = checked_problem(cost, epsilon=0.005, row_marginal=row, column_marginal=column, caller="test")
    swept = sweep(absorbed(task, minima(cost)), task)
    for _ in range(5):
        swept = sweep(swept.kernel._replace(v=swept.next_v), task)
    thin = thinned(swept.kernel, task, below=1e-5)
    assert isinstance(thin.matrix, csr_array)
    assert thin.column.sum() == pytest.approx(thin.row.sum(), abs=1e-12)
