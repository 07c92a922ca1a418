"""Carried weights: scale, direction, and the two input-side conventions."""

import numpy as np
import pytest
import torch

from assay.errors import EstimateError, ShapeError
from assay.merge.carrying import carried_bias, carried_weight, sd_ratio
from assay.merge.selection import Selection
from assay.transport.cost import correlation_cost
from assay.transport.coupling import Coupling
from assay.transport.sinkhorn import entropic_plan


def plan_of(recipient, donor, epsilon=0.02):
    return entropic_plan(correlation_cost(recipient, donor, storage="float64").matrix, epsilon=epsilon).checked()


def activations(width, seed, rows=400):
    return np.random.default_rng(seed).standard_normal((rows, width))


def weight(n_out=12, n_in=8, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((n_out, n_in)))


def test_t1_donor_is_recipient():
    before, after, own = activations(8, 1), activations(12, 2), weight()
    moved = carried_weight(
        own, out=plan_of(after, after, 0.01), into=plan_of(before, before, 0.01), convention="function"
    )
    assert float((moved - own).abs().max()) < 1e-3


def test_t2_permuted_neurons_are_found_and_the_function_is_kept():
    rng = np.random.default_rng(3)
    inputs, first, second = activations(8, 1), weight(), weight(5, 12, seed=1)
    hidden = np.maximum(inputs @ first.numpy().T, 0)
    order = rng.permutation(12)
    first_donor, second_donor = first[order], second[:, order]
    logits = hidden @ second.numpy().T
    np.testing.assert_allclose(hidden[:, order] @ second_donor.numpy().T, logits, atol=1e-12)
    into, middle = plan_of(inputs, inputs, 0.01), plan_of(hidden, hidden[:, order], 0.01)
    np.testing.assert_array_equal(order[middle.matrix.argmax(axis=1)], np.arange(12))
    out = plan_of(logits, logits, 0.01)
    up = carried_weight(first_donor, out=middle, into=into, convention="function")
    down = carried_weight(second_donor, out=out, into=middle, convention="function")
    again = np.maximum(inputs @ up.numpy().T, 0) @ down.numpy().T
    np.testing.assert_allclose(again, logits, atol=1e-2)


@pytest.mark.parametrize(("convention", "scale"), [("function", 1.0), ("seed", 2.0)])
def test_t3_doubled_neurons(convention, scale):
    """Recipient = donor with every neuron doubled (weights halved): the function convention is exact, the seed
    convention off by n_recipient / n_donor on the input side."""
    before, after, own = activations(8, 1), activations(12, 2), weight()
    twice = [np.repeat(rows, 2, axis=1) for rows in (before, after)]
    into, out = plan_of(twice[0], before, 0.01), plan_of(twice[1], after, 0.01)
    moved = carried_weight(own, out=out, into=into, convention=convention)
    doubled = np.repeat(np.repeat(own.numpy(), 2, axis=0), 2, axis=1) / 2
    np.testing.assert_allclose(moved.numpy(), scale * doubled, atol=2e-3)
    if convention == "function":
        np.testing.assert_allclose(twice[0] @ moved.numpy().T, np.repeat(before @ own.numpy().T, 2, axis=1), atol=0.02)


@pytest.mark.parametrize(("n_recipient", "n_donor"), [(6, 8), (10, 8)])
def test_the_conventions_differ_by_the_widths(n_recipient, n_donor):
    into, out = Coupling.independent(n_recipient, n_donor), Coupling.independent(4, 12)
    function, seed = (carried_weight(weight(), out=out, into=into, convention=c) for c in ("function", "seed"))
    torch.testing.assert_close(seed, function * n_recipient / n_donor)


def test_published_couplings_vanish():
    into, out = Coupling.independent(8, 8), Coupling.independent(12, 12)
    function, published = (
        carried_weight(weight(), out=out, into=into, convention=c) for c in ("function", "published")
    )
    torch.testing.assert_close(published, function / (8 * 12))


@pytest.mark.parametrize("side", ["out", "in"])
def test_only_the_selected_part_is_computed(side):
    into, out = plan_of(activations(7, 1), activations(8, 2)), plan_of(activations(9, 3), activations(12, 4))
    index = np.array([1, 4])
    whole = carried_weight(weight(), out=out, into=into, convention="function")
    part = carried_weight(weight(), out=out, into=into, convention="function", selection=Selection(side, index))
    torch.testing.assert_close(part, whole[index] if side == "out" else whole[:, index])


@pytest.mark.parametrize(
    ("given", "computed"), [("float16", "float32"), ("bfloat16", "float32"), ("float64", "float64")]
)
def test_t20_types(given, computed):
    couplings = {"out": Coupling.independent(3, 12), "into": Coupling.independent(4, 8)}
    moved = carried_weight(weight().to(getattr(torch, given)), convention="function", **couplings)
    assert moved.dtype == getattr(torch, computed)


def test_bias():
    out = plan_of(activations(9, 3), activations(12, 4))
    bias = torch.arange(12, dtype=torch.float64)
    np.testing.assert_allclose(
        carried_bias(bias, out=out, convention="function").numpy(), out.barycentric().matrix @ bias.numpy()
    )
    with pytest.raises(ShapeError, match="12 donor neurons"):
        carried_bias(bias[:5], out=out, convention="function")


def test_sd_ratio_gives_back_the_scale():
    donor = activations(12, 4)
    recipient = donor * np.arange(1, 13)
    phi = plan_of(recipient, donor, 0.01).barycentric()
    ratio = sd_ratio(phi, recipient_sd=recipient.std(axis=0), donor_sd=donor.std(axis=0))
    np.testing.assert_allclose(ratio, np.arange(1, 13), rtol=1e-3)
    with pytest.raises(EstimateError, match="is 0 or not finite"):
        sd_ratio(phi, recipient_sd=np.zeros(12), donor_sd=np.ones(12))
    with pytest.raises(ShapeError, match="recipient deviations"):
        sd_ratio(phi, recipient_sd=np.ones(3), donor_sd=np.ones(12))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"convention": "raw"}, EstimateError, "convention 'raw'"),
        ({"out": Coupling.independent(3, 11)}, ShapeError, "11 donor outputs and 8 donor inputs"),
        ({"selection": Selection("in", np.array([4]))}, ShapeError, "up to 4, the recipient has 4"),
    ],
)
def test_refused(given, error, message):
    good = {"out": Coupling.independent(3, 12), "into": Coupling.independent(4, 8), "convention": "function"}
    with pytest.raises(error, match=message):
        carried_weight(weight(), **good | given)
