"""Sign agreement: both forms against their definitions and against what Gaussian vectors give."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.diagnostics.sign_agreement import (
    gaussian_agreement,
    gaussian_elected_agreement,
    sign_agreement,
)
from assay.diagnostics.tensor_set import CHUNK, tensor_set
from assay.errors import EstimateError


def found(donor, recipient, **options):
    base = {name: np.zeros_like(value) for name, value in donor.items()}
    return sign_agreement(donor, recipient, base, tensors=tensor_set(donor, recipient, vocabulary="shared"), **options)


def trimmed(values, density):
    """The largest magnitudes by a stable sort."""
    keep = max(1, int(density * values.size)) if density < 1 else values.size
    order = np.argsort(-np.abs(values), kind="stable")
    out = np.zeros_like(values)
    out[order[:keep]] = values[order[:keep]]
    return out


def by_definition(left, right):
    both = (left != 0) & (right != 0)
    elected = np.where(left + right >= 0, 1.0, -1.0)
    agree = ((left != 0) & (np.sign(left) == elected)).sum() + ((right != 0) & (np.sign(right) == elected)).sum()
    kept = (left != 0).sum(), (right != 0).sum()
    share = (np.sign(left) == np.sign(right))[both].mean() if both.any() else math.nan
    return share, agree / sum(kept), both.sum() / min(kept), kept


@settings(deadline=None, max_examples=40, derandomize=True)
@given(seed=st.integers(0, 10**6), density=st.sampled_from([0.05, 0.2, 0.5, 1.0]), integers=st.booleans())
def test_both_forms_are_their_definitions_per_tensor_and_over_the_model(seed, density, integers):
    rng = np.random.default_rng(seed)
    make = (lambda n: rng.integers(-3, 4, n).astype(float)) if integers else rng.standard_normal
    donor, recipient = ({"a": make(60), "b": 5 * make(90)} for _ in range(2))
    for scope in ("tensor", "model"):
        if scope == "tensor":
            sides = [np.concatenate([trimmed(s["a"], density), trimmed(s["b"], density)]) for s in (donor, recipient)]
        else:
            sides = [trimmed(np.concatenate([s["a"], s["b"]]), density) for s in (donor, recipient)]
        agreement, elected, overlap, kept = by_definition(*sides)
        got = found(donor, recipient, density=density, scope=scope)
        assert (got.agreement, got.elected, got.overlap) == pytest.approx((agreement, elected, overlap), nan_ok=True)
        assert (got.n_kept_donor, got.n_kept_recipient) == kept
        assert got.elected >= 0.5


@pytest.mark.parametrize("density", [0.1, 0.2, 1.0])
@pytest.mark.parametrize("cosine", [-0.4, 0.0, 0.55])
def test_gaussian_vectors_give_the_null(cosine, density):
    rng = np.random.default_rng(0)
    donor = rng.standard_normal(400_000)
    recipient = cosine * donor + math.sqrt(1 - cosine**2) * rng.standard_normal(400_000)
    got = found({"w": donor}, {"w": 7 * recipient}, density=density)
    assert got.cosine == pytest.approx(cosine, abs=0.005)
    n_both = got.overlap * got.n_kept_donor
    assert got.agreement == pytest.approx(got.expected, abs=4 * 0.5 / math.sqrt(n_both))
    assert got.elected == pytest.approx(got.expected_elected, abs=0.005)
    if cosine == 0:
        assert got.overlap == pytest.approx(density, abs=0.01)


def test_the_nulls_in_closed_form():
    assert gaussian_agreement(0.55) == pytest.approx(0.5 + math.asin(0.55) / math.pi)
    assert gaussian_agreement(0.55) == pytest.approx(1 - math.acos(0.55) / math.pi)
    assert gaussian_agreement(0.0, density=0.2) == pytest.approx(0.5)
    assert gaussian_elected_agreement(0.0, density=0.2) == pytest.approx(0.95)
    assert gaussian_elected_agreement(0.0) == pytest.approx(0.75)
    for density in (0.2, 1.0):
        assert (gaussian_agreement(1.0, density=density), gaussian_agreement(-1.0, density=density)) == (1, 0)
    assert gaussian_agreement(0.3, density=0.999999) == pytest.approx(gaussian_agreement(0.3), abs=1e-5)
    assert gaussian_agreement(0.3, density=0.1) > gaussian_agreement(0.3)


def test_trimming_goes_over_pieces():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(CHUNK + 1000)
    got = found({"w": values}, {"w": values}, density=0.2)
    assert got.n_kept_donor == int(0.2 * values.size)
    assert (got.agreement, got.elected, got.overlap) == (1, 1, 1)


def test_half_opposed_models():
    rng = np.random.default_rng(0)
    donor = rng.standard_normal(1000)
    got = found({"w": donor}, {"w": -donor})
    assert (got.agreement, got.elected, got.overlap) == (0, 0.5, 1)
    assert (got.expected, got.expected_elected) == (0, 0.5)


def test_what_is_not_defined_has_a_reason():
    got = found({"w": np.array([5.0, 0, 0, 0, 0])}, {"w": np.array([0, 5.0, 0, 0, 0])})
    assert math.isnan(got.agreement)
    assert (got.elected, got.overlap) == (1, 0)
    assert got.reason == "no coordinate is kept in both task vectors"
    zero = found({"w": np.zeros(5)}, {"w": np.ones(5)})
    assert math.isnan(zero.agreement)
    assert math.isnan(zero.expected)
    assert zero.reason == "the donor task vector is zero"
    with pytest.raises(EstimateError, match="density 0"):
        found({"w": np.ones(5)}, {"w": np.ones(5)}, density=0.0)
    with pytest.raises(EstimateError, match="cosine 2"):
        gaussian_agreement(2.0)
