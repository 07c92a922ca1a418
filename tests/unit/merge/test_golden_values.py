"""Values that another implementation printed for the same inputs, operator by operator."""

import math

import pytest
import torch

from assay.errors import ConfigError
from assay.merge.operator import OPERATORS, TensorGroup
from assay.merge.tensors import merge_tensor

ONES = {"weight": (1.0, 1.0)}
TIE = ((1, -1, 2, 0), (-1, 1, -1, 0))
THREE = ((4, -3, 2, 1, 0.5), (-1, -5, 3, -2, 0.1), (2, 1, -4, 3, 0))
SOFT = [[0.1, 0.2, 0.3, 4], [0.1, 0.1, 0.1, 0.1]]
BASE = "zero"


def merged(name, inputs, *, base=None, dtype=torch.float32, per_input=None, **options):
    tensors = tuple(torch.tensor(values, dtype=dtype) for values in inputs)
    if base is not None:
        base = torch.zeros_like(tensors[0]) if base == BASE else torch.tensor(base, dtype=dtype)
    group = TensorGroup("w", tuple("abcdef"[: len(inputs)]), tensors, base, per_input or {}, seed=0)
    return merge_tensor(OPERATORS[name](**options), group)


def weights(*values, **others):
    return {"weight": tuple(map(float, values)), **others}


