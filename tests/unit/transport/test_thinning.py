"""Thinned kernels: few entries, nearly all of the mass, and marginals that fit them."""

import numpy as np
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
