"""Newton's method reaches what thousands of sweeps would."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from assay.transport.newton import newton


def kernel(n=60, m=80, epsilon=0.02, seed=0):
    cost = np.random.default_rng(seed).random((n, m))
    cost -= cost.min(axis=1, keepdims=True)
    return np.exp(-cost / epsilon)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_both_marginals_are_met(kind):
    matrix = kernel()
    row, column = np.full(60, 1 / 60), np.full(80, 1 / 80)
    found = newton(kind(matrix), np.ones(80), row=row, column=column, goal=1e-11, budget=2000)
    plan = found.u[:, None] * matrix * found.v
    assert np.abs(plan.sum(axis=1) - row).sum() < 1e-12
    assert np.abs(plan.sum(axis=0) - column).sum() == pytest.approx(found.error, abs=1e-13)
    assert found.error <= 1e-11


def test_fewer_sweeps_than_sinkhorn():
    matrix, row = kernel(80, 80, 0.005), np.full(80, 1 / 80)
    found = newton(csr_array(matrix), np.ones(80), row=row, column=row, goal=1e-9, budget=5000)
    v = np.ones(80)
    for _ in range(4 * found.sweeps):
        u = row / (matrix @ v)
        v = row / (u @ matrix)
    u = row / (matrix @ v)
    assert found.error <= 1e-9 < np.abs(v * (u @ matrix) - row).sum()


def test_budget_is_kept_and_the_best_is_given_back():
    matrix, row = kernel(80, 80, 0.005), np.full(80, 1 / 80)
    found = newton(matrix, np.ones(80), row=row, column=row, goal=1e-12, budget=20)
    assert found.sweeps <= 20 + 402
    first = np.abs(found.v * found.reached - row).sum()
    assert first == pytest.approx(found.error)


def test_marginals_out_of_reach_end_finite():
    """A kernel without the entries that the marginals need: it stops, and says the error."""
    matrix = csr_array(np.array([[1.0, 0.0], [1.0, 1e-3]]))
    found = newton(matrix, np.ones(2), row=np.array([0.8, 0.2]), column=np.array([0.5, 0.5]), goal=1e-9, budget=500)
    assert found.error > 0.1
    assert np.isfinite(found.u).all()
    assert np.isfinite(found.v).all()
