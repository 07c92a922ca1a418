"""Parts of the default solver: bursts, jumps and what is kept of them."""

import math

import numpy as np
import pytest

from assay.transport.kernel import absorbed, minima, sweep
from assay.transport.problem import checked_problem
from assay.transport.sinkhorn import _converge, _jump, _nearly, _reach, entropic_plan


def task(cost, epsilon):
    return checked_problem(cost, epsilon=epsilon, row_marginal=None, column_marginal=None, caller="test")


def column_error(kernel, problem):
    plan = kernel.u[:, None] * kernel.matrix * kernel.v
    return np.abs(plan.sum(axis=0) - problem.column).sum()


@pytest.mark.parametrize(
    ("errors", "steps", "near"),
    [
        ([0.02, 0.01], 11.9, True),
        ([0.02, 0.01], 12.1, False),
        ([0.9, 0.02, 0.01], 11.9, True),
        ([0.01], 0.5, False),
        ([0.01, 0.01], 0.5, False),
        ([0.01, 0.02], 0.5, False),
        ([0.01, math.nan], 0.5, False),
        ([math.inf, 0.01], 0.5, False),
    ],
)
def test_near_is_a_dozen_sweeps_at_the_last_rate(errors, steps, near):
    """Halving: so many more sweeps take the error to the tolerance."""
    assert _nearly(errors, errors[-1] * 0.5**steps) == near


@pytest.mark.parametrize("budget", [1, 2, 6, 7, 40])
def test_bursts_keep_their_budget_and_say_their_error(factor_cost, budget):
    problem = task(factor_cost(50, 60), 0.01)
    found = _converge(absorbed(problem, minima(problem.cost)), problem, tolerance=1e-13, budget=budget)
    assert budget <= found.sweeps <= budget + 402
    assert found.error == pytest.approx(column_error(found.kernel, problem), rel=1e-6)
    if budget <= 6:
        assert found.sweeps == budget
        by_hand = sweep(absorbed(problem, minima(problem.cost)), problem)
        for _ in range(budget - 1):
            by_hand = sweep(by_hand.kernel._replace(v=by_hand.next_v), problem)
        assert found.error == pytest.approx(by_hand.error, rel=1e-9)


def test_a_burst_ends_at_the_tolerance(factor_cost):
    problem = task(factor_cost(50, 60), 0.1)
    found = _converge(absorbed(problem, minima(problem.cost)), problem, tolerance=1e-3, budget=99)
    before = _converge(absorbed(problem, minima(problem.cost)), problem, tolerance=0.0, budget=found.sweeps - 1)
    assert found.error <= 1e-3 < before.error


def test_sweeps_of_several_bursts_are_counted(factor_cost):
    """At a large epsilon the goal is always near: plain sweeps alone, as many as by hand."""
    problem = task(factor_cost(50, 60), 0.1)
    found = _converge(absorbed(problem, minima(problem.cost)), problem, tolerance=1e-12, budget=99)
    by_hand, sweeps = sweep(absorbed(problem, minima(problem.cost)), problem), 1
    while by_hand.error > 1e-12:
        by_hand, sweeps = sweep(by_hand.kernel._replace(v=by_hand.next_v), problem), sweeps + 1
    assert found.sweeps == sweeps > 7


def swept(problem, sweeps=12):
    found = sweep(absorbed(problem, minima(problem.cost)), problem)
    for _ in range(sweeps):
        found = sweep(found.kernel._replace(v=found.next_v), problem)
    return found


def test_a_jump_lands_near_and_is_judged_on_the_whole_kernel(factor_cost):
    problem = task(factor_cost(150, 150), 0.005)
    start = swept(problem)
    landed = _jump(start.kernel, problem, error=start.error, tolerance=1e-6, budget=2000)
    assert landed.error < 2e-5 < 1e-3 < start.error
    assert landed.error == pytest.approx(column_error(landed.kernel, problem), rel=1e-4)
    assert 10 < landed.sweeps < 400


def test_a_burst_and_a_jump_are_counted_together(factor_cost):
    """Six sweeps, and what the jump from there costs; it lands at the tolerance."""
    problem = task(factor_cost(60, 70), 0.02)
    start = swept(problem, sweeps=5)
    landed = _jump(start.kernel, problem, error=start.error, tolerance=1e-6, budget=994)
    found = _converge(absorbed(problem, minima(problem.cost)), problem, tolerance=1e-6, budget=1000)
    assert landed.error <= 1e-6 < start.error
    assert (found.sweeps, found.error) == (6 + landed.sweeps, pytest.approx(landed.error, rel=1e-3))


def test_a_jump_that_is_no_better_goes_back(factor_cost):
    """No error is below 0, so the landing is refused: the start and one more sweep are left."""
    problem = task(factor_cost(60, 70), 0.01)
    start = swept(problem)
    potentials = start.kernel.potentials(0.01)
    landed = _jump(start.kernel, problem, error=0.0, tolerance=1e-6, budget=50)
    np.testing.assert_allclose(landed.kernel.potentials(0.01).column, potentials.column, atol=1e-12)
    assert landed.error == pytest.approx(start.error, rel=1e-6)
    assert _jump(start.kernel, problem, error=0.0, tolerance=1e-6, budget=1).sweeps == 2


@pytest.mark.parametrize(
    ("epsilon", "dtype", "most"),
    [
        (0.1, "float32", 5),
        (0.01, "float32", 48),
        (0.002, "float32", 137),
        (0.1, "float64", 9),
        (0.01, "float64", 168),
        (0.002, "float64", 192),
        (0.0005, "float64", 745),
    ],
)
def test_how_many_sweeps_it_takes(factor_cost, epsilon, dtype, most):
    """Counted on one machine with a third on top; a solver that needs more has become slower."""
    assert entropic_plan(factor_cost(150, 150, dtype=dtype), epsilon=epsilon).sweeps <= most


def test_from_warm_to_cold(factor_cost):
    """Larger epsilons come first, and their sweeps count; from given potentials they do not come."""
    problem = task(factor_cost(100, 100), 0.002)
    cold = _reach(problem, None, tolerance=1e-6, max_sweeps=20_000)
    assert cold.error <= 1e-6
    again = _reach(problem, cold.kernel.potentials(0.002), tolerance=1e-6, max_sweeps=20_000)
    assert again.sweeps == 1
    assert _reach(problem, minima(problem.cost), tolerance=0.0, max_sweeps=6).sweeps == 6
    few = _reach(problem, None, tolerance=1e-6, max_sweeps=1)
    assert 2 <= few.sweeps <= 4
