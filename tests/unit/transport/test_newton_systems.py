"""The linear systems of Newton's method: a step solves the one that is written down, as well as is asked for."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from assay.transport.newton import _direction, _newton_step, _System


def task(kind, *, n=40, m=50, epsilon=0.02, spread=0.0, sweeps=20):
    """A system after some sweeps and a row update, with column weights that differ by exp(spread)."""
    rng = np.random.default_rng(0)
    cost = rng.random((n, m))
    matrix = np.exp(-(cost - cost.min(axis=1, keepdims=True)) / epsilon)
    row, column = np.full(n, 1 / n), np.exp(spread * rng.random(m))
    column /= column.sum()
    sparse = csr_array(matrix) if kind == "sparse" else None
    used = matrix if sparse is None else sparse
    system = _System(used, used.T, None if sparse is None else sparse.power(2).T, row, column)
    now = system.at(np.ones(m), 1)
    for _ in range(sweeps):
        now = system.at(column / now.reached, 1)
    return system, now, matrix


def plan_of(now, matrix):
    return now.u[:, None] * matrix * now.v


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_scalings_after_a_row_update(kind):
    system, now, matrix = task(kind)
    plan = plan_of(now, matrix)
    np.testing.assert_allclose(plan.sum(axis=1), system.row)
    np.testing.assert_allclose(now.v * now.reached, plan.sum(axis=0))
    assert now.error == pytest.approx(np.abs(plan.sum(axis=0) - system.column).sum())
    assert now.sweeps == 1


def test_the_diagonal_of_the_hessian():
    """Of a dense kernel the column sums alone, which is near where no entry carries much of its row."""
    system, now, matrix = task("sparse")
    plan, weight = plan_of(now, matrix), now.u**2 / system.row
    own = (plan**2 / system.row[:, None]).sum(axis=0)
    np.testing.assert_allclose(system.diagonal(now, weight), plan.sum(axis=0) - own, rtol=1e-9)
    np.testing.assert_allclose(task("dense")[0].diagonal(now, weight), plan.sum(axis=0))
    alone = csr_array(np.eye(3))
    third = np.full(3, 1 / 3)
    whole = _System(alone, alone.T, alone.power(2).T, third, third)
    at = whole.at(np.ones(3), 1)
    np.testing.assert_allclose(whole.diagonal(at, at.u**2 / third), third * 1e-12)


@pytest.mark.parametrize("damping", [0.0, 0.02, 1.0])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_step_solves_its_system(kind, damping):
    """(1 + damping) diag(c) - P' diag(1/r) P, to a tenth of the error or to .3 of the goal, whichever is larger."""
    system, now, matrix = task(kind)
    plan = plan_of(now, matrix)
    c = plan.sum(axis=0)
    hessian = np.diag((1 + damping) * c) - plan.T @ (plan / system.row[:, None])
    residual = system.column - c
    start = np.abs(residual).sum()
    rest = []
    for goal in (0.0, 2 * start, 4 * start):
        step, inner = _direction(system, now, goal=goal, damping=damping)
        rest.append((inner, np.abs(residual - hessian @ step).sum() / start))
    assert rest[0][1] <= 0.1 + 1e-9
    assert rest[1][1] <= 0.6 + 1e-9
    assert rest[2][0] == 1
    assert [inner for inner, _ in rest] == sorted((inner for inner, _ in rest), reverse=True)


@pytest.mark.parametrize(("kind", "damping", "most"), [("dense", 0.02, 9), ("sparse", 0.0, 13)])
def test_columns_of_very_different_weight_cost_few_steps(kind, damping, most):
    """Weights from 1 to exp(10), epsilon .005; counted on one machine, with a quarter on top."""
    system, now, _ = task(kind, n=100, m=110, spread=10.0, epsilon=0.005)
    assert _direction(system, now, goal=0.0, damping=damping)[1] <= most


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_step_is_taken_where_it_pays(kind):
    system, now, _ = task(kind)
    after, accepted = _newton_step(system, now, goal=1e-9, damping=0.02)
    step, inner = _direction(system, now, goal=1e-9, damping=0.02)
    assert accepted
    assert after.error < now.error
    assert after.sweeps == now.sweeps + inner + 1
    np.testing.assert_allclose(after.v, now.v * np.exp(step))


def test_a_step_that_does_not_pay_leaves_things_as_they_are():
    """At the solution no step is better."""
    system, now, _ = task("dense")
    there = now._replace(error=0.0)
    after, accepted = _newton_step(system, there, goal=1e-9, damping=0.02)
    assert not accepted
    assert after.v is now.v
    assert after.sweeps == now.sweeps + _direction(system, there, goal=1e-9, damping=0.02)[1] + 1


def test_a_step_that_is_too_long_is_not_tried():
    """A column that hardly anything reaches has to grow a thousandfold: the step is longer than 3 = log 20."""
    matrix = np.array([[1.0, 1e-3], [1.0, 1e-3]])
    half = np.full(2, 0.5)
    system = _System(matrix, matrix.T, None, half, half)
    now = system.at(np.ones(2), 1)
    step, inner = _direction(system, now, goal=1e-9, damping=0.0)
    assert np.abs(step).max() > 3
    after, accepted = _newton_step(system, now, goal=1e-9, damping=0.0)
    assert not accepted
    assert after.v is now.v
    assert after.sweeps == now.sweeps + inner
