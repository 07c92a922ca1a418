"""What every coupling keeps to, whoever made it: solvers, shams, closed forms. Each law has a twin that breaks it."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from assay.controls.plans import PLAN_CONTROLS
from assay.errors import AssayError, ConvergenceError
from assay.seeds import stream
from assay.transport.coupling import BarycentricMap, Coupling
from assay.transport.exact import exact_plan, log_domain_plan
from assay.transport.plan import PlanStatus
from assay.transport.sinkhorn import entropic_plan


class Task(NamedTuple):
    cost: np.ndarray
    row: np.ndarray
    column: np.ndarray
    epsilon: float


def entropic(task):
    return entropic_plan(
        task.cost, epsilon=task.epsilon, row_marginal=task.row, column_marginal=task.column, tolerance=1e-10
    ).checked()


def entropic_float32(task):
    cost = task.cost.astype(np.float32)
    return entropic_plan(cost, epsilon=task.epsilon, row_marginal=task.row, column_marginal=task.column).checked()


def log_domain(task):
    return log_domain_plan(
        task.cost, epsilon=max(task.epsilon, 0.05), row_marginal=task.row, column_marginal=task.column, tolerance=1e-6
    ).checked()


def exact(task):
    return exact_plan(task.cost, row_marginal=task.row, column_marginal=task.column).checked()


def by_control(name):
    return lambda task: PLAN_CONTROLS[name].coupling(entropic(task), rng=stream(0, "law", name))


MAKERS = {"entropic": entropic, "entropic_float32": entropic_float32, "log_domain": log_domain, "exact": exact}
COUPLINGS = MAKERS | {name: by_control(name) for name in PLAN_CONTROLS if name != "identity"}
ENTROPIC = {"entropic": entropic, "entropic_float32": entropic_float32}
TOLERANCE = {"entropic_float32": 1.1e-4, "log_domain": 1e-6, "exact": 1e-8}


@st.composite
def tasks(draw, *, least_epsilon=0.01):
    """Any widths from 1, uniform or skewed marginals; costs smooth, tied, constant, duplicated or widely spread."""
    n, m = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    kind = draw(st.sampled_from(["smooth", "tied", "constant", "duplicated", "spread", "negative"]))
    cost = {
        "smooth": lambda: rng.random((n, m)),
        "tied": lambda: rng.integers(0, 3, (n, m)) / 2,
        "constant": lambda: np.full((n, m), 1.0),
        "duplicated": lambda: np.repeat(rng.random((1, m)), n, axis=0),
        "spread": lambda: rng.random((n, 1)) * 30 + rng.random((n, m)),
        "negative": lambda: rng.standard_normal((n, m)) * 0.3 - 5,
    }[kind]()
    skewed = draw(st.booleans())
    row, column = (rng.random(k) + 0.1 if skewed else np.ones(k) for k in (n, m))
    return Task(cost, row / row.sum(), column / column.sum(), draw(st.sampled_from([0.5, 0.05, least_epsilon])))


def law_marginals(matrix, task, tolerance):
    assert np.abs(matrix.sum(axis=1) - task.row).sum() <= tolerance
    assert np.abs(np.sort(matrix.sum(axis=0)) - np.sort(task.column)).sum() <= tolerance


def law_nonnegative(matrix):
    assert np.isfinite(matrix).all()
    assert matrix.min() >= 0
    assert matrix.sum() == pytest.approx(1, abs=1e-4)


def law_row_stochastic(phi):
    sums = phi.sum(axis=1)
    np.testing.assert_allclose(sums, 1, atol=1e-9)
    assert phi.min() >= 0
    assert phi.max() <= 1 + 1e-9


def law_equivariance(make, task, rng, tolerance):
    rows, columns = rng.permutation(len(task.row)), rng.permutation(len(task.column))
    moved = Task(task.cost[rows][:, columns], task.row[rows], task.column[columns], task.epsilon)
    np.testing.assert_allclose(make(moved), make(task)[rows][:, columns], atol=tolerance)


def solved(make, task):
    """What a member makes of a task. One that it says it has not solved belongs to `test_a_status_whatever_comes`."""
    try:
        return make(task)
    except ConvergenceError:
        reject()


def law_large_epsilon(make, task):
    """The limit is a b'."""
    np.testing.assert_allclose(make(task._replace(epsilon=1e4)), np.outer(task.row, task.column), atol=2e-4)


def law_small_epsilon(make, task):
    """Within epsilon log min(n, m), plus the entropy that skewed marginals add, of the exact cost, and not below."""
    best, small = exact(task), 0.005
    cost = (make(task._replace(epsilon=small)) * task.cost).sum()
    entropy = -(task.row @ np.log(task.row)) - (task.column @ np.log(task.column))
    slack = 1e-3 * (1 + np.abs(task.cost).max())
    assert -slack <= cost - (best.matrix * task.cost).sum() <= small * entropy + slack


@pytest.mark.parametrize("name", COUPLINGS)
@given(task=tasks())
def test_marginals_and_signs(name, task):
    coupling = solved(COUPLINGS[name], task)
    law_marginals(coupling.matrix, task, TOLERANCE.get(name, 1e-9))
    law_nonnegative(coupling.matrix)
    assert coupling.matrix.shape == task.cost.shape


