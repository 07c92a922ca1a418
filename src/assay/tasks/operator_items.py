"""Items of the operator task: strata with their clusters, corruption pairs, random lines, and batches for training."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple, final

import numpy as np

from assay.axes import Int, NDArray
from assay.errors import ConfigError, DataError
from assay.seeds import stream
from assay.tasks.operators import OMEGA, UNSCORED, Item, OperatorTask, traces

__all__ = [
    "CorruptionPairs",
    "OperatorBatch",
    "OperatorBatches",
    "Stratum",
    "StratumItems",
    "corruption_pairs",
    "incoming_values",
    "item_codes",
    "random_lines",
    "stratum_items",
]

_ATTEMPTS = 1000


class Stratum(StrEnum):
    """Named subsets of items.

    ``target_iid``  exactly one omega at a uniform place, 2 to 5 steps
    ``control_iid`` no omega, 2 to 5 steps
    ``length_ood``  exactly one omega at a uniform place, 6 to 8 steps
    """

    TARGET_IID = "target_iid"
    CONTROL_IID = "control_iid"
    LENGTH_OOD = "length_ood"


_LENGTHS = {Stratum.TARGET_IID: (2, 5), Stratum.CONTROL_IID: (2, 5), Stratum.LENGTH_OOD: (6, 8)}


class StratumItems(NamedTuple):
    """Items of one stratum and, for the bootstrap, the cluster of each: its program, in operator names."""

    stratum: Stratum
    items: tuple[Item, ...]
    clusters: tuple[str, ...]


class CorruptionPairs(NamedTuple):
    """Lines that end at the read position of omega, and the same lines with omega replaced.

    ``read`` is the read position; ``clean_answer`` and ``corrupted_answer`` the tokens of the two results there, which
    always differ. ``kept`` are the positions of the items that are left; ``dropped`` counts those whose results agreed.
    """

    clean: Int[NDArray, "pair token"]
    corrupted: Int[NDArray, "pair token"]
    mask: Int[NDArray, "pair token"]
    read: Int[NDArray, " pair"]
    clean_answer: Int[NDArray, " pair"]
    corrupted_answer: Int[NDArray, " pair"]
    kept: Int[NDArray, " pair"]
    dropped: int


class OperatorBatch(NamedTuple):
    """Lines without their last token, and after each read position the result to be predicted, else ``UNSCORED``."""

    input_ids: Int[NDArray, "batch token"]
    attention_mask: Int[NDArray, "batch token"]
    targets: Int[NDArray, "batch token"]


def stratum_items(
    task: OperatorTask, stratum: Stratum, *, rng: np.random.Generator, programs: int = 250, starts: int = 4
) -> StratumItems:
    """``programs`` programs that all differ, each with ``starts`` start values that differ, in order of drawing.

    The number of steps is uniform until the programs of a length are used up (there are 14 target programs of two
    steps over eight operators); a repeated program is drawn anew, its length too.

    Raises:
        ConfigError: no program or start, more starts than values, or a task without omega.
        DataError: fewer programs of the stratum than asked.
    """
    if programs < 1 or not 1 <= starts <= task.base:
        raise ConfigError(
            f"stratum_items: {programs} programs x {starts} starts; 1 or more, at most {task.base} starts."
        )
    omega = task.index(OMEGA)
    found: dict[tuple[int, ...], None] = {}
    for _ in range(_ATTEMPTS * programs):
        if len(found) == programs:
            break
        found.setdefault(_program(task, stratum, omega, rng))
    if len(found) < programs:
        raise DataError(
            f"stratum_items: {programs} programs of {stratum} wanted, {len(found)} found in {_ATTEMPTS * programs} "
            "draws. Ask for fewer."
        )
    items, clusters = [], []
    for program in found:
        name = " ".join(task.operators[index].name for index in program)
        for start in rng.choice(task.base, size=starts, replace=False):
            items.append(Item(program, int(start)))
            clusters.append(name)
    return StratumItems(stratum, tuple(items), tuple(clusters))


def incoming_values(task: OperatorTask, items: Sequence[Item]) -> Int[NDArray, " item"]:
    """The value that enters the first omega step of each item: the operand of omega.

    Raises:
        DataError: an item without omega.
    """
    omega = task.index(OMEGA)
    values = np.empty(len(items), dtype=np.int64)
    for number, item in enumerate(items):
        if omega not in item.program:
            raise DataError(f"incoming_values: {task.text(item)} has no omega. Give items of the target stratum.")
        step = item.program.index(omega)
        values[number] = traces(task, np.array([item.program]), np.array([item.start]))[0, step]
    return values


def corruption_pairs(task: OperatorTask, items: Sequence[Item], *, rng: np.random.Generator) -> CorruptionPairs:
    """For each item omega's token replaced by another operator, drawn uniformly; pairs of equal results are dropped.

    Raises:
        DataError: an item without omega or with two, or no pair left.

    Source: symmetric token replacement, Zhang and Nanda 2023 (arXiv 2309.16042).
    """
    omega = task.index(OMEGA)
    if any(item.program.count(omega) != 1 for item in items):
        raise DataError("corruption_pairs: every item needs exactly one omega. Give items of the target stratum.")
    clean, steps = task.lines(items), np.array([item.program.index(omega) for item in items])
    others = [index for index in range(len(task.operators)) if index != omega]
    changed = rng.choice(others, size=len(items))
    swapped = [
        Item((*item.program[:step], int(other), *item.program[step + 1 :]), item.start)
        for item, step, other in zip(items, steps, changed, strict=True)
    ]
    corrupted = task.lines(swapped)
    windows = steps // task.trace_stride
    every = np.arange(len(items))
    read = clean.reads[every, windows]
    answers, wrong = clean.results[every, windows], corrupted.results[every, windows]
    kept = np.flatnonzero(answers != wrong)
    if not len(kept):
        raise DataError(f"corruption_pairs: the results of all {len(items)} pairs agree. Draw more items.")
    mask = (np.arange(clean.ids.shape[1]) <= read[:, None]).astype(np.int64)[kept, : read[kept].max() + 1]
    ids = [lines.ids[kept, : mask.shape[1]] * mask for lines in (clean, corrupted)]
    return CorruptionPairs(ids[0], ids[1], mask, read[kept], answers[kept], wrong[kept], kept, len(items) - len(kept))


def random_lines(
    task: OperatorTask, *, lines: int, tokens: int, rng: np.random.Generator, without: Sequence[str] = (OMEGA,)
) -> Int[NDArray, "item token"]:
    """Task-free lines: BOS, then uniform random tokens; never PAD nor the operators ``without``.

    Raises:
        ConfigError: no line, fewer than two tokens, or an unknown operator.
    """
    if lines < 1 or tokens < 2:
        raise ConfigError(f"random_lines: {lines} lines of {tokens} tokens; at least 1 and 2 are needed.")
    barred = {0, *task.operator_token(np.array([task.index(name) for name in without], dtype=np.int64)).tolist()}
    allowed = [token for token in range(task.vocabulary) if token not in barred]
    ids = rng.choice(allowed, size=(lines, tokens)).astype(np.int64)
    ids[:, 0] = task.names.index("BOS")
    return ids


def item_codes(task: OperatorTask, items: Sequence[Item]) -> Int[NDArray, " item"]:
    """One integer an item; equal codes, equal items. Raises: DataError if a program is too long for 64 bits."""
    radix = len(task.operators) + 1
    if items and task.base * radix ** max(len(item.program) for item in items) >= 2**63:
        raise DataError(f"item_codes: a program of {max(len(i.program) for i in items)} steps is too long for a code.")
    codes = np.empty(len(items), dtype=np.int64)
    for number, item in enumerate(items):
        code = 0
        for operator in item.program:
            code = code * radix + operator + 1
        codes[number] = code * task.base + item.start
    return codes


@final
@dataclass(frozen=True)
class OperatorBatches:
    """Batches for training by step: programs uniform over the ``allowed`` operators and ``steps`` numbers of steps.

    Every batch has its own stream, so training goes on from any step. Items whose code is in ``held_out`` are drawn
    anew. ``grouping``: "one_length" gives all programs of a batch the same number of steps, drawn a batch, so that
    nothing is padded; "mixed" draws it a program.

    Raises:
        ConfigError: no item, an unknown operator or grouping, or a range of steps that is none.
    """

    task: OperatorTask
    allowed: tuple[str, ...]
    seed: int
    name: str
    size: int = 128
    steps: tuple[int, int] = (2, 5)
    held_out: tuple[int, ...] = ()
    grouping: Literal["one_length", "mixed"] = "one_length"

    def __post_init__(self) -> None:
        for name in self.allowed:
            self.task.index(name)
        if self.size < 1 or not self.allowed or not 1 <= self.steps[0] <= self.steps[1]:
            raise ConfigError(f"OperatorBatches: {self.size} items of {self.steps} steps over {self.allowed}.")
        if self.grouping not in ("one_length", "mixed"):
            raise ConfigError(f"OperatorBatches: grouping {self.grouping!r}; there are one_length and mixed.")

    @property
    def digest(self) -> str:
        """SHA-256 of everything that the batches depend on."""
        parts = (self.task.digest, self.allowed, self.seed, self.name, self.size, self.steps, sorted(self.held_out))
        return hashlib.sha256(repr((*parts, self.grouping)).encode()).hexdigest()

    def items(self, step: int) -> tuple[Item, ...]:
        """The items of a batch. Raises: DataError if nearly all are held out."""
        rng = stream(self.seed, "operator batches", self.name, step)
        indices = np.array([self.task.index(name) for name in self.allowed])
        length = int(rng.integers(self.steps[0], self.steps[1] + 1))
        barred = np.array(self.held_out, dtype=np.int64)
        items: list[Item] = []
        for _ in range(_ATTEMPTS):
            lengths = np.full(self.size, length)
            if self.grouping == "mixed":
                lengths = rng.integers(self.steps[0], self.steps[1] + 1, size=self.size)
            programs = rng.choice(indices, size=(self.size, self.steps[1]))
            starts = rng.integers(self.task.base, size=self.size)
            drawn = [Item(tuple(row[:n].tolist()), int(v)) for row, n, v in zip(programs, lengths, starts, strict=True)]
            free = ~np.isin(item_codes(self.task, drawn), barred)
            items += [item for item, one in zip(drawn, free, strict=True) if one]
            if len(items) >= self.size:
                return tuple(items[: self.size])
        raise DataError(f"OperatorBatches: too few items are left of {self.steps} steps; {len(barred)} are held out.")

    def __call__(self, step: int) -> OperatorBatch:
        lines = self.task.lines(self.items(step))
        targets = np.full(lines.ids.shape, UNSCORED, dtype=np.int64)
        item, result = np.nonzero(lines.reads >= 0)
        targets[item, lines.reads[item, result]] = lines.results[item, result]
        # The last token of the longest line predicts nothing.
        return OperatorBatch(lines.ids[:, :-1], lines.mask[:, :-1], targets[:, :-1])


def _program(task: OperatorTask, stratum: Stratum, omega: int, rng: np.random.Generator) -> tuple[int, ...]:
    low, high = _LENGTHS[stratum]
    others = [index for index in range(len(task.operators)) if index != omega]
    program = rng.choice(others, size=int(rng.integers(low, high + 1)))
    if stratum is not Stratum.CONTROL_IID:
        program[rng.integers(len(program))] = omega
    return tuple(int(index) for index in program)
