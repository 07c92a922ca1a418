"""Shams of plans take away what they say and leave the rest."""

import numpy as np
import pytest
import torch

from assay.controls.plans import (
    PLAN_CONTROLS,
    identity_coupling,
    norm_matched,
    plan_shuffled,
    sample_shuffled,
    shrink,
    uniform,
)
from assay.errors import EstimateError
from assay.seeds import stream
from assay.transport.cost import correlation_cost
from assay.transport.coupling import Coupling
from assay.transport.exact import exact_plan
from assay.transport.sinkhorn import entropic_plan


def coupling(n=30, m=40, seed=0):
    return entropic_plan(np.random.default_rng(seed).random((n, m)), epsilon=0.02).checked()


def test_names():
    assert list(PLAN_CONTROLS) == [
        "alpha0",
        "shrink",
        "uniform",
        "plan_shuffled",
        "sample_shuffled",
        "norm_matched",
        "identity",
    ]
    assert [name for name, control in PLAN_CONTROLS.items() if control.dose != 1] == ["alpha0"]


def test_plan_shuffled_keeps_norms_and_singular_values():
    real = coupling()
    sham = plan_shuffled(real, rng=stream(0, "sham"))
    assert not np.array_equal(sham.matrix, real.matrix)
    one, other = real.barycentric(), sham.barycentric()
    np.testing.assert_allclose(other.matrix.sum(axis=1), 1)
    assert other.concentration == pytest.approx(one.concentration, rel=1e-12)
    np.testing.assert_allclose(*(np.linalg.svd(phi.matrix, compute_uv=False) for phi in (one, other)), atol=1e-12)


def test_plan_shuffled_moves_marginals_along():
    column = np.arange(1, 6) / 15
    real = Coupling(np.outer(np.full(3, 1 / 3), column), np.full(3, 1 / 3), column)
    sham = plan_shuffled(real, rng=stream(0, "sham"))
    np.testing.assert_allclose(sham.matrix.sum(axis=0), sham.column_marginal)


def test_uniform_is_the_product_of_the_marginals():
    assert np.ptp(uniform(coupling(), rng=stream(0)).matrix) < 1e-18


def test_identity():
    square = coupling(30, 30)
    np.testing.assert_allclose(identity_coupling(square, rng=stream(0)).barycentric().matrix, np.eye(30))
    with pytest.raises(EstimateError, match="30 recipient and 40 donor neurons"):
        identity_coupling(coupling(), rng=stream(0))


def test_sample_shuffled_keeps_rows_and_loses_correlation():
    rows = np.random.default_rng(0).standard_normal((300, 20))
    sham = sample_shuffled(rows, rng=stream(0, "rows"))
    assert sorted(map(tuple, sham)) == sorted(map(tuple, rows))
    assert exact_plan(correlation_cost(rows, rows).matrix).cost < 1e-6
    assert exact_plan(correlation_cost(rows, sham).matrix).cost > 0.8


def test_on_what_is_carried():
    carried, weight = torch.randn(3, 4, dtype=torch.float64), torch.randn(3, 4, dtype=torch.float64)
    assert not shrink(carried, weight).any()
    matched = norm_matched(carried, weight)
    assert float(matched.norm()) == pytest.approx(float(weight.norm()))
    torch.testing.assert_close(matched / matched.norm(), carried / carried.norm())
    with pytest.raises(EstimateError, match="carried weight is 0"):
        norm_matched(torch.zeros(3, 4), weight)


def test_t18_unrelated_activations_are_no_better_than_shuffled_ones():
    rng = np.random.default_rng(5)
    left, right = rng.standard_normal((2, 200, 60))
    real = exact_plan(correlation_cost(left, right).matrix).cost
    shams = [
        exact_plan(correlation_cost(left, sample_shuffled(right, rng=stream(0, "t18", r))).matrix).cost
        for r in range(8)
    ]
    assert abs(real - np.mean(shams)) < 3 * np.std(shams, ddof=1)
    related = exact_plan(correlation_cost(left, left + 2 * right).matrix).cost
    assert np.mean(shams) - related > 3 * np.std(shams, ddof=1)
