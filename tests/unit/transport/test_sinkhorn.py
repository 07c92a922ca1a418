"""The default solver: right at every epsilon, and honest where it is not."""

import warnings
from itertools import pairwise

import numpy as np
import pytest

from assay.errors import ConvergenceError, EstimateError, ShapeError
from assay.transport.exact import exact_plan
from assay.transport.plan import PlanStatus, Potentials, assess
from assay.transport.problem import checked_problem
from assay.transport.sinkhorn import entropic_plan


def kernel_form_residual(plan, cost):
    """Largest part of log Q + C / epsilon that is not a sum u_i + v_j, over entries that are not tiny."""
    with np.errstate(divide="ignore"):
        form = np.log(plan.matrix.astype(float)) + cost / plan.epsilon
    weights = plan.matrix > 1e-12 * plan.matrix.max()
    u, v = plan.potentials.row / plan.epsilon, plan.potentials.column / plan.epsilon
    return np.abs(form - u[:, None] - v)[weights].max()


@pytest.mark.parametrize("epsilon", [0.1, 0.03, 0.01, 0.005, 0.002])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-4), ("float64", 1e-8)])
@pytest.mark.parametrize("shape", [(150, 150), (120, 150)])
def test_decisive_order(factor_cost, epsilon, dtype, tolerance, shape):
    """transport.md 7.6: feasibility, duality, distance from the exact cost, kernel form."""
    cost = factor_cost(*shape, dtype=dtype)
    plan = entropic_plan(cost, epsilon=epsilon)
    assert plan.status is PlanStatus.CONVERGED
    assert plan.matrix.dtype == dtype
    assert plan.marginal_error <= tolerance
    assert abs(plan.mass - 1) < 1e-6
    assert plan.matrix.min() >= 0
    assert abs(plan.regularised_gap) <= tolerance * (1 + abs(plan.cost))
    exact = exact_plan(cost)
    assert exact.status is PlanStatus.CONVERGED
    slack = 1e-6 if dtype == "float32" else 1e-12
    assert plan.dual_bound - slack <= exact.cost <= plan.rounded_cost + slack
    assert -2 * tolerance <= plan.cost - exact.cost <= epsilon * np.log(min(shape)) + tolerance
    assert kernel_form_residual(plan, cost) < (2e-4 if dtype == "float32" else 1e-8)


def test_a_constant_added_to_the_kernel_is_seen_in_its_form_and_not_in_the_marginals(factor_cost):
    """Twin of the kernel form: K + 1e-12 gives good marginals and a wrong cost."""
    cost, epsilon = factor_cost(512, 512, factors=200), 0.005
    kernel = np.exp(-(cost - cost.min()) / epsilon) + 1e-12
    v = np.ones(512)
    for _ in range(400):
        u = 1 / 512 / (kernel @ v)
        v = 1 / 512 / (u @ kernel)
    problem = checked_problem(cost, epsilon=epsilon, row_marginal=None, column_marginal=None, caller="twin")
    potentials = Potentials(epsilon * np.log(u) + cost.min(), epsilon * np.log(v))
    twin = assess(u[:, None] * kernel * v, problem, tolerance=2e-2, sweeps=400, potentials=potentials)
    right = entropic_plan(cost, epsilon=epsilon)
    assert twin.status is PlanStatus.CONVERGED
    assert twin.cost > right.cost + 0.01
    assert kernel_form_residual(twin, cost) > 0.1
    assert kernel_form_residual(right, cost) < 1e-8


