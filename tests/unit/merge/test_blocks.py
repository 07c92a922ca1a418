"""Large tensors are walked in blocks, of any number of axes, in the type of the inputs: none of it shows."""

import dataclasses

import pytest
import torch

from assay.merge.operator import OPERATORS, TensorGroup
from assay.merge.tensors import merge_tensor
from assay.seeds import torch_stream
from tests.unit.merge import textbook

LARGE = 300_000


def merged(name, base, tensors, numbers=None, **options):
    group = TensorGroup("w", tuple("abc"[: len(tensors)]), tuple(tensors), base, numbers or {}, 7)
    return merge_tensor(OPERATORS[name](**options), group)


def normal(shape, n, *, kind=torch.float64):
    draws = torch_stream(0, "blocks")
    return [torch.randn(shape, generator=draws, dtype=torch.float64).to(kind) for _ in range(n)]


def draws(*shape):
    return torch.rand(*shape, generator=torch_stream(7, "merge", "w", "a"))


def test_masks_are_drawn_entry_after_entry():
    base, one = torch.zeros(LARGE), torch.ones(LARGE)
    numbers = {"weight": (1.0,), "density": (0.3,)}
    result = merged("dare_linear", base, [one], numbers, rescale="none").tensor
    assert torch.equal(result != 0, draws(LARGE) < 0.3)
    rows = torch.arange(1.0, 101.0).repeat(LARGE // 100, 1)
    numbers |= {"epsilon": (0.1,)}
    kept = merged("della_linear", torch.zeros_like(rows), [rows], numbers, rescale="none").tensor != 0
    share = 0.2 + 0.2 * torch.arange(100) / 99
    assert torch.equal(kept, draws(LARGE // 100, 100) < share)
    long = torch.ones(2, LARGE)
    kept = merged("della_linear", torch.zeros_like(long), [long], numbers | {"epsilon": (0.0,)}, rescale="none").tensor
    assert torch.equal(kept != 0, draws(2, LARGE) < 0.3)


@pytest.mark.parametrize(
    "name", ["linear", "task_arithmetic", "ties", "nearswap", "ram", "ramplus_tl", "sce", "breadcrumbs"]
)
def test_a_large_tensor_is_its_two_halves(name):
    """Operators whose entries depend on entries of the same place alone, or on counts that both halves share."""
    base, *tensors = normal((LARGE // 2,), 2 if name == "nearswap" else 3)
    double = [torch.cat([one, one]) for one in (base, *tensors)]
    numbers = {"weight": (1.0, 2.0)} if "weight" in OPERATORS[name].per_input else {}
    options = {"t": 0.5} if name == "nearswap" else {}
    given = {"base": None if OPERATORS[name].base == "ignored" else base}
    half = merged(name, given["base"], tensors, numbers, **options).tensor
    whole = merged(name, None if given["base"] is None else double[0], double[1:], numbers, **options).tensor
    torch.testing.assert_close(whole, torch.cat([half, half]))


def test_breadcrumbs_and_sce_select_over_all_blocks():
    (delta,) = normal((LARGE,), 1)
    numbers = {"weight": (1.0,), "density": (0.5,), "gamma": (0.2,)}
    result = merged("breadcrumbs", torch.zeros_like(delta), [delta], numbers).tensor
    order = delta.abs().argsort(descending=True)
    expected = torch.zeros_like(delta)
    expected[order[60_000:210_000]] = delta[order[60_000:210_000]]
    assert torch.equal(result, expected)
    one, other = normal((LARGE,), 2)
    chosen = merged("sce", torch.zeros_like(one), [one, other], select_topk=0.25).tensor
    apart = (one - other).abs().argsort(descending=True)[: LARGE // 4]
    assert torch.equal((chosen != 0).nonzero().reshape(-1), apart.sort().values)


def test_ram_counts_over_all_blocks():
    base, one, other = torch.zeros(LARGE), torch.ones(LARGE), torch.zeros(LARGE)
    other[-LARGE // 4 :] = 3.0
    result = merged("ramplus_tl", base, [one, other], r=0.3, alpha=10.0).tensor
    assert result[:5].tolist() == pytest.approx([1 + 0.3 * (1 / 3)] * 5)
    assert result[-5:].tolist() == [2.0] * 5


@pytest.mark.parametrize("shape", [(2, 3, 5), (7,), (3, 1, 4)], ids=str)
def test_vectors_along_the_last_axis_of_any_number(shape):
    base, *vectors = normal(shape, 3)
    flat = [one.reshape(-1, shape[-1]).tolist() for one in (base, *vectors)]
    options = {"nuslerp_flatten": False}
    rows = [textbook.slerp(*pair, 0.25) for pair in zip(*flat[1:], strict=True)]
    result = merged("nuslerp", None, vectors, {"weight": (3.0, 1.0)}, **options).tensor
    torch.testing.assert_close(result.reshape(-1, shape[-1]), torch.tensor(rows, dtype=torch.float64))
    rows = [textbook.model_stock(row, pair) for row, pair in zip(flat[0], zip(*flat[1:], strict=True), strict=True)]
    result = merged("model_stock", base, vectors, filter_wise=True).tensor
    torch.testing.assert_close(result.reshape(-1, shape[-1]), torch.tensor(rows, dtype=torch.float64))


def test_vectors_along_the_first_axis():
    vectors = normal((3, 2, 4), 2)
    pairs = zip(*(one.reshape(3, 8).T.tolist() for one in vectors), strict=True)
    columns = torch.tensor([textbook.slerp(*pair, 0.25) for pair in pairs], dtype=torch.float64).T
    options = {"nuslerp_flatten": False, "nuslerp_row_wise": True}
    result = merged("nuslerp", None, vectors, {"weight": (3.0, 1.0)}, **options).tensor
    torch.testing.assert_close(result.reshape(3, 8), columns)


OPTIONS = {"nuslerp": {"nuslerp_flatten": False}, "model_stock": {"filter_wise": True}}


@pytest.mark.parametrize("kind", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", OPERATORS)
def test_the_result_has_the_type_of_computation(name, kind):
    operator = OPERATORS[name]
    base, *tensors = normal((4, 6), 1 + (operator.most or 2), kind=kind)
    needed = {one.name: 0.5 for one in dataclasses.fields(operator) if one.default is dataclasses.MISSING}
    for options in (needed, needed | OPTIONS.get(name, {})):
        made = operator(**options)
        given = {key: (0.5,) * len(tensors) for key in operator.per_input if key == "weight"}
        group = TensorGroup(
            "w", tuple("abc"[: len(tensors)]), tuple(tensors), base, made.coefficients(len(tensors), given)
        )
        assert made.fuse(group).tensor.dtype == kind


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_norms_and_angles_of_rows_are_taken_in_float64(scale):
    """In float32 the squares would vanish, or overflow."""
    one, other = normal((3, 5), 2)
    expected = merged("nuslerp", None, [one, other], {"weight": (3.0, 1.0)}, nuslerp_flatten=False).tensor
    narrow = [(scale * vector).to(torch.float32) for vector in (one, other)]
    found = merged("nuslerp", None, narrow, {"weight": (3.0, 1.0)}, nuslerp_flatten=False)
    torch.testing.assert_close(found.tensor.double() / scale, expected, rtol=1e-5, atol=1e-6)
    assert found.notes == ()
