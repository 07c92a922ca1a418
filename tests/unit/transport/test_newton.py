"""Newton's method reaches what thousands of sweeps would."""

import warnings

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


class Counted:
    """A dense kernel that counts its products: a `Matrix` like any other."""

    def __init__(self, dense, counts):
        self.dense, self.counts, self.dtype = dense, counts, dense.dtype

    @property
    def T(self):  # noqa: N802
        return Counted(self.dense.T, self.counts)

    def __matmul__(self, other):
        assert other.dtype == self.dtype
        self.counts.append(self.dense.shape)
        return self.dense @ other


@pytest.mark.parametrize(("goal", "budget"), [(1.0, 100), (1e-11, 1), (1e-11, 2), (1e-11, 9), (1e-11, 60), (1e-6, 999)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_sweep_is_one_product_with_the_kernel_and_one_with_its_transpose(goal, budget, dtype):
    products = []
    row, column = np.full(60, 1 / 60), np.full(80, 1 / 80)
    found = newton(
        Counted(kernel().astype(dtype), products), np.ones(80), row=row, column=column, goal=goal, budget=budget
    )
    assert products.count((60, 80)) == products.count((80, 60)) == found.sweeps


def sinkhorn(matrix, row, column, sweeps):
    v = np.ones(len(column))
    for _ in range(sweeps):
        v = column / ((row / (matrix @ v)) @ matrix)
    return v


def test_six_plain_sweeps_come_first():
    """A budget of 1 leaves v as it is; one of 2 is found to be spent after the plain sweeps."""
    matrix, row, column = kernel(), np.full(60, 1 / 60), np.full(80, 1 / 80)
    given = {"row": row, "column": column, "goal": 1e-11}
    first, second = (newton(matrix, np.ones(80), budget=budget, **given) for budget in (1, 2))
    assert (first.sweeps, second.sweeps) == (1, 7)
    np.testing.assert_array_equal(first.v, np.ones(80))
    np.testing.assert_allclose(second.v, sinkhorn(matrix, row, column, 6), rtol=1e-12)
    for found in (first, second):
        np.testing.assert_allclose(found.u, row / (matrix @ found.v))
        np.testing.assert_allclose(found.reached, found.u @ matrix)
        assert found.error == pytest.approx(np.abs(found.v * found.reached - column).sum())


def test_a_goal_that_is_met_costs_one_sweep():
    matrix, half = np.ones((2, 2)), np.full(2, 0.5)
    found = newton(matrix, np.ones(2), row=half, column=half, goal=0.0, budget=50)
    assert (found.sweeps, found.error) == (1, 0.0)


def test_the_best_is_given_back_and_not_the_last():
    """Out of reach: the error falls at first, and the sweeps stop long before the budget once v has run away."""
    matrix = csr_array(np.array([[1.0, 0.0], [1.0, 1e-3]]))
    given = {"row": np.array([0.8, 0.2]), "column": np.array([0.5, 0.5]), "goal": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = newton(matrix, np.ones(2), budget=5000, **given)
    assert found.sweeps < 500
    assert found.error <= newton(matrix, np.ones(2), budget=1, **given).error
    assert np.abs(np.log(found.v)).max() < 20


@pytest.mark.parametrize(
    ("kind", "most"), [(np.asarray, [36, 85, 174, 250]), (csr_array, [33, 49, 75, 99])], ids=["dense", "sparse"]
)
def test_sweeps_for_each_goal(kind, most):
    """At epsilon .005; counted on one machine, with 30 % on top."""
    matrix, row = kernel(80, 80, 0.005), np.full(80, 1 / 80)
    sweeps = [
        newton(kind(matrix), np.ones(80), row=row, column=row, goal=goal, budget=9999).sweeps
        for goal in (1e-2, 1e-4, 1e-8, 1e-12)
    ]
    assert (np.array(sweeps) <= most).all()
    assert sweeps == sorted(set(sweeps))
