"""Carried weights are two matrix products, each convention with its own; what does not fit is named."""

import numpy as np
import pytest
import torch

from assay.errors import EstimateError, ShapeError
from assay.merge.carrying import carried_bias, carried_weight, sd_ratio, working_dtype
from assay.merge.selection import Selection
from assay.transport.coupling import BarycentricMap

HALF, SINGLE, DOUBLE = torch.float16, torch.float32, torch.float64


def coupling(n, m, seed):
    """Some coupling with uniform rows; its columns are what they are."""
    rows = np.random.default_rng(seed).random((n, m))
    return BarycentricMap(rows / rows.sum(axis=1, keepdims=True)).coupling()


OUT, INTO = coupling(3, 4, 0), coupling(2, 5, 1)
WEIGHT = torch.from_numpy(np.random.default_rng(2).standard_normal((4, 5)))
BIAS = torch.from_numpy(np.random.default_rng(3).standard_normal(4))


def maps(convention):
    phi = OUT.matrix / OUT.matrix.sum(axis=1, keepdims=True)
    if convention == "published":
        return OUT.matrix, INTO.matrix.T
    if convention == "seed":
        return phi, (INTO.matrix / INTO.matrix.sum(axis=1, keepdims=True)).T
    return phi, INTO.matrix.T / INTO.matrix.sum(axis=0)[:, None]


CONVENTIONS = ["function", "seed", "published"]


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_each_convention_is_two_matrices(convention):
    left, right = maps(convention)
    whole = left @ WEIGHT.numpy() @ right
    np.testing.assert_allclose(carried_weight(WEIGHT, out=OUT, into=INTO, convention=convention), whole, rtol=1e-12)
    for selection, expected in (
        (Selection("out", np.array([0, 2])), whole[[0, 2]]),
        (Selection("in", np.array([1])), whole[:, [1]]),
        (Selection("in", np.array([], dtype=np.int64)), whole[:, []]),
        (Selection("out", np.array([], dtype=np.int64)), whole[[]]),
    ):
        found = carried_weight(WEIGHT, out=OUT, into=INTO, convention=convention, selection=selection)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(carried_bias(BIAS, out=OUT, convention=convention), left @ BIAS.numpy(), rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "computed"), [(HALF, SINGLE), (torch.bfloat16, SINGLE), (SINGLE, SINGLE), (DOUBLE, DOUBLE)]
)
def test_types_of_computation(given, computed):
    assert working_dtype(WEIGHT.to(given)) == computed
    assert carried_bias(BIAS.to(given), out=OUT, convention="function").dtype == computed
    tracked = WEIGHT.to(given, copy=True).requires_grad_()
    moved = carried_weight(tracked, out=OUT, into=INTO, convention="function")
    assert (moved.dtype, moved.requires_grad) == (computed, False)
    assert not carried_bias(BIAS.to(given, copy=True).requires_grad_(), out=OUT, convention="seed").requires_grad


@pytest.mark.parametrize(
    ("neurons", "side", "message"),
    [
        ([0, 3], "out", "carried_weight: selected out neurons up to 3, the recipient has 3."),
        ([-1, 2], "out", "carried_weight: selected out neurons up to 2, the recipient has 3."),
        ([2], "in", "carried_weight: selected in neurons up to 2, the recipient has 2."),
    ],
)
def test_selections_outside_of_the_recipient(neurons, side, message):
    with pytest.raises(ShapeError) as raised:
        carried_weight(WEIGHT, out=OUT, into=INTO, convention="seed", selection=Selection(side, np.array(neurons)))
    assert str(raised.value).startswith(message)


def test_what_carrying_refuses():
    for wrong in (WEIGHT[:3], WEIGHT[:, :4], WEIGHT[None], WEIGHT.T):
        with pytest.raises(
            ShapeError, match=r"^carried_weight: a donor weight of shape .* 4 donor outputs and 5 donor"
        ):
            carried_weight(wrong, out=OUT, into=INTO, convention="seed")
    for wrong in (BIAS[:3], BIAS[:, None]):
        with pytest.raises(ShapeError, match=r"^carried_bias: a bias of shape .* for 4 donor neurons"):
            carried_bias(wrong, out=OUT, convention="seed")
    with pytest.raises(EstimateError, match=r"^carried_weight: convention None; there are 'function', 'seed' and"):
        carried_bias(BIAS, out=OUT, convention=None)


def test_ratios_of_deviations():
    phi = OUT.barycentric()
    own, donor = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 2.0, 4.0])
    np.testing.assert_allclose(sd_ratio(phi, recipient_sd=own, donor_sd=donor), own / (phi.matrix @ donor))
    whole = sd_ratio(phi, recipient_sd=own.astype(int), donor_sd=donor.astype(np.float32))
    assert whole.dtype == np.float64
    np.testing.assert_allclose(whole, own / (phi.matrix @ donor))
    for bad, good in ((np.array([1.0, 0.0, 1.0]), donor), (np.array([1.0, np.inf, 1.0]), donor), (-own, donor)):
        with pytest.raises(EstimateError, match=r"^sd_ratio: a standard deviation is 0 or not finite"):
            sd_ratio(phi, recipient_sd=bad, donor_sd=good)
    for bad in (np.zeros(4), np.full(4, np.nan), -donor):
        with pytest.raises(EstimateError, match=r"^sd_ratio: a standard deviation is 0 or not finite"):
            sd_ratio(phi, recipient_sd=own, donor_sd=bad)
    with pytest.raises(ShapeError, match=r"^sd_ratio: \(2,\) recipient deviations for a map to 3 neurons"):
        sd_ratio(phi, recipient_sd=own[:2], donor_sd=donor)
