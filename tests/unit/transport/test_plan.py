"""A plan is judged from its matrix: no zero, unconverged or broken plan goes by without a status."""

import numpy as np
import pytest

from assay.errors import ConvergenceError, ShapeError
from assay.transport.plan import PlanStatus, Potentials, assess
from assay.transport.problem import checked_problem

COST = np.array([[0.0, 1.0], [1.0, 0.5]])


def judged(matrix, tolerance=1e-6, **given):
    problem = checked_problem(COST, epsilon=0.1, row_marginal=None, column_marginal=None, caller="test")
    return assess(np.asarray(matrix, dtype=float), problem, tolerance=tolerance, sweeps=3, **given)


def test_numbers_of_a_right_plan():
    plan = judged([[0.5, 0.0], [0.0, 0.5]])
    assert (plan.status, plan.cost, plan.rounded_cost, plan.dual_bound) == ("converged", 0.25, 0.25, 0.25)
    assert (plan.mass, plan.row_error, plan.column_error, plan.marginal_error, plan.duality_gap) == (1, 0, 0, 0, 0)
    assert np.isnan(plan.regularised_gap)
    np.testing.assert_array_equal(plan.checked().matrix, plan.matrix)


@pytest.mark.parametrize(
    ("matrix", "status"),
    [
        (np.zeros((2, 2)), PlanStatus.FAILED),
        (np.full((2, 2), np.nan), PlanStatus.FAILED),
        ([[np.inf, 0], [0, 0.5]], PlanStatus.FAILED),
        ([[0.6, -0.1], [-0.1, 0.6]], PlanStatus.FAILED),
        ([[0.501, 0.0], [0.0, 0.5015]], PlanStatus.FAILED),
        ([[0.5, 0.0], [0.1, 0.4]], PlanStatus.MAX_SWEEPS),
        ([[0.5, 0.1], [0.0, 0.4]], PlanStatus.MAX_SWEEPS),
        ([[0.5, 0.0], [5e-7, 0.5 - 5e-7]], PlanStatus.CONVERGED),
    ],
)
def test_status(matrix, status):
    """The sixth has right row sums and the seventh right column sums: both sides are looked at."""
    plan = judged(matrix, tolerance=2e-6)
    assert plan.status is status


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 2)), r"status failed after 3 sweeps at epsilon 0.1 .* mass 0\. The numbers broke down"),
        (
            [[0.5, 0.0], [0.1, 0.4]],
            r"0.00e\+00 \(rows\) and 2.00e-01 \(columns\), tolerance 1e-06.*Raise max_sweeps, epsilon",
        ),
    ],
)
def test_checked_says_what_to_raise(matrix, message):
    with pytest.raises(ConvergenceError, match=message):
        judged(matrix).checked()


def test_shape():
    with pytest.raises(ShapeError, match=r"plan of shape \(1, 2\) for a cost of shape \(2, 2\)"):
        judged(np.zeros((1, 2)))


def test_potentials_rebuild_the_plan():
    potentials = Potentials(np.array([0.1, 0.2]), np.array([-0.1, 0.0]))
    built = potentials.matrix(COST, epsilon=0.5)
    assert built[1, 0] == pytest.approx(np.exp((0.2 - 0.1 - 1.0) / 0.5))
    single = Potentials(np.zeros(1, dtype=np.float32), np.zeros(1, dtype=np.float32))
    assert single.matrix(np.ones((1, 1), dtype=np.float32), epsilon=1.0)[0, 0] == np.exp(-1.0)
    with pytest.raises(ShapeError, match="2 x 2 potentials"):
        potentials.matrix(np.zeros((3, 2)), epsilon=0.5)


def test_regularised_gap_is_primal_minus_dual():
    potentials = Potentials(np.array([-0.03, -0.05]), np.array([-0.05, 0.02]))
    epsilon = 0.1
    excess = epsilon * np.log(potentials.matrix(COST, epsilon=epsilon).sum())
    potentials = Potentials(potentials.row - excess, potentials.column)
    matrix = potentials.matrix(COST, epsilon=epsilon)
    plan = judged(matrix, potentials=potentials)
    primal = (matrix * COST).sum() + epsilon * (matrix * (np.log(matrix) - 1)).sum()
    dual = potentials.row.mean() + potentials.column.mean() - epsilon * matrix.sum()
    assert plan.regularised_gap == pytest.approx(primal - dual, abs=1e-12)