CASES = {
    "ties, density 1": ("ties", THREE, BASE, weights(1, 1, 1), {}, (3, -4, 2.5, 2, 0.3)),
    "ties, density .6": ("ties", THREE, BASE, weights(1, 1, 1, density=(0.6,) * 3), {}, (3, -4, 2.5, 3, 0)),
    "ties, a zero sum elects plus": ("ties", TIE, BASE, ONES, {}, (1, 1, 2, 0)),
    "ties, weights come before the vote": ("ties", ((3,), (-4,)), BASE, weights(0.5, 0.5), {}, (-4,)),
    "ties, weights turn the vote": ("ties", ((3,), (-4,)), BASE, weights(0.7, 0.3), {}, (3,)),
    "ties, one weight cancels": ("ties", ((2, -4),), BASE, weights(0.5), {}, (2, -4)),
    "model stock": ("model_stock", ((2, 0), (1, 1)), BASE, None, {}, (1.24264, 0.41421)),
    "model stock, obtuse": ("model_stock", ((1, 0), (-0.5, 0.8)), BASE, None, {}, (-0.5638, -0.9021)),
    "sce": ("sce", TIE, BASE, None, {}, (1, 1, 2, 0)),
    "sce, half": ("sce", TIE, BASE, None, {"select_topk": 0.5}, (0, 0, 2, 0)),
    "sce, large": ("sce", ((1e-3,), (3e-3,)), BASE, None, {}, (2.8e-3,)),
    "ram": ("ram", ((1, 0, 2), (3, 0, 0)), BASE, None, {}, (2, 0, 2)),
    "ram plus": ("ramplus_tl", ((1, 0, 2), (3, 0, 0)), BASE, None, {}, (2, 0, 2.04)),
    "nearswap": ("nearswap", ((0, 1, 0),), (1, 0, 0), None, {"t": 0.25}, (0.75, 0.25, 0)),
    "arcee fusion": ("arcee_fusion", (SOFT,), BASE, None, {}, [[0, 0, 0.3, 4], [0, 0, 0, 0]]),
    "breadcrumbs": (
        "breadcrumbs",
        (tuple(range(1, 11)),),
        BASE,
        weights(1, density=(0.5,), gamma=(0.3,)),
        {},
        (0, 0, 3, 4, 5, 6, 7, 0, 0, 0),
    ),
    "slerp leaves norms between others": (
        "slerp", ((0, 3),), (1, 0), None, {"t": 0.5}, (math.sqrt(0.5), 3 * math.sqrt(0.5)),
    ),
    "nuslerp, rows": (
        "nuslerp", ([[1, 0], [0, 2]], [[0, 3], [0, 2]]), None, weights(0.5, 0.5), {"nuslerp_flatten": False},
        [[math.sqrt(0.5), 3 * math.sqrt(0.5)], [0, 2]],
    ),
    "multislerp": ("multislerp", ((1, 0), (0, 1)), None, weights(3, 1), {}, (3 / math.sqrt(10), 1 / math.sqrt(10))),
    "slerp, a quarter": (
        "slerp", ((0, 1),), (1, 0), None, {"t": 0.25}, (math.cos(math.pi / 8), math.sin(math.pi / 8)),
    ),
    "karcher": ("karcher", ((1, 0), (0, 3)), None, None, {}, (math.sqrt(2), math.sqrt(2))),
    "task arithmetic": (
        "task_arithmetic", ((1, 2), (3, 5)), (1, 1), weights(1, 2), {"lambda_": 0.5}, (1 + 0.5 * 4, 1 + 0.5 * 9),
    ),
    "linear": ("linear", ((1, 2), (3, 4)), None, weights(1, 3), {}, (2.5, 3.5)),
    "linear, a sum": ("linear", ((1, 2), (3, 4)), None, weights(0.1, 1), {"normalize": False}, (3.1, 4.2)),
    "passthrough": ("passthrough", ((1, 2),), None, None, {"scale": 3.0}, (3, 6)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_golden_value(case):
    name, inputs, base, per_input, options, expected = CASES[case]
    result = merged(name, inputs, base=base, per_input=per_input, **options)
    torch.testing.assert_close(result.tensor, torch.tensor(expected, dtype=torch.float32), rtol=1e-4, atol=1e-6)


def test_another_value_is_seen():
    """The twin: the values tell operators apart."""
    result = merged("ties", THREE, base=BASE, per_input=weights(1, 1, 1))
    with pytest.raises(AssertionError):
        torch.testing.assert_close(result.tensor, torch.tensor([3, -4, 2.5, 2, 0.4]))


def test_sums_in_a_narrow_type_round_once():
    result = merged("linear", ((256,), (1,)), dtype=torch.bfloat16, per_input=ONES, normalize=False)
    assert (result.tensor.dtype, result.tensor.item(), result.rounding) == (torch.bfloat16, 256, 1)


def test_small_task_vectors_keep_their_weights():
    """mergekit turns the weights of SCE uniform below a mean square of 1e-6, and halves model stock below a norm."""
    assert merged("sce", ((1e-4,), (3e-4,)), base=BASE).tensor.item() == pytest.approx(2.8e-4)
    small = merged("model_stock", ((1e-4, 0), (1e-4, 0)), base=BASE)
    assert small.tensor.tolist() == pytest.approx([1e-4, 0])


@pytest.mark.parametrize(
    ("vote", "sign_tie", "before", "expected"),
    [
        ("mass", "plus", True, (0.9, 1.0)),
        ("count", "plus", True, (-0.2, 1.0)),
        ("mass", "zero", True, (0.9, 0.0)),
        ("mass", "global", True, (0.9, 1.0)),
    ],
)
def test_options_of_the_election(vote, sign_tie, before, expected):
    options = {"vote": vote, "sign_tie": sign_tie, "weight_before_vote": before}
    inputs = ((0.9, 1.0), (-0.2, -1.0), (-0.2, 0.0))
    result = merged("ties", inputs, base=BASE, per_input=weights(1, 1, 1), **options)
    assert result.tensor.tolist() == pytest.approx(expected)


def test_unweighted_vote():
    """Weights .7 and .3 turn 3 against -4 only if they come before the vote."""
    options = {"weight_before_vote": False}
    assert merged("ties", ((3,), (-4,)), base=BASE, per_input=weights(0.7, 0.3), **options).tensor.item() == -4


def test_a_global_tie_elects_nobody():
    result = merged("ties", ((1, -1), (-1, 1)), base=BASE, per_input=ONES, sign_tie="global")
    assert result.tensor.tolist() == [0, 0]


@pytest.mark.parametrize("name", ["slerp", "nuslerp", "multislerp", "karcher"])
def test_opposite_ends_are_refused_or_allowed_by_name(name):
    inputs = ((-1, 0),) if name == "slerp" else ((1, 0), (-1, 0))
    options = {"t": 0.25} if name == "slerp" else {}
    numbers = weights(0.75, 0.25) if name in ("nuslerp", "multislerp") else None
    base = (1, 0) if name == "slerp" else None
    with pytest.raises(ConfigError, match=r"cancel|opposite"):
        merged(name, inputs, base=base, per_input=numbers, **options)
    allowed = merged(name, inputs, base=base, per_input=numbers, allow_antipodal=True, **options)
    assert allowed.notes == ("degenerate: antipodal",)
    assert allowed.tensor.tolist() == pytest.approx([0.0 if name == "karcher" else 0.5, 0])
