"""The policy at the edges: zero norms, densities 0 and 1, cancelling weights, narrow types, rows of one entry."""

import math

import pytest
import torch

from assay.errors import ConfigError, DataError
from assay.merge.operator import OPERATORS, TensorGroup
from assay.merge.tensors import merge_tensor
from assay.seeds import torch_stream

SPHERES = {"slerp": {"t": 0.5}, "nuslerp": {}, "multislerp": {}, "karcher": {}}
TRIMMED = ["ties", "dare_linear", "dare_ties", "della", "della_linear", "breadcrumbs", "breadcrumbs_ties"]


def merged(name, inputs, base=None, seed=0, tensor="w", dtype=None, numbers=None, **options):
    models = tuple("abcd"[: len(inputs)])
    group = TensorGroup(tensor, models, tuple(inputs), base, numbers or {}, seed)
    return merge_tensor(OPERATORS[name](**options), group, dtype=dtype)


def normal(*shape, seed=0):
    return torch.randn(shape, generator=torch_stream(seed, "edges"))


def weight(*values, **others):
    return {"weight": tuple(map(float, values)), **others}


@pytest.mark.parametrize("name", SPHERES)
def test_a_zero_norm_is_linear_and_said(name):
    zero, one = torch.zeros(4), normal(4)
    numbers = weight(1, 1) if name in ("nuslerp", "multislerp") else None
    inputs, base = ([one], zero) if name == "slerp" else ([zero, one], None)
    result = merged(name, inputs, base, numbers=numbers, **SPHERES[name])
    assert result.notes == ("degenerate: zero_norm",)
    torch.testing.assert_close(result.tensor, one / 2)


def test_nearly_parallel_ends_are_linear():
    one = normal(1000)
    other = one + 0.01 * normal(1000, seed=1)
    result = merged("slerp", [other], one, t=0.25)
    torch.testing.assert_close(result.tensor, torch.lerp(one, other, 0.25))


@pytest.mark.parametrize("name", ["linear", "nuslerp", "multislerp", "ties", "della"])
def test_weights_that_cancel_are_refused(name):
    with pytest.raises(ConfigError, match=r"add up to|cancel"):
        merged(name, [normal(4), normal(4, seed=1)], normal(4, seed=2), numbers=weight(1, -1))


@pytest.mark.parametrize("name", ["ties", "dare_ties", "della", "breadcrumbs_ties"])
def test_some_weights_that_cancel_are_refused(name):
    inputs = [normal(4, seed=seed) for seed in range(3)]
    with pytest.raises(ConfigError, match=r"\(1\.0, -1\.0\) cancel"):
        merged(name, inputs, normal(4), numbers=weight(1, -1, 0.5), normalize=True)


@pytest.mark.parametrize("name", TRIMMED)
def test_densities(name):
    base, one = normal(6, 5), normal(6, 5, seed=1)
    assert torch.equal(merged(name, [one], base, numbers=weight(1, density=(0.0,))).tensor, base)
    torch.testing.assert_close(merged(name, [one], base, numbers=weight(1, density=(1.0,))).tensor, one)
    for density in (-0.1, 1.1, math.nan):
        with pytest.raises(ConfigError, match=r"density .* between 0 and 1"):
            merged(name, [one], base, numbers=weight(1, density=(density,)))


@pytest.mark.parametrize("shape", [(1,), (300, 1), ()])
def test_rows_of_one_entry_are_kept_with_the_density(shape):
    base, one = torch.zeros(shape), torch.ones(shape)
    result = merged("della_linear", [one], base, numbers=weight(1, density=(0.7,)), rescale="none").tensor
    assert set(result.reshape(-1).tolist()) <= {0.0, 1.0}
    if result.numel() > 1:
        assert result.mean().item() == pytest.approx(0.7, abs=0.1)


def test_della_refuses_probabilities_beyond_0_and_1():
    with pytest.raises(ConfigError, match=r"0\.75 to 1\.05"):
        merged("della", [normal(4)], normal(4), numbers=weight(1, density=(0.9,), epsilon=(0.15,)))


