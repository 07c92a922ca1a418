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
    assert (plan.epsilon, np.count_nonzero(plan.matrix)) == (0.0, 60)


def test_float32_costs_and_marginals_are_not_called_infeasible():
    """Marginals that sum to 1 only in float32 make POT return a plan of zeros; here they are scaled first."""
    row = np.full(7, 1 / 7, dtype=np.float32)
    plan = exact_plan(np.random.default_rng(0).random((7, 9)).astype(np.float32), row_marginal=row)
    assert plan.status is PlanStatus.CONVERGED


def test_too_few_pivots_are_not_called_converged(factor_cost):
    assert exact_plan(factor_cost(80, 80), max_pivots=3).status is not PlanStatus.CONVERGED


def test_log_domain_reference(factor_cost):
    plan = log_domain_plan(factor_cost(60, 80), epsilon=0.02)
    assert plan.status is PlanStatus.CONVERGED
    assert plan.marginal_error <= 1e-8
    assert log_domain_plan(factor_cost(60, 80), epsilon=0.02, max_sweeps=2).status is PlanStatus.MAX_SWEEPS
    with pytest.raises(EstimateError, match="both above 0"):
        log_domain_plan(np.zeros((2, 2)), epsilon=0.0)
