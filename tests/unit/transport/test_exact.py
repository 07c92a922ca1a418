"""Exact plans and the log-domain reference carry a status like ours."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from assay.errors import EstimateError
from assay.transport.exact import exact_plan, log_domain_plan
from assay.transport.plan import PlanStatus


def test_exact_is_the_best_assignment(factor_cost):
    cost = factor_cost(60, 60)
    plan = exact_plan(cost)
    assert plan.status is PlanStatus.CONVERGED
    assert plan.cost == pytest.approx(cost[linear_sum_assignment(cost)].mean(), rel=1e-12)
    assert plan.duality_gap == pytest.approx(0, abs=1e-12)
    assert (plan.epsilon, plan.sweeps, np.count_nonzero(plan.matrix)) == (0.0, 0, 60)


def test_potentials_of_an_exact_plan_prove_it(factor_cost):
    """Feasible, and worth what the plan costs; negative costs and any unit."""
    for cost in (factor_cost(20, 30), factor_cost(20, 30) - 5, 1e6 * factor_cost(20, 30)):
        plan = exact_plan(cost)
        f, g = plan.potentials
        scale = np.abs(cost).max()
        assert (f[:, None] + g - cost).max() <= 1e-12 * scale
        assert f.mean() + g.mean() == pytest.approx(plan.cost, rel=1e-12)
        assert plan.status is PlanStatus.CONVERGED


def test_free_pairs_cost_nothing():
    plan = exact_plan(np.zeros((3, 4)))
    assert (plan.status, plan.cost, plan.duality_gap) == ("converged", 0.0, 0.0)


def test_float32_costs_and_marginals_are_not_called_infeasible():
    """Marginals that sum to 1 only in float32 make POT return a plan of zeros; here they are scaled first."""
    row, column = np.array([0.4, 0.6 - 9e-7]), np.array([0.3, 0.2, 0.5 + 9e-7])
    cost = np.random.default_rng(0).random((2, 3)).astype(np.float32)
    plan = exact_plan(cost, row_marginal=row, column_marginal=column)
    assert (plan.status, plan.dtype) == ("converged", "float64")
    np.testing.assert_allclose(plan.matrix.sum(axis=0), column / column.sum(), atol=1e-15)
    np.testing.assert_allclose(plan.matrix.sum(axis=1), row / row.sum(), atol=1e-15)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_too_few_pivots_are_not_called_converged(factor_cost, unit):
    """Three pivots do not reach the marginals; 200 do, and the plan still costs too much."""
    cost = unit * factor_cost(80, 80)
    assert exact_plan(cost, max_pivots=3).status is PlanStatus.FAILED
    early = exact_plan(cost, max_pivots=200)
    assert (early.status, early.sweeps, early.dtype) == ("max_sweeps", 0, "float64")
    assert early.marginal_error < 1e-12
    assert early.cost > exact_plan(cost).cost


def test_log_domain_reference(factor_cost):
    cost = factor_cost(60, 80)
    plan = log_domain_plan(cost, epsilon=0.02)
    assert (plan.status, plan.tolerance, plan.dtype) == ("converged", 1e-8, "float64")
    assert plan.marginal_error <= 1e-8
    np.testing.assert_allclose(plan.potentials.matrix(cost, epsilon=0.02), plan.matrix, rtol=1e-9)
    loose = log_domain_plan(cost, epsilon=0.02, tolerance=1e-3)
    assert (loose.status, loose.tolerance) == ("converged", 1e-3)
    assert loose.sweeps < plan.sweeps


def test_log_domain_keeps_the_type_of_the_cost(factor_cost):
    plan = log_domain_plan(factor_cost(30, 40, dtype=np.float32), epsilon=0.05)
    assert (plan.status, plan.tolerance, plan.dtype) == ("converged", 1e-4, "float32")
    assert plan.potentials.row.dtype == plan.potentials.column.dtype == np.float64


@pytest.mark.parametrize("sweeps", [1, 2])
def test_log_domain_says_that_its_sweeps_are_spent(factor_cost, sweeps):
    plan = log_domain_plan(factor_cost(60, 80), epsilon=0.02, max_sweeps=sweeps)
    assert (plan.status, plan.sweeps) == ("max_sweeps", sweeps)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: log_domain_plan(np.zeros((2, 2)), epsilon=0.0), "epsilon 0.0, 10000 sweeps; both above 0"),
        (lambda: log_domain_plan(np.zeros((2, 2)), epsilon=0.1, max_sweeps=0), "epsilon 0.1, 0 sweeps; both above 0"),
        (lambda: log_domain_plan(np.full((2, 2), np.nan), epsilon=0.1), "^log_domain_plan: 4 of 4 costs"),
        (lambda: exact_plan(np.full((2, 2), np.nan)), "^exact_plan: 4 of 4 costs"),
    ],
)
def test_refused(act, message):
    with pytest.raises(EstimateError, match=message):
        act()
