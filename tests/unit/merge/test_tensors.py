"""One tensor: types, the error of the last cast, and inputs that cannot be merged, each named."""

import dataclasses
import math
import warnings
from typing import ClassVar

import pytest
import torch

from assay.errors import ConfigError, DataError, ShapeError
from assay.merge.operator import OPERATORS, AbstractMergeOperator, Facts, Fused, TensorGroup
from assay.merge.tensors import Merged, all_finite, merge_state_dicts, merge_tensor, promoted
from assay.merge.ties import Ties

HALF, BRAIN, SINGLE, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64
LINEAR = OPERATORS["linear"]()


@dataclasses.dataclass(frozen=True)
class Seen(AbstractMergeOperator):
    """Keeps what it was given, and gives back its first input."""

    name = "seen"
    source = "none"
    base: ClassVar = "optional"
    fewest: ClassVar[int] = 1
    most: ClassVar[int | None] = 2
    per_input: ClassVar = {"weight": None, "density": 0.5}
    groups: list = dataclasses.field(default_factory=list, compare=False)

    def fuse(self, group):
        self.groups.append(group)
        assert not torch.is_grad_enabled()
        return Fused(group.tensors[0], ("a note",))


@dataclasses.dataclass(frozen=True)
class Heedless(Seen):
    base: ClassVar = "ignored"


def group(*tensors, base=None, models=None, numbers=None, name="w", **others):
    names = models or tuple("abcdefg"[: len(tensors)])
    return TensorGroup(
        name, names, tensors, base, numbers if numbers is not None else {"weight": (1.0,) * len(tensors)}, **others
    )


@pytest.mark.parametrize(
    ("kinds", "base", "asked", "computed", "stored"),
    [
        ((HALF,), None, None, SINGLE, HALF),
        ((BRAIN, BRAIN), BRAIN, None, SINGLE, BRAIN),
        ((HALF, BRAIN), None, None, SINGLE, SINGLE),
        ((HALF,), SINGLE, None, SINGLE, SINGLE),
        ((HALF, DOUBLE), None, None, DOUBLE, DOUBLE),
        ((HALF,), DOUBLE, None, DOUBLE, DOUBLE),
        ((HALF,), None, DOUBLE, DOUBLE, DOUBLE),
        ((DOUBLE,), None, HALF, DOUBLE, HALF),
        ((SINGLE,), None, BRAIN, SINGLE, BRAIN),
    ],
    ids=str,
)
def test_types_of_computation_and_storage(kinds, base, asked, computed, stored):
    operator = Seen()
    tensors = [torch.ones(2, dtype=kind) for kind in kinds]
    given = None if base is None else torch.ones(2, dtype=base)
    result = merge_tensor(operator, group(*tensors, base=given), dtype=asked)
    (seen,) = operator.groups
    assert {one.dtype for one in (*seen.tensors, *([] if seen.base is None else [seen.base]))} == {computed}
    assert (seen.base is None) == (base is None)
    assert result.tensor.dtype == stored


def test_what_an_operator_is_given():
    operator, facts = Seen(), Facts((1,), (1.0,), 0.0)
    one, base = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    result = merge_tensor(operator, group(one, base=base, seed=5, facts=facts, numbers={"weight": (2.0,)}))
    (seen,) = operator.groups
    assert (seen.name, seen.models, seen.seed, seen.facts) == ("w", ("a",), 5, facts)
    assert seen.per_input == {"weight": (2.0,), "density": (0.5,)}
    assert torch.equal(seen.ancestor, base)
    assert (result.notes, result.rounding) == (("a note",), 0.0)
    assert torch.equal(result.tensor, one)


def test_an_ignored_base_is_neither_seen_nor_checked():
    operator = Heedless()
    merge_tensor(operator, group(torch.ones(2, dtype=HALF), base=torch.full((3,), math.nan, dtype=DOUBLE)))
    assert operator.groups[0].base is None
    assert operator.groups[0].tensors[0].dtype == SINGLE


