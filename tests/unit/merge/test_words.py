"""What operators say: refusals that begin with their own name, and notes on what had to be decided."""

import math

import pytest
import torch

from assay.errors import ConfigError
from assay.merge.operator import OPERATORS, TensorGroup
from assay.merge.tensors import merge_tensor

NAN = math.nan
BOTH = {"weight": (1.0, -1.0)}
HALVES = {"weight": (0.5, 0.5)}


def merged(name, inputs, *, base=None, numbers=None, **options):
    tensors = tuple(torch.tensor(values, dtype=torch.float64) for values in inputs)
    given = None if base is None else torch.tensor(base, dtype=torch.float64)
    group = TensorGroup("w", tuple("abcd"[: len(inputs)]), tensors, given, numbers or {})
    return merge_tensor(OPERATORS[name](**options), group)


ZERO_SUM = ["linear", "task_arithmetic", "nuslerp", "multislerp", "dare_linear", "della_linear", "breadcrumbs"]
CANCELLING = ["ties", "dare_ties", "della", "breadcrumbs_ties"]


@pytest.mark.parametrize("name", ZERO_SUM + CANCELLING)
def test_weights_that_cannot_be_normalised(name):
    options = {} if name == "nuslerp" else {"normalize_weights" if name == "multislerp" else "normalize": True}
    reason = "cancel, " if name in CANCELLING else "add up to 0, "
    with pytest.raises(ConfigError) as raised:
        OPERATORS[name](**options).coefficients(2, BOTH)
    assert str(raised.value).startswith(f"{name}: the weights (1.0, -1.0) {reason}")
    if options:
        numbers = OPERATORS[name](**dict.fromkeys(options, False)).coefficients(2, BOTH)
        assert numbers["weight"] == BOTH["weight"]


SHARES = {
    name: [key for key in OPERATORS[name].per_input if key in ("density", "gamma")]
    for name in OPERATORS
    if "density" in OPERATORS[name].per_input
}


@pytest.mark.parametrize(("name", "key"), [(name, key) for name, keys in SHARES.items() for key in keys])
def test_shares_of_entries(name, key):
    operator = OPERATORS[name]()
    for value in (1.5, -0.5, NAN):
        with pytest.raises(ConfigError) as raised:
            operator.coefficients(2, HALVES | {key: (0.0, value)})
        assert str(raised.value).startswith(f"{name}: {key} {value}; it is a share")


@pytest.mark.parametrize("name", ["della", "della_linear"])
@pytest.mark.parametrize(("density", "epsilon"), [(0.1, 0.1), (0.9, 0.2), (0.5, -0.1), (0.75, 0.25), (0.5, NAN)])
def test_probabilities_lie_between_0_and_1(name, density, epsilon):
    operator = OPERATORS[name]()
    with pytest.raises(ConfigError) as raised:
        operator.coefficients(2, HALVES | {"density": (0.5, density), "epsilon": (0.0, epsilon)})
    assert str(raised.value).startswith(f"{name}: density {density} with epsilon {epsilon}: the probabilities ")
    operator.coefficients(2, HALVES | {"density": (0.0, 1.0), "epsilon": (0.5, 0.5)})
    operator.coefficients(2, HALVES | {"density": (0.5, 0.5), "epsilon": (0.0, 0.499)})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("slerp", {"t": NAN}, "slerp: t is nan; "),
        ("nearswap", {"t": NAN}, "nearswap: t is nan; "),
        ("nearswap", {"t": math.inf}, "nearswap: t is inf; "),
        ("nearswap", {"t": -0.1}, "nearswap: t is -0.1; "),
        ("passthrough", {"scale": NAN}, "passthrough: scale is nan; "),
        ("ram", {"epsilon": -1.0}, "ram: epsilon is -1.0; "),
        ("ram", {"epsilon": math.inf}, "ram: epsilon is inf; "),
        ("ramplus_tl", {"epsilon": -1.0}, "ramplus_tl: epsilon is -1.0; "),
        ("ramplus_tl", {"r": -1.0}, "ramplus_tl: r is -1.0; "),
        ("ramplus_tl", {"alpha": NAN}, "ramplus_tl: alpha is nan; "),
        ("sce", {"select_topk": 1.5}, "sce: select_topk 1.5; "),
        ("sce", {"select_topk": -0.5}, "sce: select_topk -0.5; "),
    ],
)
def test_options_of_operators(name, options, message):
    with pytest.raises(ConfigError) as raised:
        OPERATORS[name](**options).coefficients(1, {})
    assert str(raised.value).startswith(message)


def test_options_at_their_ends():
    for name, options in (
        ("nearswap", {"t": 0.0}),
        ("ram", {"epsilon": 0.0}),
        ("ramplus_tl", {"r": 0.0, "alpha": 0.0}),
    ):
        assert OPERATORS[name](**options).coefficients(1, {}) == {}
    assert OPERATORS["slerp"](t=-3.0).coefficients(1, {}) == {}
    assert OPERATORS["passthrough"](scale=0.0).coefficients(1, {}) == {}


