"""Kernels in a shifted exponent domain: right where the plain one is all zero."""

import warnings

import numpy as np
import pytest

from assay.transport.kernel import absorbed, log_sweep, minima, sweep
from assay.transport.plan import Potentials
from assay.transport.problem import checked_problem


def problem(cost, epsilon):
    return checked_problem(cost, epsilon=epsilon, row_marginal=None, column_marginal=None, caller="test")


def test_minima_leave_a_zero_in_every_row_and_column(factor_cost):
    cost = factor_cost(30, 40)
    f, g = minima(cost)
    rest = cost - f[:, None] - g
    assert rest.min() >= -1e-15
    assert (np.abs(rest) < 1e-15).any(axis=0).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("epsilon", [0.1, 1e-3, 1e-6])
def test_every_row_and_column_keeps_a_one(factor_cost, dtype, epsilon):
    cost = factor_cost(50, 60, dtype=dtype)
    kernel = absorbed(problem(cost, epsilon), minima(cost))
    assert kernel.matrix.max(axis=1).min() >= (0.5 if epsilon > 1e-6 else 0.3)
    assert kernel.matrix.dtype == dtype
    small = kernel.matrix[kernel.matrix > 0].min()
    assert small > np.finfo(dtype).tiny


def test_what_rounding_loses_stays_in_the_scalings(factor_cost):
    cost = factor_cost(20, 20, dtype=np.float32)
    potentials = Potentials(np.full(20, 1 / 3), np.full(20, 0.1))
    kernel = absorbed(problem(cost, 1e-3), potentials)
    np.testing.assert_allclose(kernel.potentials(1e-3).row, 1 / 3, rtol=0, atol=1e-12)
    assert np.abs(kernel.u - 1).max() > 1e-6


def test_log_sweep_is_a_sweep(factor_cost):
    cost = factor_cost(30, 40)
    task = problem(cost, 0.05)
    swept = sweep(absorbed(task, minima(cost)), task)
    updated = swept.kernel._replace(v=swept.next_v).potentials(0.05)
    for ours, logs in zip(updated, log_sweep(task, minima(cost)), strict=True):
        np.testing.assert_allclose(ours, logs, atol=1e-12)


def test_a_sum_that_underflows_is_rescued_in_the_log_domain():
    """Donor 0 is cheap for both; donor 1 is out of reach of exp in float32 once the rows are updated."""
    cost = np.array([[0.0, 1.0], [0.0, 3.0]], dtype=np.float32)
    task = problem(cost, 1e-3)
    with np.errstate(divide="ignore"):
        swept = sweep(absorbed(task, Potentials(np.zeros(2), np.zeros(2))), task)
    assert np.isfinite(swept.error)
    assert np.isfinite(swept.next_v).all()
    for _ in range(20):
        swept = sweep(swept.kernel._replace(v=swept.next_v), task)
    np.testing.assert_allclose(swept.kernel.plan(), [[0, 0.5], [0.5, 0]], atol=0.02)


def test_plan_is_the_scaled_kernel(factor_cost):
    cost = factor_cost(300, 700)
    task = problem(cost, 0.05)
    kernel = sweep(absorbed(task, minima(cost)), task).kernel
    wanted = kernel.u[:, None] * kernel.matrix * kernel.v
    np.testing.assert_allclose(kernel.plan(), wanted, rtol=1e-14)


