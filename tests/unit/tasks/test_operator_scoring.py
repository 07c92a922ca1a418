"""Scoring: free-running reads what was written, teacher-forced what is right; nobody sees the answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from assay.axes import NDArray
from assay.errors import DataError, ShapeError
from assay.seeds import stream
from assay.tasks.operator_items import Stratum, stratum_items
from assay.tasks.operator_scoring import free_running, majority_rate, omega_step_correct, teacher_forced
from assay.tasks.operators import Item, OperatorTask, operator_task

TASK = operator_task(rng=stream(0, "omega"))
ITEMS = [Item((0, 2, 4), 9), Item((7, 0), 3), Item((0, 7, 0, 1, 2), 5)]
Predict = Callable[[NDArray, NDArray], NDArray]


def executor(task: OperatorTask, *, without_omega: bool = False) -> Predict:
    """A model that reads a line and executes it: at a position, the operators since the last value it can see."""
    first_digit, first_operator = 4, 4 + task.base

    def run(ids: NDArray, mask: NDArray) -> NDArray:
        said = np.zeros_like(ids)
        for row, line in enumerate(ids):
            value = 0
            for place, token in enumerate(line):
                if first_digit <= token < first_operator:
                    value = int(token) - first_digit
                elif token >= first_operator and not (without_omega and token == ids.max() and token == 22):
                    value = int(task.table[token - first_operator, value])
                said[row, place] = value + first_digit
        return said

    return run


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_a_model_that_executes_is_always_right(stride: int) -> None:
    task = operator_task(rng=stream(0, "omega"), trace_stride=stride)
    items = stratum_items(task, Stratum.TARGET_IID, rng=stream(0, "items"), programs=30).items
    free = free_running(task, items, predict=executor(task))
    assert (free.accuracy, free.all_correct.all()) == (1.0, True)
    assert np.array_equal(free.results, task.lines(items).results)
    forced = teacher_forced(task, items, predict=executor(task))
    assert np.array_equal(forced, task.lines(items).reads >= 0)
    assert omega_step_correct(task, items, predict=executor(task)).all()


def test_a_wrong_step_stays_wrong_when_free_and_is_forgiven_when_forced() -> None:
    predict = executor(TASK, without_omega=True)
    free = free_running(TASK, ITEMS, predict=predict)
    assert free.correct.tolist() == [True, False, False]
    forced = teacher_forced(TASK, ITEMS, predict=predict)
    assert forced.tolist() == [
        [True] * 3 + [False] * 2,
        [False, True, False, False, False],
        [True, False, True, True, True],
    ]
    assert omega_step_correct(TASK, ITEMS[1:], predict=predict).tolist() == [False, False]


def test_free_running_shows_no_result_and_nothing_to_the_right() -> None:
    gold = TASK.lines(ITEMS)

    def spy(ids: NDArray, mask: NDArray) -> NDArray:
        assert (ids[mask == 0] == 0).all()
        assert (np.diff(mask, axis=1) <= 0).all()
        for line, seen in zip(ids, mask, strict=True):
            assert line[int(seen.sum()) - 1] >= 15
        assert not np.isin(ids[:, 3:], np.arange(4, 15)).any()
        return np.full_like(ids, 2)

    free = free_running(TASK, ITEMS, predict=spy)
    assert free.accuracy == 0.0
    assert set(free.results[gold.reads >= 0].tolist()) == {2}


def test_a_model_that_peeks_gains_nothing() -> None:
    """A twin that copies the next token of the line is right under teacher forcing and wrong when it runs free."""

    def peek(ids: NDArray, mask: NDArray) -> NDArray:
        return np.concatenate([ids[:, 1:], np.zeros_like(ids[:, :1])], axis=1)

    assert free_running(TASK, ITEMS, predict=peek).accuracy == 0.0
    assert teacher_forced(TASK, ITEMS, predict=peek)[0, :2].all()


def test_the_majority_rate_is_that_of_the_commonest_final_answer() -> None:
    assert majority_rate(TASK, [Item((0,), 1), Item((0, 1, 1), 9), Item((0,), 2)]) == pytest.approx(1 / 3)
    assert majority_rate(TASK, [Item((0,), 1), Item((0,), 1), Item((0,), 2)]) == pytest.approx(2 / 3)
    items = stratum_items(TASK, Stratum.TARGET_IID, rng=stream(0, "majority")).items
    assert 1 / 11 < majority_rate(TASK, items) < 0.14


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ShapeError, match="predict returned"):
        free_running(TASK, ITEMS, predict=lambda ids, mask: ids[:, :1])
    with pytest.raises(DataError, match="no items"):
        teacher_forced(TASK, [], predict=lambda ids, mask: ids)
    with pytest.raises(DataError, match="has no omega"):
        omega_step_correct(TASK, ITEMS, predict=lambda ids, mask: ids)