def test_arcee_fusion_at_its_edges():
    equal = merged("arcee_fusion", ([1.0, 2.0, 3.0],), base=[1.0, 2.0, 3.0])
    assert equal.notes == ("degenerate: quartiles of importance are equal",)
    assert equal.tensor.tolist() == [1.0, 2.0, 3.0]
    assert merged("arcee_fusion", ([1.0, 5.0, 3.0, 9.0],), base=[1.0, 2.0, 3.0, 4.0]).notes == ()
    assert merged("arcee_fusion", ([],), base=[]).tensor.tolist() == []
    scalar = merged("arcee_fusion", (5.0,), base=2.0)
    assert (scalar.tensor.item(), scalar.tensor.shape) == (5.0, ())
    one = merged("arcee_fusion", ([5.0],), base=[2.0])
    assert (one.tensor.tolist(), one.notes) == ([5.0], ("degenerate: quartiles of importance are equal",))


def test_arcee_fusion_where_a_probability_vanishes():
    """Logits 2,000 apart: the probability is 0, and 1e-8 added to it keeps the divergence finite."""
    donor, base = [0.0, 2000.0, *[0.0] * 7], [2000.0, *[0.0] * 8]
    result = merged("arcee_fusion", (donor,), base=base)
    assert result.tensor.tolist() == donor
    assert result.notes == ("degenerate: quartiles of importance are equal",)


def test_nearswap_where_the_two_are_equal():
    """The distance counts as 1e-6 at least, so that a t below it moves an equal entry by nothing."""
    result = merged("nearswap", ([1.0 + 4e-7, 3.0],), base=[1.0, 3.0], t=5e-7)
    assert result.tensor[0].item() - 1.0 == pytest.approx(2e-7, rel=1e-6)
    assert result.tensor[1].item() == 3.0


def test_model_stock_says_what_it_decided():
    obtuse = merged("model_stock", ([1.0, 0.0], [-0.5, 0.8]), base=[0.0, 0.0])
    cosine = -0.5 / math.hypot(0.5, 0.8)
    assert obtuse.notes == (f"obtuse: t down to {2 * cosine / (1 + cosine):.3g}",)
    zero = merged("model_stock", ([1.0, 0.0], [0.0, 0.0]), base=[0.0, 0.0])
    assert (zero.notes, zero.tensor.tolist()) == (("degenerate: zero_norm",), [0.0, 0.0])
    opposite = merged("model_stock", ([3.0, 1.0], [-1.0, 1.0]), base=[1.0, 1.0])
    assert (opposite.notes, opposite.tensor.tolist()) == (("degenerate: task vectors cancel, base kept",), [1.0, 1.0])
    rows = merged("model_stock", ([[1.0, 0.0], [2.0, 0.0]], [[0.0, 0.0], [2.0, 0.0]]), base=[[0.0, 0.0], [0.0, 0.0]],
                  filter_wise=True)  # fmt: skip
    assert (rows.notes, rows.tensor.tolist()) == (("degenerate: zero_norm",), [[0.0, 0.0], [2.0, 0.0]])
    scalar = merged("model_stock", (2.0, 4.0), base=1.0, filter_wise=True)
    assert (scalar.tensor.item(), scalar.tensor.shape, scalar.notes) == (3.0, (), ())
    empty = merged("model_stock", ([], []), base=[])
    assert (empty.tensor.tolist(), empty.tensor.shape) == ([], (0,))
    rows = tuple(torch.zeros(0, 3) for _ in range(3))
    none = merge_tensor(OPERATORS["model_stock"](filter_wise=True), TensorGroup("w", ("a", "b"), rows[:2], rows[2]))
    assert (none.tensor.shape, none.notes) == ((0, 3), ())


@pytest.mark.parametrize(("apart", "kept"), [(4e-7, True), (4e-6, False)])
def test_where_task_vectors_begin_to_cancel(apart, kept):
    """1 + cosine is half of the square of the angle that two vectors lack to be opposite."""
    angle = math.pi - math.sqrt(2 * apart)
    result = merged("model_stock", ([1.0, 0.0], [math.cos(angle), math.sin(angle)]), base=[0.0, 0.0])
    assert ("degenerate: task vectors cancel, base kept" in result.notes) == kept
    assert (float(result.tensor.abs().max()) == 0.0) == kept


def test_norms_of_task_vectors_far_from_1():
    for size in (1e-200, 1e200):
        result = merged("model_stock", ([2 * size, 0.0], [size, size]), base=[0.0, 0.0])
        assert result.tensor.tolist() == pytest.approx([1.24264 * size, 0.41421 * size], rel=1e-5)


def test_sce_of_task_vectors_that_are_zero():
    result = merged("sce", ([1.0, 2.0], [1.0, 2.0]), base=[1.0, 2.0])
    assert result.tensor.tolist() == [1.0, 2.0]


def test_passthrough_keeps_the_bits():
    assert merged("passthrough", ([1.0, -0.0],)).tensor.tolist() == [1.0, -0.0]
    assert math.copysign(1, merged("passthrough", ([-0.0],)).tensor.item()) == -1.0
    assert merged("passthrough", ([2.0],), scale=-0.5).tensor.tolist() == [-1.0]
