"""Scoring of the operator task: free-running (the model reads its own results) and teacher-forced (the right ones)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from assay.axes import Bool, Float, Int, NDArray
from assay.errors import DataError, ShapeError
from assay.tasks.operators import OMEGA, UNSCORED, Item, OperatorTask

__all__ = ["FreeRunning", "Predict", "free_running", "majority_rate", "omega_step_correct", "teacher_forced"]

Predict = Callable[[Int[NDArray, "item token"], Int[NDArray, "item token"]], Int[NDArray, "item token"]]
"""Ids and mask of lines, padded on the right, to the likeliest next token after every position."""


class FreeRunning(NamedTuple):
    """Results that the model wrote (token ids, ``UNSCORED`` where a line has none), and per item what was right.

    ``correct``: the final answer, which is the last result. ``all_correct``: every result.
    """

    results: Int[NDArray, "item result"]
    correct: Bool[NDArray, " item"]
    all_correct: Bool[NDArray, " item"]

    @property
    def accuracy(self) -> float:
        """Share of items with the right final answer."""
        return float(self.correct.mean())


def free_running(task: OperatorTask, items: Sequence[Item], *, predict: Predict) -> FreeRunning:
    """Greedy decoding of the results, the operators given: each result is read where it is due and written after it.

    ``predict`` never sees a right result or anything to the right of the read position.

    Raises:
        DataError: no items.
        ShapeError: predictions of another shape.
    """
    lines = task.lines(items)
    every = np.arange(len(items))
    ids = lines.ids.copy()
    due_item, due_result = np.nonzero(lines.reads >= 0)
    ids[due_item, lines.reads[due_item, due_result] + 1] = 0
    written = np.full_like(lines.results, UNSCORED)
    for result in range(lines.reads.shape[1]):
        due = every[lines.reads[:, result] >= 0]
        read = lines.reads[due, result]
        width = int(read.max()) + 1
        mask = (np.arange(width) <= read[:, None]).astype(np.int64)
        said = _predicted(predict, ids[due, :width] * mask, mask)
        written[due, result] = said[np.arange(len(due)), read]
        ids[due, read + 1] = written[due, result]
    right = written == lines.results
    last = (lines.reads >= 0).sum(axis=1) - 1
    return FreeRunning(written, right[every, last], right.all(axis=1))


def teacher_forced(task: OperatorTask, items: Sequence[Item], *, predict: Predict) -> Bool[NDArray, "item result"]:
    """Whether each result is predicted from a line in which all results before it are right; False where there is none.

    Raises:
        DataError: no items.
        ShapeError: predictions of another shape.
    """
    lines = task.lines(items)
    said = _predicted(predict, lines.ids[:, :-1], lines.mask[:, :-1])
    here = np.take_along_axis(said, np.maximum(lines.reads, 0), axis=1)
    right: Bool[NDArray, "item result"] = (here == lines.results) & (lines.reads >= 0)
    return right


def omega_step_correct(task: OperatorTask, items: Sequence[Item], *, predict: Predict) -> Bool[NDArray, " item"]:
    """Teacher-forced: whether the result of the step (or window) that holds the first omega is predicted.

    Raises:
        DataError: no items, or one without omega.
        ShapeError: predictions of another shape.
    """
    omega = task.index(OMEGA)
    if any(omega not in item.program for item in items):
        raise DataError("omega_step_correct: an item has no omega. Give items of the target stratum.")
    right = teacher_forced(task, items, predict=predict)
    windows = np.array([item.program.index(omega) // task.trace_stride for item in items])
    step: Bool[NDArray, " item"] = right[np.arange(len(items)), windows]
    return step


def majority_rate(task: OperatorTask, items: Sequence[Item]) -> float:
    """Share of the commonest final answer: what a constant answer scores, the chance level to print beside scores.

    Raises:
        DataError: no items.
    """
    lines = task.lines(items)
    last = (lines.reads >= 0).sum(axis=1) - 1
    counts: Float[NDArray, " token"] = np.bincount(lines.results[np.arange(len(items)), last])
    return float(counts.max() / len(items))


def _predicted(predict: Predict, ids: NDArray, mask: NDArray) -> NDArray:
    said = predict(ids, mask)
    if said.shape != ids.shape:
        raise ShapeError(
            f"scoring: predict returned {said.shape} for lines {ids.shape}; one token a position is needed."
        )
    return said