@pytest.mark.parametrize("name", COUPLINGS)
@given(task=tasks())
def test_barycentric_maps_are_row_stochastic_in_both_directions(name, task):
    coupling = solved(COUPLINGS[name], task)
    for one in (coupling, coupling.reversed):
        phi = one.barycentric()
        law_row_stochastic(phi.matrix)
        assert 1 / phi.matrix.shape[1] - 1e-9 <= phi.concentration <= 1 + 1e-9
        np.testing.assert_allclose(phi.applied(np.full(phi.matrix.shape[1], 7.0)), 7.0)
        np.testing.assert_allclose(
            phi.coupling(one.matrix.sum(axis=1) / one.matrix.sum()).matrix, one.matrix, atol=1e-4
        )


@pytest.mark.parametrize("name", ["entropic", "log_domain"])
@given(task=tasks(), seed=st.integers(0, 99))
def test_permutation_equivariance(name, task, seed):
    tolerance = {"entropic": 1e-6, "log_domain": 1e-4}[name]
    law_equivariance(lambda t: solved(MAKERS[name], t).matrix, task, np.random.default_rng(seed), tolerance)


@pytest.mark.parametrize("name", ENTROPIC)
@given(task=tasks())
def test_epsilon_limits(name, task):
    law_large_epsilon(lambda t: solved(ENTROPIC[name], t).matrix, task)
    law_small_epsilon(lambda t: solved(ENTROPIC[name], t).matrix, task)


@given(task=tasks(least_epsilon=1e-6), dtype=st.sampled_from(["float32", "float64"]), sweeps=st.sampled_from([1, 40]))
def test_a_status_whatever_comes(task, dtype, sweeps):
    """Any epsilon, any number of sweeps: finite, of mass about 1, and converged only if it is."""
    plan = entropic_plan(
        task.cost.astype(dtype),
        epsilon=task.epsilon,
        row_marginal=task.row,
        column_marginal=task.column,
        max_sweeps=sweeps,
    )
    assert plan.status in (PlanStatus.CONVERGED, PlanStatus.MAX_SWEEPS)
    law_nonnegative(plan.matrix)
    missed = np.abs(plan.matrix.sum(axis=0, dtype=float) - task.column).sum()
    assert (plan.status is PlanStatus.CONVERGED) == (max(missed, plan.row_error) <= plan.tolerance)
    assert plan.dual_bound <= plan.rounded_cost + 1e-5 * (1 + np.abs(task.cost).max())


@given(task=tasks())
def test_dual_bound_exact_cost_rounded_cost(task):
    plan = entropic_plan(task.cost, epsilon=task.epsilon, row_marginal=task.row, column_marginal=task.column)
    best = (exact(task).matrix * task.cost).sum()
    slack = 1e-9 * (1 + np.abs(task.cost).max())
    assert plan.dual_bound - slack <= best <= plan.rounded_cost + slack


TASK = Task(np.array([[0.0, 1.0, 0.4], [0.7, 0.1, 0.9]]), np.array([0.3, 0.7]), np.array([0.2, 0.5, 0.3]), 0.05)


def one_sided(task):
    kernel = np.exp(-task.cost / task.epsilon)
    return task.row[:, None] * kernel / kernel.sum(axis=1, keepdims=True)


def least_squares(task):
    free = np.outer(task.row, task.column) - 2 * (task.cost - task.cost.mean())
    free -= (free.sum(axis=1) - task.row)[:, None] / free.shape[1]
    return free - (free.sum(axis=0) - task.column) / free.shape[0]


def by_place(task):
    place = np.arange(task.cost.size).reshape(task.cost.shape) / task.cost.size
    return entropic(task._replace(cost=task.cost + place**2)).matrix


TWINS = {
    "marginals: columns never updated": lambda: law_marginals(one_sided(TASK), TASK, 1e-9),
    "nonnegative: a least-squares plan": lambda: law_nonnegative(least_squares(TASK)),
    "nonnegative: a plan of zeros": lambda: law_nonnegative(np.zeros((2, 3))),
    "nonnegative: a plan of NaN": lambda: law_nonnegative(np.full((2, 3), np.nan)),
    "row-stochastic: the coupling itself": lambda: law_row_stochastic(entropic(TASK).matrix),
    "row-stochastic: n times it, with skewed marginals": lambda: law_row_stochastic(2 * entropic(TASK).matrix),
    "equivariance: costs by place": lambda: law_equivariance(by_place, TASK, np.random.default_rng(0), 1e-6),
    "large epsilon: epsilon ignored": lambda: law_large_epsilon(lambda t: entropic(TASK).matrix, TASK),
    "small epsilon: epsilon ignored": lambda: law_small_epsilon(
        lambda t: entropic(TASK._replace(epsilon=1.0)).matrix, TASK
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_each_law_can_fail(name):
    with pytest.raises(AssertionError):
        TWINS[name]()


def test_the_types_refuse_the_twins():
    for wrong in (one_sided(TASK), least_squares(TASK), np.zeros((2, 3)), 3 * entropic(TASK).matrix):
        with pytest.raises(AssayError):
            Coupling(wrong, TASK.row, TASK.column)
        with pytest.raises(AssayError):
            BarycentricMap(wrong)
