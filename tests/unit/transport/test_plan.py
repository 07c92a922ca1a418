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
    assert judged([[0.5, 0.0], [0.0, 0.5]], tolerance=0.0).status is PlanStatus.CONVERGED


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-5), ("float64", 1e-12)])
def test_numbers_of_a_plan_over_several_blocks(dtype, rtol):
    """Everything written out, on a plan that misses both marginals a little."""
    rng = np.random.default_rng(0)
    cost = rng.random((300, 1400)).astype(dtype)
    a, b = (weights / weights.sum() for weights in (rng.random(300) + 0.5, rng.random(1400) + 0.5))
    matrix = (np.outer(a, b) * (1 + 1e-3 * rng.standard_normal((300, 1400)))).astype(dtype)
    potentials = Potentials(rng.random(300), rng.random(1400))
    problem = checked_problem(cost, epsilon=0.1, row_marginal=a, column_marginal=b, caller="test")
    plan = assess(matrix, problem, tolerance=1e-6, sweeps=7, potentials=potentials)
    exact = matrix.astype(float)
    rows, columns = exact.sum(axis=1), exact.sum(axis=0)
    assert (plan.status, plan.sweeps, plan.dtype, plan.tolerance, plan.epsilon) == ("max_sweeps", 7, dtype, 1e-6, 0.1)
    assert (plan.mass, plan.cost) == pytest.approx((rows.sum(), (exact * cost).sum()), rel=rtol)
    assert plan.row_error == pytest.approx(np.abs(rows - a).sum(), rel=1e-3 if dtype == "float32" else rtol)
    assert plan.column_error == pytest.approx(np.abs(columns - b).sum(), rel=1e-3 if dtype == "float32" else rtol)
    f = (cost - potentials.column).min(axis=1)
    assert plan.dual_bound == pytest.approx(f @ a + (cost - f[:, None]).min(axis=0) @ b, rel=rtol)
    assert plan.regularised_gap == pytest.approx(
        potentials.row @ (rows - a) + potentials.column @ (columns - b), abs=1e-6 if dtype == "float32" else 1e-14
    )
    assert plan.rounded_cost == pytest.approx((np.outer(a, b) * cost).sum(), rel=2e-3)
    assert plan.potentials is potentials
    assert plan.matrix is matrix


@pytest.mark.parametrize(
    ("mass", "status"), [(0.9989, "failed"), (0.9991, "max_sweeps"), (1.0009, "max_sweeps"), (1.0011, "failed")]
)
def test_a_mass_off_by_a_thousandth_is_no_plan(mass, status):
    potentials = Potentials(np.ones(2), np.zeros(2))
    plan = judged([[mass / 2, 0.0], [0.0, mass / 2]], potentials=potentials)
    assert plan.status == status
    assert np.isnan([plan.rounded_cost, plan.regularised_gap]).all() == (status == "failed")
    assert plan.dual_bound == 0.25
    assert plan.potentials is potentials


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
