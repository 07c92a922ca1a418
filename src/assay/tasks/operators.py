"""Operator-sequence programs: a value, then operators that change it, one after the other, modulo a base.

A program is a sequence of operators, an item a program with a start value. Its line reads ``BOS v0 op_1 v_1 op_2 v_2``
and so on, v_i = op_i(v_{i-1}); with ``trace_stride`` s a result is written after every s-th operator and the last only.
The read position of a result is the operator token before it, whose next token is the result. Every operator is a
permutation of the residues, so a wrong value never merges back into the right one under the operators that follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from assay.axes import Int, NDArray
from assay.errors import ConfigError, DataError

__all__ = ["OMEGA", "UNSCORED", "Item", "Lines", "Operator", "OperatorTask", "operator_task", "traces"]

OMEGA = "omega"
UNSCORED = -100
_SPECIALS = ("PAD", "BOS", "EQ", "EOS")
_PAD, _BOS = 0, 1
_AFFINE = ((1, 3), (1, 5), (2, 0), (3, 1), (-1, -1), (7, 2), (5, 4))


@final
@dataclass(frozen=True)
class Operator:
    """A permutation of 0 to base - 1: ``values[v]`` is what v becomes.

    Raises:
        ConfigError: not a permutation.
    """

    name: str
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        if sorted(self.values) != list(range(len(self.values))):
            raise ConfigError(
                f"Operator {self.name}: {self.values} is no permutation of 0 to {len(self.values) - 1}, so that wrong "
                "values would merge back into right ones. Choose another base or operator."
            )


class Item(NamedTuple):
    """A program (indices into the task's operators) and the value it starts from."""

    program: tuple[int, ...]
    start: int


class Lines(NamedTuple):
    """Lines of items, padded on the right; ``reads[i, r]`` is where result r of item i is read, -1 where there is none.

    The token of the result stands at ``reads + 1``; ``results`` holds it, ``UNSCORED`` where there is none.
    """

    ids: Int[NDArray, "item token"]
    mask: Int[NDArray, "item token"]
    reads: Int[NDArray, "item result"]
    results: Int[NDArray, "item result"]


@final
@dataclass(frozen=True)
class OperatorTask:
    """Operators over one base, and the stride of the trace. Tokens: PAD, BOS, EQ, EOS, the digits, the operators.

    Raises:
        ConfigError: no operator, two of one name, one of another base, or a stride below 1.
    """

    operators: tuple[Operator, ...]
    base: int = 11
    trace_stride: int = 1

    def __post_init__(self) -> None:
        names = [operator.name for operator in self.operators]
        if not names or len(set(names)) != len(names) or self.trace_stride < 1:
            raise ConfigError(
                f"OperatorTask: operators {names}, trace_stride {self.trace_stride}; at least one operator, names that "
                "differ, and a stride of 1 or more are needed."
            )
        if any(len(operator.values) != self.base for operator in self.operators):
            raise ConfigError(f"OperatorTask: every operator must permute 0 to {self.base - 1}; {names} do not.")

    @property
    def vocabulary(self) -> int:
        """Number of tokens; 23 for base 11 and eight operators."""
        return len(_SPECIALS) + self.base + len(self.operators)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all tokens by id."""
        digits = tuple(str(value) for value in range(self.base))
        return (*_SPECIALS, *digits, *(operator.name for operator in self.operators))

    @cached_property
    def table(self) -> Int[NDArray, "operator value"]:
        """``table[o, v]`` = o applied to v."""
        return np.array([operator.values for operator in self.operators], dtype=np.int64)

    @property
    def digest(self) -> str:
        """SHA-256 of operators, base and stride."""
        return hashlib.sha256(repr((self.operators, self.base, self.trace_stride)).encode()).hexdigest()

    def index(self, name: str) -> int:
        """Index of the operator ``name``. Raises: ConfigError if there is none."""
        for number, operator in enumerate(self.operators):
            if operator.name == name:
                return number
        raise ConfigError(f"OperatorTask: no operator {name!r}; there are {', '.join(o.name for o in self.operators)}.")

    def digit(self, values: Int[NDArray, "*axes"]) -> Int[NDArray, "*axes"]:
        """Token ids of values."""
        return values + len(_SPECIALS)

    def operator_token(self, operators: Int[NDArray, "*axes"]) -> Int[NDArray, "*axes"]:
        """Token ids of operators."""
        return operators + len(_SPECIALS) + self.base

    def emitted(self, length: int) -> list[int]:
        """Steps (from 1) after which a program of ``length`` operators writes its result."""
        return [step for step in range(1, length + 1) if step % self.trace_stride == 0 or step == length]

    def lines(self, items: Sequence[Item]) -> Lines:
        """The lines of ``items``, with every result written. Raises: DataError as ``traces``."""
        if not items:
            raise DataError("OperatorTask.lines: no items. Draw some first.")
        lengths = np.array([len(item.program) for item in items])
        widest = max(int(length) + len(self.emitted(int(length))) for length in set(lengths)) + 2
        results = max(len(self.emitted(int(length))) for length in set(lengths))
        ids = np.full((len(items), widest), _PAD, dtype=np.int64)
        mask = np.zeros_like(ids)
        reads = np.full((len(items), results), -1, dtype=np.int64)
        answers = np.full((len(items), results), UNSCORED, dtype=np.int64)
        for length in sorted(set(lengths.tolist())):
            rows = np.flatnonzero(lengths == length)
            same = [items[row] for row in rows.tolist()]
            programs = np.array([item.program for item in same])
            values = traces(self, programs, np.array([item.start for item in same]))
            line, places = self._line(programs, values)
            steps = self.emitted(length)
            ids[rows, : line.shape[1]] = line
            mask[rows, : line.shape[1]] = 1
            reads[rows, : len(steps)] = places
            answers[rows, : len(steps)] = self.digit(values[:, steps])
        return Lines(ids, mask, reads, answers)

    def text(self, item: Item) -> str:
        """The line of an item in token names, such as ``BOS 3 v+3 6 omega 10``."""
        return " ".join(self.names[token] for token in self.lines([item]).ids[0])

    def _line(
        self, programs: Int[NDArray, "item step"], values: Int[NDArray, "item value"]
    ) -> tuple[Int[NDArray, "item token"], list[int]]:
        emitted = set(self.emitted(programs.shape[1]))
        columns = [np.full(len(programs), _BOS), self.digit(values[:, 0])]
        places = []
        for step in range(1, programs.shape[1] + 1):
            columns.append(self.operator_token(programs[:, step - 1]))
            if step in emitted:
                places.append(len(columns) - 1)
                columns.append(self.digit(values[:, step]))
        return np.stack(columns, axis=1), places


def operator_task(*, rng: np.random.Generator, base: int = 11, trace_stride: int = 1) -> OperatorTask:
    """Seven affine permutations (v+3, v+5, 2v, 3v+1, -v-1, 7v+2, 5v+4), and ``omega``: a random one, none of them.

    Raises:
        ConfigError: a base in which one of the seven is no permutation (2, 3, 5 or 7 divides it), or two are the same.
    """
    known = [
        Operator(_affine_name(factor, shift), tuple((factor * value + shift) % base for value in range(base)))
        for factor, shift in _AFFINE
    ]
    taken = {operator.values for operator in known}
    if len(taken) != len(known) or base < 2:
        raise ConfigError(f"operator_task: base {base} makes two of the seven operators one. Use 11 or a larger prime.")
    omega = tuple(range(base))
    while omega in taken or omega == tuple(range(base)):
        omega = tuple(int(value) for value in rng.permutation(base))
    return OperatorTask((*known, Operator(OMEGA, omega)), base=base, trace_stride=trace_stride)


def traces(
    task: OperatorTask, programs: Int[NDArray, "item step"], starts: Int[NDArray, " item"]
) -> Int[NDArray, "item value"]:
    """Values v_0 to v_n of each item.

    Raises:
        DataError: programs without a step, an operator or a start value that the task does not have.
    """
    if programs.ndim != 2 or programs.shape[1] < 1 or starts.shape != programs.shape[:1]:
        raise DataError(
            f"traces: programs {programs.shape}, starts {starts.shape}; (item, step) and (item,) are needed."
        )
    if programs.min() < 0 or programs.max() >= len(task.operators) or starts.min() < 0 or starts.max() >= task.base:
        raise DataError(f"traces: operators lie in 0 to {len(task.operators) - 1}, starts in 0 to {task.base - 1}.")
    values = [starts]
    for step in range(programs.shape[1]):
        values.append(task.table[programs[:, step], values[-1]])
    return np.stack(values, axis=1)


def _affine_name(factor: int, shift: int) -> str:
    head = {1: "v", -1: "-v"}.get(factor, f"{factor}v")
    return head if shift == 0 else f"{head}{shift:+d}"
