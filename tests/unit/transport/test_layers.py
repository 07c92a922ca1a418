"""Layer couplings: every donor layer within reach, no recipient layer left with nothing."""

import numpy as np
import pytest

from assay.errors import ConvergenceError, EstimateError, ShapeError
from assay.transport.coupling import BarycentricMap, Coupling
from assay.transport.layers import donor_shares, effective_layers, layer_costs, layer_plan
from assay.transport.sinkhorn import entropic_plan


def banded(n, m, noise=0.002, spread=0.06, seed=0):
    """Layer costs that grow with the distance in relative depth."""
    depth = np.abs(np.linspace(0, 1, n)[:, None] - np.linspace(0, 1, m))
    return 0.7 + spread * depth + noise * np.random.default_rng(seed).standard_normal((n, m))


@pytest.mark.parametrize(("n", "m"), [(8, 4), (4, 8)])
def test_t6_every_layer_is_reached(n, m):
    """D2, D3: a zip of the layers would stop at the shorter model."""
    plan = layer_plan(banded(n, m), eta=0.1, normalise="median")
    coupling = plan.checked()
    np.testing.assert_allclose(coupling.matrix.sum(axis=1), 1 / n, atol=1e-8)
    np.testing.assert_allclose(coupling.matrix.sum(axis=0), 1 / m, atol=1e-8)
    shares = donor_shares(effective_layers(coupling, coupling), n_donor_layers=3)
    np.testing.assert_allclose(shares.matrix.sum(axis=1), 1)
    assert (shares.matrix.sum(axis=0) > 0).all()
    assert (np.count_nonzero(shares.matrix, axis=1) == 3).all()


def test_raw_eta_is_nearly_a_uniform_average():
    """transport.md 2.4: 16 x 24 layers, range .06: eta .1 leaves 23.8 effective donors raw, a handful normalised."""
    costs = banded(16, 24, noise=0.004)
    effective = {}
    for normalise in ("none", "median"):
        rows = layer_plan(costs, eta=0.1, normalise=normalise).checked().barycentric().matrix
        effective[normalise] = np.exp(-(rows * np.log(rows)).sum(axis=1)).mean()
    assert effective["none"] > 23
    assert effective["median"] < 10


def test_shares_keep_the_heaviest_and_break_ties_downwards():
    weights = np.array([[0.1, 0.4, 0.4, 0.1], [0.0, 0.0, 1.0, 0.0]])
    np.testing.assert_allclose(donor_shares(weights, n_donor_layers=1).matrix, [[0, 1, 0, 0], [0, 0, 1, 0]])
    np.testing.assert_allclose(donor_shares(weights, n_donor_layers=3).matrix[0], [1 / 9, 4 / 9, 4 / 9, 0])
    assert isinstance(donor_shares(weights, n_donor_layers=9), BarycentricMap)
    np.testing.assert_allclose(donor_shares(np.ones((1, 40)), n_donor_layers=2).matrix[0, :3], [0.5, 0.5, 0])
    tied = np.random.default_rng(0).integers(1, 4, (20, 200))
    heaviest = [sorted(range(200), key=lambda layer, row=row: (-row[layer], layer))[:5] for row in tied]
    assert [list(np.flatnonzero(row)) for row in donor_shares(tied, n_donor_layers=5).matrix] == [
        sorted(one) for one in heaviest
    ]
    counts = np.array([[0, 3, 2]], dtype=np.uint8)
    np.testing.assert_array_equal(donor_shares(counts, n_donor_layers=1).matrix, [[0, 1, 0]])


def test_layer_plans_are_solved_in_float64():
    """Cost to the median after the least is taken off: (0, 1, 2, 3) becomes (0, 2/3, 4/3, 2)."""
    costs = np.array([[5, 6], [7, 8]], dtype=np.float32)
    plan = layer_plan(costs, eta=0.1, normalise="median")
    assert (plan.dtype, plan.tolerance) == ("float64", 1e-8)
    wanted = layer_plan(np.array([[0.0, 2 / 3], [4 / 3, 2.0]]), eta=0.1, normalise="none")
    np.testing.assert_allclose(plan.matrix, wanted.matrix, atol=1e-12)


def test_effective_rows_sum_to_at_most_one_over_n():
    rng = np.random.default_rng(0)
    plans = [layer_plan(rng.random((5, 6)), eta=0.1, normalise="none").checked() for _ in range(2)]
    assert (effective_layers(*plans).sum(axis=1) <= 1 / 5 + 1e-12).all()
    with pytest.raises(ShapeError, match=r"\(5, 6\) and \(5, 5\)"):
        effective_layers(plans[0], Coupling.independent(5, 5))


def test_layer_costs_refuse_what_has_not_converged():
    good = entropic_plan(np.eye(3), epsilon=0.1)
    bad = entropic_plan(np.random.default_rng(0).random((30, 30)), epsilon=1e-3, max_sweeps=1)
    np.testing.assert_allclose(layer_costs([[good, good]]), [[good.cost, good.cost]])
    with pytest.raises(ConvergenceError):
        layer_costs([[good, bad]])
    for plans, lengths in (([[good], [good, good]], r"\[1, 2\]"), ([], r"\[\]"), ([[]], r"\[0\]")):
        with pytest.raises(ShapeError, match=rf"rows of {lengths} plans"):
            layer_costs(plans)


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: layer_plan(np.ones((2, 2)), eta=0.1, normalise="median"), EstimateError, "median of 4"),
        (lambda: layer_plan(np.ones((2, 2)), eta=0.1, normalise="mean"), EstimateError, "normalise 'mean'"),
        (lambda: donor_shares(np.ones((2, 2)), n_donor_layers=0), EstimateError, "0 donor layers"),
        (lambda: donor_shares(np.zeros((2, 2)), n_donor_layers=1), EstimateError, "recipient layer 0 has no donor"),
        (lambda: donor_shares(np.ones(2), n_donor_layers=1), ShapeError, r"shape \(2,\)"),
        (lambda: donor_shares(np.ones((2, 0)), n_donor_layers=1), ShapeError, r"shape \(2, 0\)"),
        (lambda: donor_shares(np.array([[1, np.inf]]), n_donor_layers=1), EstimateError, "weights from 1.0 to inf"),
        (lambda: donor_shares(np.array([[1, -0.5]]), n_donor_layers=1), EstimateError, "weights from -0.5 to 1.0"),
    ],
)
def test_refused(act, error, message):
    with pytest.raises(error, match=message):
        act()