def test_gradients_are_not_tracked():
    one = torch.ones(2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not merge_tensor(LINEAR, group(one, one)).tensor.requires_grad


@pytest.mark.parametrize(("value", "kind", "rounding"), [(257.0, BRAIN, 1.0), (1.0, HALF, 0.0), (-2049.0, HALF, 1.0)])
def test_the_error_of_the_cast_is_measured(value, kind, rounding):
    result = merge_tensor(Seen(), group(torch.tensor([0.0, value])), dtype=kind)
    assert (result.rounding, type(result.rounding)) == (rounding, float)
    assert merge_tensor(Seen(), group(torch.tensor([0.0, value]))).rounding == 0.0


def test_nothing_rounds_by_nothing():
    empty = torch.zeros(0, 3)
    result = merge_tensor(Seen(), group(empty), dtype=HALF)
    assert (result.tensor.shape, result.tensor.dtype, result.rounding) == ((0, 3), HALF, 0.0)


def test_a_result_beyond_its_type_is_named():
    with pytest.raises(DataError) as raised:
        merge_tensor(Seen(), group(torch.tensor([-7e4, 1.0]), name="x.weight"), dtype=HALF)
    assert str(raised.value).startswith(
        "merge: tensor 'x.weight' reaches 7e+04, beyond the range of torch.float16. Store"
    )


GOOD, LONG = torch.ones(2), torch.ones(3)
BROKEN = torch.tensor([1.0, math.inf, math.nan])
REFUSED = {
    "no base": (OPERATORS["ties"](), group(GOOD), ConfigError, "ties: tensor 'w' came without a base"),
    "names": (LINEAR, group(GOOD, GOOD, models=("a",)), ShapeError, "linear: 1 model names for 2 tensors"),
    "nothing": (LINEAR, group(), ConfigError, "linear: no input for tensor 'w'"),
    "shapes": (
        LINEAR,
        group(GOOD, LONG),
        ShapeError,
        "linear: tensor 'w' has shapes {'a (input 0)': (2,), 'b (input 1)': (3,)}.",
    ),
    "shape of the base": (
        Seen(),
        group(GOOD, base=LONG),
        ShapeError,
        "seen: tensor 'w' has shapes {'a (input 0)': (2,), 'the base': (3,)}.",
    ),
    "integers": (
        LINEAR,
        group(GOOD, GOOD.long()),
        DataError,
        "linear: tensor 'w' of b (input 1) holds torch.int64, not floats.",
    ),
    "infinity": (
        LINEAR,
        group(LONG, BROKEN, models=("a", "a")),
        DataError,
        "linear: tensor 'w' of a (input 1) holds 2 NaN or infinite entries of 3.",
    ),
    "infinity in the base": (
        Seen(),
        group(LONG, base=BROKEN),
        DataError,
        "seen: tensor 'w' of the base holds 2 NaN or infinite entries of 3.",
    ),
    "too many": (Seen(), group(GOOD, GOOD, GOOD), ConfigError, "seen: 3 inputs besides the base; it merges 1."),
    "too many, no base": (Heedless(), group(GOOD, GOOD, GOOD), ConfigError, "seen: 3 inputs; it merges 1."),
    "too few": (
        OPERATORS["model_stock"](),
        group(GOOD, base=GOOD, numbers={}),
        ConfigError,
        "model_stock: 1 inputs besides the base; it merges at least 2.",
    ),
    "an unknown number": (
        LINEAR,
        group(GOOD, numbers={"weight": (1.0,), "colour": (1.0,)}),
        ConfigError,
        "linear: inputs have no 'colour'. What each input has: weight.",
    ),
    "an unknown number of none": (
        OPERATORS["karcher"](),
        group(GOOD, numbers={"weight": (1.0,)}),
        ConfigError,
        "karcher: inputs have no 'weight'. What each input has: none.",
    ),
    "several names": (
        OPERATORS["ties"](),
        group(GOOD, base=GOOD, numbers={"gamma": (1.0,)}),
        ConfigError,
        "ties: inputs have no 'gamma'. What each input has: weight, density.",
    ),
    "no number": (LINEAR, group(GOOD, numbers={}), ConfigError, "linear: every input needs a 'weight'"),
    "too few numbers": (
        LINEAR,
        group(GOOD, GOOD, numbers={"weight": (1.0,)}),
        ShapeError,
        "linear: 1 values of 'weight' for 2 inputs.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_merged(case):
    operator, given, error, message = REFUSED[case]
    with pytest.raises(error) as raised:
        merge_tensor(operator, given)
    assert str(raised.value).startswith(message)


def test_finite_entries_whose_sum_is_not():
    largest = torch.full((4,), 3e38)
    assert all_finite(largest)
    assert all_finite(torch.zeros(0))
    for bad in (math.inf, -math.inf, math.nan):
        assert not all_finite(torch.tensor([1.0, bad]))
    assert not all_finite(torch.tensor([math.inf, -math.inf]))


def test_promotion_without_an_operator():
    for kinds, base, expected in (
        ((HALF, BRAIN), HALF, SINGLE),
        ((HALF, DOUBLE), HALF, DOUBLE),
        ((HALF,), DOUBLE, DOUBLE),
    ):
        found = promoted(group(*(torch.ones(1, dtype=kind) for kind in kinds), base=torch.ones(1, dtype=base), seed=4))
        assert {one.dtype for one in (*found.tensors, found.base)} == {expected}
        assert found.seed == 4
    assert promoted(group(torch.ones(1, dtype=HALF))).base is None


def test_models_in_memory():
    inputs = {"a": {"w": GOOD, "v": LONG}, "b": {"w": 3 * GOOD, "v": 5 * LONG}}
    merged = merge_state_dicts(LINEAR, inputs, per_input={"weight": (1.0, 3.0)})
    assert {name: one.tensor.tolist() for name, one in merged.items()} == {"w": [2.5, 2.5], "v": [4.0, 4.0, 4.0]}
    assert merged["w"] == Merged(merged["w"].tensor, (), 0.0)
    operator = Seen()
    merge_state_dicts(operator, inputs, base=inputs["b"], per_input={"weight": (1.0, 3.0)}, seed=9)
    assert [(one.name, one.models, one.seed) for one in operator.groups] == [
        ("v", ("a", "b"), 9),
        ("w", ("a", "b"), 9),
    ]
    assert torch.equal(operator.groups[0].ancestor, 5 * LONG)
    assert merge_state_dicts(OPERATORS["karcher"](), {"a": {"w": GOOD}})["w"].tensor.tolist() == [1, 1]
    random = [
        merge_state_dicts(OPERATORS["dare_linear"](), {"a": {"w": torch.ones(64)}}, base={"w": torch.zeros(64)},
                          per_input={"weight": (1.0,), "density": (0.5,)}, **given)["w"].tensor
        for given in ({}, {"seed": 0}, {"seed": 1})
    ]  # fmt: skip
    assert torch.equal(random[0], random[1])
    assert not torch.equal(random[0], random[2])


@pytest.mark.parametrize(
    ("inputs", "base", "message"),
    [
        ({"a": {"w": GOOD}, "b": {"w": GOOD, "v": GOOD}}, None, "merge: model 'a' has no tensor 'v', which another"),
        ({"a": {"w": GOOD}}, {"w": GOOD, "x": GOOD}, "merge: model 'a' has no tensor 'x'"),
        ({"a": {"w": GOOD, "y": GOOD}}, {"w": GOOD}, "merge: model 'base' has no tensor 'y'"),
    ],
)
def test_models_with_other_tensors(inputs, base, message):
    with pytest.raises(ShapeError, match=f"^{message}"):
        merge_state_dicts(Ties(), inputs, base=base, per_input={"weight": (1.0,) * len(inputs)})


def test_a_group_without_a_base_has_no_ancestor():
    with pytest.raises(ConfigError, match=r"tensor 'x' has no base, and this operator needs one. Name a base_model"):
        _ = group(GOOD, name="x").ancestor
