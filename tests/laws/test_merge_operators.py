"""Laws of every merge operator in `OPERATORS`, at its defaults; each law has a broken twin that it catches.

An operator that is added to the table is tested here without another line: what it promises is on its class.
"""

import dataclasses
import math
from typing import ClassVar

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ConfigError, DataError, ShapeError
from assay.merge.operator import OPERATORS, AbstractMergeOperator, Fused, Promise, TensorGroup
from assay.merge.tensors import merge_state_dicts, merge_tensor
from assay.seeds import torch_stream

SHAPES = st.sampled_from([(7,), (1,), (5, 3), (4, 1), (1, 6), (2, 3, 4), ()])
CASES = st.tuples(st.integers(0, 10**6), SHAPES, st.sampled_from([1e-3, 1.0, 1e3]))


def members(promise=None, *, random=None):
    chosen = [
        name
        for name, operator in OPERATORS.items()
        if (promise is None or promise in operator.promises) and (random is None or operator.random == random)
    ]
    return pytest.mark.parametrize("name", chosen)


def made(operator):
    """The operator at its defaults; required options are a half."""
    needed = {one.name: 0.5 for one in dataclasses.fields(operator) if one.default is dataclasses.MISSING}
    return operator(**needed)


def count(operator, seed):
    """Two, three or four inputs, within what the operator takes."""
    most = operator.most or max(operator.fewest, 4)
    return min(max(operator.fewest, 2 + seed // 10 % 3), most)


def drawn(operator, case, *, n=None, equal=False):
    seed, shape, scale = case
    draws = torch_stream(seed, "laws")
    n = n or count(operator, seed)
    base = scale * torch.randn(shape, generator=draws, dtype=torch.float64)
    inputs = [base + scale * (0.1 + torch.rand(shape, generator=draws, dtype=torch.float64)) for _ in range(n)]
    return base, [inputs[0]] * n if equal else inputs


def merge(operator, base, inputs, *, weights=None, name="w", models=None, **others):
    """The merge by the operator's own needs; weights are equal unless given."""
    kind = type(operator)
    numbers = dict(others)
    if "weight" in kind.per_input:
        numbers["weight"] = tuple(weights or [1 / len(inputs)] * len(inputs))
    models = models or tuple(f"m{place}" for place in range(len(inputs)))
    given_base = None if kind.base == "ignored" else base
    return merge_tensor(operator, TensorGroup(name, models, tuple(inputs), given_base, numbers)).tensor


def near(one, other):
    scale = max(float(other.abs().max()), 1e-30) if other.numel() else 1.0
    assert one.shape == other.shape
    assert float((one - other).abs().max()) <= 2e-5 * scale if one.numel() else True


def law_identity(operator, case):
    base, inputs = drawn(type(operator), case, equal=True)
    if type(operator).base != "ignored" and type(operator).most == 1:
        base = inputs[0]
    near(merge(operator, base, inputs), inputs[0])


def law_permutation(operator, case):
    base, inputs = drawn(type(operator), case)
    draws = torch_stream(case[0], "orders")

    def reordered(tensor, orders):
        for axis, order in enumerate(orders):
            tensor = tensor.index_select(axis, order)
        return tensor

    orders = [torch.randperm(size, generator=draws) for size in base.shape]
    moved = merge(operator, reordered(base, orders), [reordered(one, orders) for one in inputs])
    near(moved, reordered(merge(operator, base, inputs), orders))


def law_order(operator, case):
    base, inputs = drawn(type(operator), case)
    weights = [0.5, 0.3, 0.2, 0.1][: len(inputs)]
    backwards = merge(
        operator, base, inputs[::-1], weights=weights[::-1], models=tuple(f"m{i}" for i in range(len(inputs)))[::-1]
    )
    near(backwards, merge(operator, base, inputs, weights=weights))


def law_endpoints(operator, case):
    base, inputs = drawn(type(operator), case)
    if "t" in [one.name for one in dataclasses.fields(operator)]:
        near(merge(dataclasses.replace(operator, t=0.0), base, inputs), base)
        return
    weights = [0.0 for _ in inputs]
    weights[-1] = 1.0
    near(merge(operator, base, inputs, weights=weights), inputs[-1])


def law_form(operator, case):
    """Shape, type, finiteness, no trace in the inputs, and the same bits again."""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        base, inputs = drawn(type(operator), case)
        base, inputs = base.to(dtype), [one.to(dtype) for one in inputs]
        before = [one.clone() for one in (base, *inputs)]
        result = merge(operator, base, inputs)
        assert (result.shape, result.dtype) == (base.shape, dtype)
        assert bool(torch.isfinite(result).all())
        assert torch.equal(result, merge(operator, base, inputs))
        assert all(torch.equal(one, other) for one, other in zip(before, (base, *inputs), strict=True))


def law_any_order_of_tensors(operator, case):
    """A tensor comes out the same whatever is merged before it, and beside what."""
    kind = type(operator)
    names = ["a", "b", "c"]
    n = count(kind, case[0])
    sets = {name: drawn(kind, (case[0] + place, case[1], case[2]), n=n) for place, name in enumerate(names)}
    numbers = {"weight": (1 / n,) * n} if "weight" in kind.per_input else {}
    if kind.random:
        numbers |= {"density": (0.5,) * n}

    def all_of(order):
        models = {f"m{i}": {name: sets[name][1][i] for name in order} for i in range(n)}
        base = None if kind.base == "ignored" else {name: sets[name][0] for name in order}
        return merge_state_dicts(operator, models, base=base, per_input=numbers, seed=3)

    together, apart = all_of(names[::-1]), {name: all_of([name])[name] for name in names}
    assert all(torch.equal(together[name].tensor, apart[name].tensor) for name in names)


LAWS = {
    Promise.IDENTITY: law_identity,
    Promise.PERMUTATION: law_permutation,
    Promise.ORDER: law_order,
    Promise.ENDPOINTS: law_endpoints,
}


@members(Promise.IDENTITY)
@given(case=CASES)
def test_equal_inputs_give_that_input(name, case):
    law_identity(made(OPERATORS[name]), case)


@members(Promise.PERMUTATION)
@given(case=CASES)
def test_rows_and_columns_may_be_reordered(name, case):
    law_permutation(made(OPERATORS[name]), case)


@members(Promise.ORDER)
@given(case=CASES)
def test_the_order_of_inputs_does_not_matter(name, case):
    law_order(made(OPERATORS[name]), case)


@members(Promise.ENDPOINTS)
@given(case=CASES)
def test_ends_are_the_inputs(name, case):
    law_endpoints(made(OPERATORS[name]), case)


@members()
@given(case=CASES)
def test_shape_type_finiteness_and_repetition(name, case):
    law_form(made(OPERATORS[name]), case)


@members()
@given(case=CASES)
def test_tensors_do_not_move_each_other(name, case):
    law_any_order_of_tensors(made(OPERATORS[name]), case)


@members()
def test_every_operator_says_what_it_is(name):
    operator = OPERATORS[name]
    assert operator.name == name
    assert operator.source
    assert "Source:" in operator.__doc__ or name == "passthrough"
    assert operator.promises
    assert dataclasses.is_dataclass(operator)
    assert made(operator).described()["name"] == name


@members()
def test_what_cannot_be_merged_is_refused(name):
    operator = made(OPERATORS[name])
    base, inputs = drawn(type(operator), (0, (5, 3), 1.0))
    broken = inputs[0].clone()
    broken[1, 1] = math.nan
    with pytest.raises(DataError, match=r"'w' of m0 .*1 NaN or infinite"):
        merge(operator, base, [broken, *inputs[1:]])
    with pytest.raises(DataError, match="not floats"):
        merge(operator, base, [inputs[0].to(torch.int64), *inputs[1:]])
    if type(operator).base != "ignored" or len(inputs) > 1:
        with pytest.raises(ShapeError, match="has shapes"):
            merge(operator, base, [inputs[0][:4], *inputs[1:]])
    if type(operator).base == "required":
        with pytest.raises(ConfigError, match="without a base"):
            merge(operator, None, inputs)
    with pytest.raises(ConfigError, match="no 'colour'"):
        merge(operator, base, inputs, colour=(1.0,) * len(inputs))
    if type(operator).most is not None:
        with pytest.raises(ConfigError, match="inputs"):
            merge(operator, base, [*inputs, inputs[0]])


@dataclasses.dataclass(frozen=True)
class Broken(AbstractMergeOperator):
    """The twin of every law: it weighs by place, adds noise from the global stream, and writes into its first input."""

    name = "broken"
    source = "none"
    base: ClassVar = "optional"
    per_input: ClassVar = {"weight": None}
    kind: str = "places"

    def fuse(self, group):
        first = group.tensors[0]
        if self.kind == "writes":
            return Fused(first.add_(1))
        if self.kind == "noise":
            return Fused(first + torch.rand(first.shape))
        if self.kind == "grows":
            return Fused(first * (1 / 0.0 if first.numel() else 1.0))
        places = torch.arange(first.numel(), dtype=first.dtype).reshape(first.shape)
        return Fused(first + 0.5 * places * first.abs().mean() + first.abs().mean())


TWINS = [
    (law_identity, "places"),
    (law_permutation, "places"),
    (law_order, "places"),
    (law_endpoints, "places"),
    (law_form, "writes"),
    (law_form, "noise"),
    (law_any_order_of_tensors, "noise"),
]


@pytest.mark.parametrize(("law", "kind"), TWINS)
def test_each_law_catches_a_broken_operator(law, kind):
    with pytest.raises(AssertionError):
        law(Broken(kind), (1, (5, 3), 1.0))


def test_a_result_that_is_not_finite_is_refused():
    with pytest.raises((DataError, ZeroDivisionError)):
        law_form(Broken("grows"), (0, (5, 3), 1.0))


def test_every_promise_has_a_law():
    assert set(LAWS) == set(Promise)
