"""Weight geometry: its algebra, its invariances, and the traps that make unrelated models look alike."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.diagnostics.tensor_set import CHUNK, SharedTensor, TensorSet, tensor_set
from assay.diagnostics.weights import compare_task_vectors, compare_weights, random_walk_cosine
from assay.errors import EstimateError


def random_init(seed, width=128, layers=3):
    """A GPT-NeoX start: matrices of standard deviation 0.02, gains of 1, biases of 0."""
    rng = np.random.default_rng(seed)
    made = {}
    for layer in range(layers):
        for name, shape in (("qkv", (3, 1)), ("dense", (1, 1)), ("up", (4, 1)), ("down", (1, 4))):
            size = (shape[0] * width, shape[1] * width)
            made[f"layers.{layer}.{name}.weight"] = (0.02 * rng.standard_normal(size)).astype(np.float32)
            made[f"layers.{layer}.{name}.bias"] = np.zeros(size[0], dtype=np.float32)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            made[f"layers.{layer}.{norm}.weight"] = np.ones(width, dtype=np.float32)
            made[f"layers.{layer}.{norm}.bias"] = np.zeros(width, dtype=np.float32)
    return made


def compare(donor, recipient):
    return compare_weights(donor, recipient, tensors=tensor_set(donor, recipient, vocabulary="shared"))


@settings(deadline=None, max_examples=40, derandomize=True)
@given(seed=st.integers(0, 10**6), scale=st.floats(0.01, 100), noise=st.floats(0, 3))
def test_algebra_and_bounds(seed, scale, noise):
    rng = np.random.default_rng(seed)
    recipient = {"a": rng.standard_normal((4, 3)), "b": rng.standard_normal(5)}
    donor = {name: scale * (value + noise * rng.standard_normal(value.shape)) for name, value in recipient.items()}
    found = compare(donor, recipient).overall
    expected = 1 + found.norm_ratio**2 - 2 * found.norm_ratio * found.cosine
    assert found.l2_relative**2 == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found.l2_symmetric == pytest.approx(found.l2_relative / math.sqrt(found.norm_ratio))
    assert -1 <= found.cosine <= 1
    flat = [np.concatenate([side["a"].ravel(), side["b"]]) for side in (donor, recipient)]
    assert found.norm_ratio == pytest.approx(np.linalg.norm(flat[0]) / np.linalg.norm(flat[1]))
    assert found.l2_relative == pytest.approx(np.linalg.norm(flat[0] - flat[1]) / np.linalg.norm(flat[1]))
    back = compare(recipient, donor).overall
    assert (back.cosine, back.l2_symmetric) == pytest.approx((found.cosine, found.l2_symmetric))
    assert back.norm_ratio == pytest.approx(1 / found.norm_ratio)


def test_a_model_with_itself_its_negative_and_its_multiple():
    model = random_init(0)
    same = compare(model, model).overall
    assert (same.cosine, same.l2_relative, same.norm_ratio) == (pytest.approx(1, abs=1e-12), 0, 1)
    assert compare({n: -v for n, v in model.items()}, model).overall.cosine == pytest.approx(-1, abs=1e-12)
    assert compare({n: 3 * v for n, v in model.items()}, model).overall.cosine == pytest.approx(1, abs=1e-6)


def test_order_and_layout_do_not_matter_and_hidden_units_only_if_permuted_in_both():
    donor, recipient = random_init(0), random_init(1)
    expected = compare(donor, recipient).overall
    assert compare(dict(reversed(donor.items())), {**recipient}).overall == expected
    order = np.random.default_rng(0).permutation(512)

    def permuted(model):
        out = dict(model)
        for layer in range(3):
            out[f"layers.{layer}.up.weight"] = model[f"layers.{layer}.up.weight"][order]
            out[f"layers.{layer}.down.weight"] = model[f"layers.{layer}.down.weight"][:, order]
        return out

    assert compare(permuted(donor), permuted(recipient)).overall.cosine == pytest.approx(expected.cosine, abs=1e-12)
    assert compare(permuted(donor), donor).overall.cosine < 0.9


def test_gains_make_unrelated_models_alike_and_the_note_says_so():
    """Gains give 6 h, matrices 12 h^2 0.02^2 a layer ... of which only gains agree."""
    found = compare(random_init(0, width=256, layers=2), random_init(1, width=256, layers=2))
    assert found.overall.cosine == pytest.approx(1024 / (1024 + 24 * 256**2 * 0.0004), abs=0.01)
    assert found.overall.cosine > 0.6
    assert found.by_group["gain"].cosine == 1
    matrices = found.by_group["matrix"]
    assert abs(matrices.cosine) < 5 / math.sqrt(matrices.n_params)
    assert "is not that of the matrices" in found.note
    only = tensor_set(random_init(0), random_init(1), vocabulary="shared").of("matrix")
    assert compare_weights(random_init(0), random_init(1), tensors=only).note == ""


def test_a_buffer_of_minus_a_billion_makes_any_models_equal():
    """The set leaves it out; put in by hand it hides everything else."""
    donor, recipient = ({**random_init(seed), "attention.masked_bias": np.array(-1e9)} for seed in (0, 1))
    right = tensor_set(donor, recipient, vocabulary="shared")
    assert compare_weights(donor, recipient, tensors=right).overall.cosine < 0.9
    wrong = TensorSet((*right.tensors, SharedTensor("attention.masked_bias", "other", ())), ())
    spoilt = compare_weights(donor, recipient, tensors=wrong).overall
    assert (spoilt.cosine, spoilt.l2_relative) == (pytest.approx(1, abs=1e-12), pytest.approx(0, abs=1e-6))


def test_norms_of_many_small_float32_values_are_exact():
    """One running float32 sum of the squares would be wrong by a percent or more."""
    n = 3 * CHUNK + 17
    donor, recipient = {"w": np.full(n, 0.1, dtype=np.float32)}, {"w": np.full(n, 0.2, dtype=np.float32)}
    found = compare(donor, recipient).overall
    exact = float(np.float32(0.1)) / float(np.float32(0.2))
    assert found.norm_ratio == pytest.approx(exact, rel=1e-13)
    running = np.cumsum(donor["w"] ** 2, dtype=np.float32)[-1]
    assert abs(running / (n * float(np.float32(0.1)) ** 2) - 1) > 1e-3


def test_half_precision_is_read_without_overflow():
    import torch

    big = {"w": torch.full((1000, 10), 300.0, dtype=torch.float16)}
    assert compare(big, big).overall.cosine == pytest.approx(1)
    assert compare({"w": big["w"].to(torch.bfloat16)}, big).overall.norm_ratio == pytest.approx(1, abs=0.01)


def test_the_mean_of_cosines_is_another_number():
    rng = np.random.default_rng(0)
    recipient = {"small": rng.standard_normal(4), "large": rng.standard_normal((40, 40))}
    donor = {"small": -recipient["small"], "large": recipient["large"]}
    found = compare(donor, recipient)
    assert found.mean_tensor_cosine == pytest.approx(0)
    assert found.overall.cosine > 0.98


def test_task_vectors():
    rng = np.random.default_rng(0)
    base = {"w": rng.standard_normal((30, 30)).astype(np.float32)}
    steps = rng.standard_normal((2, 30, 30)).astype(np.float32)
    donor, recipient = ({"w": base["w"] + step} for step in (steps[0] + steps[1], steps[1]))
    tensors = tensor_set(donor, recipient, vocabulary="shared")
    found = compare_task_vectors(donor, recipient, base, tensors=tensors).overall
    assert found.cosine == pytest.approx(math.sqrt(0.5), abs=0.05)
    assert found.norm_ratio == pytest.approx(math.sqrt(2), abs=0.1)
    zero = compare_task_vectors(donor, base, base, tensors=tensors)
    assert math.isnan(zero.overall.cosine)
    assert zero.overall.reason == "the recipient is zero over 900 values"
    assert (zero.recipient_zeros, zero.donor_zeros) == (1.0, 0.0)
    with pytest.raises(EstimateError, match="the base holds no w of shape"):
        compare_task_vectors(donor, recipient, {}, tensors=tensors)


def test_a_random_walk_has_the_cosine_of_its_steps():
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.standard_normal((10, 20_000)), axis=0)
    base, donor, recipient = ({"w": row} for row in (np.zeros(20_000), walk[2], walk[9]))
    tensors = tensor_set(donor, recipient, vocabulary="shared")
    found = compare_task_vectors(donor, recipient, base, tensors=tensors).overall.cosine
    assert found == pytest.approx(random_walk_cosine(3, 10), abs=0.02)
    assert random_walk_cosine(10, 3) == pytest.approx(0.5477, abs=1e-4)
    with pytest.raises(EstimateError, match="0 and 5 steps"):
        random_walk_cosine(0, 5)


def test_a_tensor_that_is_no_number_is_named():
    donor = {"a": np.ones(3), "b": np.array([1.0, np.nan, 1.0])}
    with pytest.raises(EstimateError, match="b of the donor"):
        compare(donor, {"a": np.ones(3), "b": np.ones(3)})
