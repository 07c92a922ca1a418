"""The same plans and costs as POT on the same input; where POT goes wrong in silence, we say so."""

import warnings

import numpy as np
import ot
import pytest

from assay.transport.exact import exact_plan, log_domain_plan
from assay.transport.plan import PlanStatus, assess
from assay.transport.problem import checked_problem
from assay.transport.sinkhorn import entropic_plan


def cost_of(n, m, *, seed=0, dtype=np.float64):
    """1 - correlation of two models with common factors: mean 1, standard deviation .1."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((600, 60)) / np.sqrt(60)
    sides = []
    for width in (n, m):
        rows = shared @ rng.standard_normal((60, width)) + 0.5 * rng.standard_normal((600, width))
        rows -= rows.mean(axis=0)
        sides.append(rows / np.linalg.norm(rows, axis=0))
    return (1 - sides[0].T @ sides[1]).astype(dtype)


def uniform(n):
    return np.full(n, 1 / n)


def judged(matrix, cost, epsilon=0.01, tolerance=1e-4):
    problem = checked_problem(cost, epsilon=epsilon, row_marginal=None, column_marginal=None, caller="peer")
    return assess(np.asarray(matrix), problem, tolerance=tolerance, sweeps=0)


@pytest.mark.parametrize("shape", [(60, 60), (50, 70)])
@pytest.mark.parametrize(("epsilon", "apart"), [(0.1, 1e-10), (0.03, 1e-9), (0.01, 1e-5)])
def test_same_plan_as_sinkhorn_log(shape, epsilon, apart):
    """At epsilon .01 POT is not there after 3,000 sweeps (nor after 20,000); ours is."""
    cost = cost_of(*shape)
    ours = entropic_plan(cost, epsilon=epsilon, tolerance=1e-10)
    theirs = ot.bregman.sinkhorn_log(
        uniform(shape[0]), uniform(shape[1]), cost, epsilon, numItermax=3000, stopThr=1e-11, warn=False
    )
    assert ours.status is PlanStatus.CONVERGED
    np.testing.assert_allclose(ours.matrix, theirs, rtol=0, atol=apart)


def test_same_plan_with_weights_and_as_ot_solve():
    """`ot.solve` regularises by KL against a b' and reports another value: the plan is the same."""
    cost, rng = cost_of(60, 80), np.random.default_rng(1)
    row, column = (weights / weights.sum() for weights in (rng.random(60) + 0.1, rng.random(80) + 0.1))
    ours = entropic_plan(cost, epsilon=0.05, row_marginal=row, column_marginal=column, tolerance=1e-11)
    theirs = ot.solve(cost, row, column, reg=0.05, tol=1e-13, max_iter=20_000)
    np.testing.assert_allclose(ours.matrix, theirs.plan, atol=1e-10)
    assert ours.cost == pytest.approx(float(theirs.value_linear), rel=1e-9)
    assert float(theirs.value) != pytest.approx(ours.cost, rel=1e-3)


@pytest.mark.parametrize("shape", [(200, 200), (150, 220)])
def test_same_exact_cost(shape):
    cost = cost_of(*shape)
    ours = exact_plan(cost)
    assert ours.cost == pytest.approx(ot.emd2(uniform(shape[0]), uniform(shape[1]), cost), rel=1e-12)
    entropic = entropic_plan(cost, epsilon=0.002)
    assert entropic.dual_bound - 1e-12 <= ours.cost <= entropic.rounded_cost + 1e-12


def test_warm_potentials_are_pots():
    cost = cost_of(60, 60)
    ours, theirs = entropic_plan(cost, epsilon=0.05, tolerance=1e-12), log_domain_plan(cost, epsilon=0.05)
    apart = ours.potentials.row - theirs.potentials.row
    assert np.ptp(apart) < 1e-7


def test_zeros_with_one_warning():
    """float32, epsilon .002, mean cost 1: `ot.sinkhorn` gives zeros with one warning; shifted by us it converges."""
    cost = cost_of(300, 300, dtype=np.float32)
    weights = uniform(300).astype(np.float32)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        theirs = ot.sinkhorn(weights, weights, cost, 0.002)
    assert any("umerical errors at iteration 0" in str(one.message) for one in said)
    assert judged(theirs, cost, 0.002).status is PlanStatus.FAILED
    assert entropic_plan(cost, epsilon=0.002).status is PlanStatus.CONVERGED


def test_stabilized_with_its_own_tau_loses_the_plan_above_1000_neurons():
    """POT absorbs when a scaling exceeds tau = 1000; scalings of n > 1000 neurons always do, and the plan it then
    gives back has mass 1 / (n m). With a larger tau it is right."""
    cost = cost_of(1100, 1100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plans = [
            ot.sinkhorn(
                uniform(1100), uniform(1100), cost, 0.05, method="sinkhorn_stabilized", numItermax=21, stopThr=0, **tau
            )
            for tau in ({}, {"tau": 1e12})
        ]
    own, larger = (judged(plan, cost, 0.05) for plan in plans)
    assert own.status is PlanStatus.FAILED
    assert own.mass < 1e-5
    assert larger.mass == pytest.approx(1, abs=1e-6)
    assert entropic_plan(cost, epsilon=0.05).cost == pytest.approx(larger.cost, abs=1e-4)


def test_solve_batch_stops_without_a_word():
    """`ot.solve_batch` at its iteration limit returns an unconverged plan and no warning; ours has a status."""
    cost = cost_of(200, 200)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        theirs = ot.solve_batch(cost[None], reg=0.01, max_iter=5).plan[0]
    assert not said
    assert judged(theirs, cost).status is not PlanStatus.CONVERGED


def test_a_single_negative_cost_is_infeasible_for_pot():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        theirs = ot.emd([1.0], [1.0], np.array([[-5.0]]))
    assert any("infeasible" in str(one.message) for one in said)
    assert theirs == [[0.0]]
    assert exact_plan(np.array([[-5.0]])).cost == -5.0