def test_della_keeps_larger_entries_more_often():
    base, one = torch.zeros(4000, 5), torch.tensor([1.0, 2, 3, 4, 5]).repeat(4000, 1)
    numbers = weight(1, density=(0.5,), epsilon=(0.3,))
    kept = merged("della_linear", [one], base, numbers=numbers, rescale="none").tensor != 0
    assert kept.double().mean(dim=0).tolist() == pytest.approx([0.2, 0.35, 0.5, 0.65, 0.8], abs=0.03)


@pytest.mark.parametrize(("rescale", "factor"), [("none", 1.0), ("inverse_density", 10.0)])
def test_dare_rescales_as_it_is_told(rescale, factor):
    base, one = torch.zeros(10_000), torch.ones(10_000)
    result = merged("dare_linear", [one], base, numbers=weight(1, density=(0.1,)), rescale=rescale).tensor
    assert result.unique().tolist() == pytest.approx([0, factor])


def test_l1_rescale_keeps_the_norm_in_float16():
    """A sum in float16 would overflow; mergekit's does."""
    base = torch.zeros(200_000, dtype=torch.float16)
    one = torch.ones(200_000, dtype=torch.float16)
    result = merged("dare_linear", [one], base, numbers=weight(1, density=(0.25,))).tensor
    assert result.dtype == torch.float16
    assert result.double().sum().item() == pytest.approx(200_000, rel=1e-3)


@pytest.mark.parametrize("name", ["model_stock", "multislerp"])
def test_norms_of_large_tensors_in_float16(name):
    numbers = weight(1, 1) if name == "multislerp" else None
    inputs = [normal(400, 400, seed=seed).half() for seed in (1, 2)]
    result = merged(name, inputs, normal(400, 400).half(), numbers=numbers).tensor
    assert bool(torch.isfinite(result).all())


def test_masks_belong_to_seed_tensor_and_model():
    base, one = torch.zeros(500), torch.ones(500)
    numbers = weight(1, density=(0.5,))

    def mask(**where):
        return merged("dare_linear", [one], base, numbers=numbers, rescale="none", **where).tensor

    assert torch.equal(mask(), mask())
    assert not torch.equal(mask(), mask(seed=1))
    assert not torch.equal(mask(), mask(tensor="v"))
    two = merged("dare_linear", [one, one], base, numbers=weight(1, 0, density=(0.5, 0.5)), rescale="none").tensor
    assert torch.equal(two, mask())
    swapped = merged("dare_linear", [one, one], base, numbers=weight(0, 1, density=(0.5, 0.5)), rescale="none").tensor
    assert not torch.equal(swapped, mask())


def test_masks_do_not_depend_on_threads():
    base, one = torch.zeros(1_000_003), torch.ones(1_000_003)
    results = []
    threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            results.append(merged("dare_linear", [one], base, numbers=weight(1, density=(0.3,))).tensor)
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(*results)


def test_a_result_beyond_its_type_is_refused():
    one = torch.full((3,), 6e4, dtype=torch.float16)
    with pytest.raises(DataError, match=r"reaches 1\.2e\+05, beyond the range of torch.float16"):
        merged("linear", [one, one], numbers=weight(1, 1), normalize=False)
    wide = merged("linear", [one, one], numbers=weight(1, 1), normalize=False, dtype=torch.float32)
    assert wide.tensor.tolist() == pytest.approx([120_000] * 3, rel=1e-3)


def test_mixed_types_widen():
    assert (
        merged("linear", [normal(3).half(), normal(3).bfloat16()], numbers=weight(1, 1)).tensor.dtype == torch.float32
    )


def test_ties_keeps_exactly_as_many_and_the_first_of_equals():
    base = torch.zeros(600_000)
    one = torch.ones(600_000)
    result = merged("ties", [one], base, numbers=weight(1, density=(0.5,))).tensor
    assert torch.equal(result, torch.cat([torch.ones(300_000), torch.zeros(300_000)]))