def test_log_sweep_over_several_blocks(factor_cost):
    """Against the sums written out at a large epsilon, and at a small one against the marginals."""
    cost = factor_cost(300, 700)
    f, g = log_sweep(problem(cost, 0.5), Potentials(np.zeros(300), np.linspace(0, 1, 700)))
    np.testing.assert_allclose(f, -0.5 * np.log(300 * np.exp((np.linspace(0, 1, 700) - cost) / 0.5).sum(axis=1)))
    np.testing.assert_allclose(g, -0.5 * np.log(700 * np.exp((f[:, None] - cost) / 0.5).sum(axis=0)))
    for epsilon in (0.05, 1e-3):
        plan = log_sweep(problem(cost, epsilon), minima(cost)).matrix(cost, epsilon=epsilon)
        np.testing.assert_allclose(plan.sum(axis=0), 1 / 700, rtol=1e-9)


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 2e-5), ("float64", 1e-12)])
def test_a_kernel_over_several_blocks_is_its_formula(factor_cost, dtype, rtol):
    cost = factor_cost(300, 1400, dtype=dtype)
    rng = np.random.default_rng(1)
    given = Potentials(rng.random(300), rng.random(1400))
    store = np.full_like(cost, np.nan)
    kernel = absorbed(problem(cost, 0.2), given, out=store)
    assert kernel.matrix is store
    f, g = (potential.astype(dtype).astype(float) for potential in given)
    np.testing.assert_allclose(kernel.matrix, np.exp((f[:, None] + g - cost) / 0.2), rtol=rtol)
    for ours, wanted in zip(kernel.potentials(0.2), given, strict=True):
        assert ours.dtype == np.float64
        np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("dtype", "kept", "flushed"), [("float32", 68, 70), ("float64", 575, 577)])
def test_entries_too_small_for_the_type_are_zero(dtype, kept, flushed):
    """exp(-69) is 1e-30, exp(-575.6) is 1e-250."""
    cost = np.array([[0, kept, flushed]], dtype=dtype)
    matrix = absorbed(problem(cost, 1.0), Potentials(np.zeros(1), np.zeros(3))).matrix
    assert matrix[0, 0] == 1
    assert 0.3 * np.exp(-kept) < matrix[0, 1] < np.exp(-kept)
    assert matrix[0, 2] == 0


def test_minima_over_several_blocks(factor_cost):
    cost = factor_cost(300, 700)
    f, g = minima(cost)
    np.testing.assert_array_equal(f, cost.min(axis=1))
    np.testing.assert_array_equal(g, (cost - f[:, None]).min(axis=0))


def test_a_sweep_by_hand():
    """u = (.3 / 1.5, .7 / 1.25); K'u = (.34, .66), which misses (.4, .6) by .12."""
    cost = -np.log([[1.0, 0.5], [0.25, 1.0]])
    task = checked_problem(
        cost, epsilon=1.0, row_marginal=np.array([0.3, 0.7]), column_marginal=np.array([0.4, 0.6]), caller="test"
    )
    swept = sweep(absorbed(task, Potentials(np.zeros(2), np.zeros(2))), task)
    np.testing.assert_allclose(swept.kernel.u, [0.2, 0.56])
    assert swept.error == pytest.approx(0.12)
    np.testing.assert_allclose(swept.next_v, [0.4 / 0.34, 0.6 / 0.66])


@pytest.mark.parametrize(("dtype", "digits"), [("float32", 6), ("float64", 60)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_scalings_are_absorbed_where_they_leave_their_range(dtype, digits, sign):
    """Equal costs c: u = exp(c) / 4 after the first row update, absorbed only beyond 1e6 (float32) or 1e60."""
    for factor, absorbs in ((0.7, False), (1.5, True)):
        cost = np.full((2, 2), np.log(4.0) + sign * np.log(factor * 10.0**digits), dtype=dtype)
        task = problem(cost, 1.0)
        swept = sweep(absorbed(task, Potentials(np.zeros(2), np.zeros(2))), task)
        assert (np.abs(np.log(swept.kernel.u)).max() < 1) == absorbs
        assert (np.abs(swept.kernel.f).min() > 1) == absorbs
        np.testing.assert_allclose(swept.kernel.plan(), 0.25, rtol=1e-5)


@pytest.mark.parametrize("digits", [6, 8])
def test_column_scalings_are_absorbed_too(digits):
    """The second donor is out of reach by a factor: v grows where u does not."""
    cost = np.array([[0.0, np.log(10.0**digits)]] * 2, dtype=np.float32)
    task = problem(cost, 1.0)
    swept = sweep(absorbed(task, Potentials(np.zeros(2), np.zeros(2))), task)
    assert (swept.next_v.max() < 2) == (digits > 6)


def test_a_scaling_of_zero_is_a_potential_of_minus_infinity():
    kernel = absorbed(problem(np.zeros((2, 2)), 1.0), Potentials(np.zeros(2), np.zeros(2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel._replace(v=np.array([0.0, 1.0])).potentials(1.0).column.tolist() == [-np.inf, 0.0]