def test_planted_permutation_golden():
    """T7: noise of standard deviation 2, 512 rows, 512 neurons; planted mass .139, .999, 1.000 (transport.md)."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((512, 512))
    order = rng.permutation(512)
    noisy = rows[:, order] + 2 * rng.standard_normal((512, 512))
    cost = 1 - np.corrcoef(rows.T, noisy.T)[:512, 512:]
    for epsilon, mass in ((0.1, 0.139), (0.03, 0.999), (0.01, 1.0)):
        matrix = entropic_plan(cost, epsilon=epsilon, tolerance=1e-6).checked().matrix
        np.testing.assert_array_equal(matrix[order].argmax(axis=1), np.arange(512))
        assert matrix[order, np.arange(512)].sum() == pytest.approx(mass, abs=0.005)


def test_pure_noise_golden():
    """Independent noise, 512 rows, 1,024 neurons: exact cost .861, 1.3 % more at epsilon .01, row maxima .39."""
    rng = np.random.default_rng(1)
    left, right = rng.standard_normal((2, 512, 1024))
    cost = (1 - np.corrcoef(left.T, right.T)[:1024, 1024:]).astype(np.float32)
    plan = entropic_plan(cost, epsilon=0.01)
    assert plan.status is PlanStatus.CONVERGED
    assert plan.dual_bound - 0.003 <= 0.861 <= plan.rounded_cost + 0.003
    assert plan.cost == pytest.approx(1.013 * 0.861, abs=0.004)
    assert 1024 * plan.matrix.max(axis=1).mean() == pytest.approx(0.39, abs=0.02)


def test_t8_row_and_column_constants_do_not_matter(factor_cost):
    cost = factor_cost(80, 90)
    rng = np.random.default_rng(3)
    shifted = cost + rng.random((80, 1)) + rng.random(90)
    one, other = (entropic_plan(c, epsilon=0.01, tolerance=1e-13).matrix for c in (cost, shifted))
    assert np.abs(one - other).max() * 80 < 1e-9


def test_t9_scale_of_cost_and_epsilon(factor_cost):
    cost = factor_cost(80, 90)
    one, other = (entropic_plan(c, epsilon=e, tolerance=1e-13).matrix for c, e in ((cost, 0.01), (10 * cost, 0.1)))
    assert np.abs(one - other).max() * 80 < 1e-9


def test_t10_monotone_in_epsilon_and_bounded(factor_cost):
    cost = factor_cost(100, 100)
    exact = exact_plan(cost).cost
    plans = [entropic_plan(cost, epsilon=epsilon) for epsilon in (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)]
    costs = [plan.cost for plan in plans]
    assert all(later <= sooner + 1e-9 for sooner, later in pairwise(costs))
    assert all(plan.dual_bound - 1e-12 <= exact <= plan.rounded_cost + 1e-12 for plan in plans)
    assert costs[-1] - exact < 1e-4


def test_t11_small_epsilon_in_float32(factor_cost):
    """Mean cost 1 at epsilon .005: exp(-200) is 0 in float32. Ours converges; the plain exponent domain is failed."""
    cost = factor_cost(1024, 1024, dtype=np.float32)
    plan = entropic_plan(cost, epsilon=0.005)
    assert plan.status is PlanStatus.CONVERGED
    assert plan.mass == pytest.approx(1, abs=1e-5)
    with np.errstate(all="ignore"):
        kernel = np.exp(-cost / np.float32(0.005))
        u = v = np.full(1024, 1 / 1024, dtype=np.float32)
        for _ in range(5):
            v = np.float32(1 / 1024) / (kernel.T @ u)
            u = np.float32(1 / 1024) / (kernel @ v)
        naive = u[:, None] * kernel * v
        problem = checked_problem(cost, epsilon=0.005, row_marginal=None, column_marginal=None, caller="naive")
        for matrix in (naive, np.zeros_like(kernel)):
            failed = assess(matrix, problem, tolerance=1e-4, sweeps=5)
            assert failed.status is PlanStatus.FAILED
            with pytest.raises(ConvergenceError, match="status failed"):
                failed.checked()


def test_t12_transposed(factor_cost):
    cost = factor_cost(60, 90)
    there, back = (entropic_plan(c, epsilon=0.01, tolerance=1e-12).matrix for c in (cost, cost.T))
    np.testing.assert_allclose(there, back.T, atol=1e-10)


def test_t16_same_bytes_twice(factor_cost):
    cost = factor_cost(200, 200, dtype=np.float32)
    one, other = (entropic_plan(cost, epsilon=0.005) for _ in range(2))
    assert one.matrix.tobytes() == other.matrix.tobytes()
    assert (one.sweeps, one.cost, one.dual_bound) == (other.sweeps, other.cost, other.dual_bound)


def test_too_few_sweeps_are_said(factor_cost):
    plan = entropic_plan(factor_cost(100, 100), epsilon=0.005, max_sweeps=5)
    assert plan.status is PlanStatus.MAX_SWEEPS
    assert plan.sweeps <= 10
    with pytest.raises(
        ConvergenceError, match=r"status max_sweeps after .* Raise max_sweeps, epsilon or the tolerance"
    ):
        plan.checked()


def test_a_tolerance_below_float32_is_not_called_converged(factor_cost):
    """Stagnation is not convergence."""
    plan = entropic_plan(factor_cost(100, 100, dtype=np.float32), epsilon=0.02, tolerance=1e-12, max_sweeps=300)
    assert plan.status is PlanStatus.MAX_SWEEPS


def test_marginals_that_are_not_uniform(factor_cost):
    rng = np.random.default_rng(4)
    row, column = (weights / weights.sum() for weights in (rng.random(70) + 0.01, rng.random(90) + 0.01))
    plan = entropic_plan(factor_cost(70, 90), epsilon=0.01, row_marginal=row, column_marginal=column)
    np.testing.assert_allclose(plan.checked().matrix.sum(axis=1), row, atol=1e-8)


def test_start_from_potentials(factor_cost):
    cost = factor_cost(150, 150)
    cold = entropic_plan(cost, epsilon=0.02)
    warm = entropic_plan(cost, epsilon=0.02, start=cold.potentials)
    assert warm.sweeps <= 2
    np.testing.assert_allclose(warm.potentials.matrix(cost, epsilon=0.02), warm.matrix, atol=1e-15)


def test_the_cost_is_not_changed(factor_cost):
    cost = factor_cost(50, 60, dtype=np.float32)
    before = cost.copy()
    entropic_plan(cost, epsilon=0.01)
    np.testing.assert_array_equal(cost, before)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"epsilon": 0.0}, EstimateError, "take exact_plan"),
        ({"epsilon": -1.0}, EstimateError, "^entropic_plan: epsilon -1"),
        ({"epsilon": 0.1, "row_marginal": np.ones(3)}, ShapeError, "^entropic_plan: the row marginal"),
        ({"epsilon": 0.1, "column_marginal": np.ones(3)}, ShapeError, "^entropic_plan: the column marginal"),
        ({"epsilon": 0.1, "max_sweeps": 0}, EstimateError, "0 sweeps"),
        ({"epsilon": 0.1, "start": Potentials(np.zeros(2), np.zeros(3))}, ShapeError, "2 x 3 potentials"),
        ({"epsilon": 0.1, "start": Potentials(np.zeros(3), np.zeros(2))}, ShapeError, "3 x 2 potentials"),
    ],
)
def test_refused(given, error, message):
    with pytest.raises(error, match=message):
        entropic_plan(np.zeros((2, 2)), **given)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_underflows_on_the_way_is_no_warning(factor_cost, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entropic_plan(factor_cost(60, 70, dtype=dtype), epsilon=1e-4, max_sweeps=200)
        entropic_plan(np.eye(2, dtype=dtype), epsilon=1e-6, start=Potentials(np.zeros(2), np.array([0.0, 9.0])))


def test_one_sweep_is_a_budget_and_a_tolerance_is_kept(factor_cost):
    plan = entropic_plan(factor_cost(30, 40), epsilon=0.5, max_sweeps=1, tolerance=0.3)
    assert (plan.status, plan.sweeps, plan.tolerance, plan.epsilon) == ("converged", 1, 0.3, 0.5)
