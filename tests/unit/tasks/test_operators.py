"""Programs and their lines."""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import ConfigError, DataError
from assay.seeds import stream
from assay.tasks.operators import OMEGA, UNSCORED, Item, Operator, OperatorTask, operator_task, traces


def task(stride: int = 1) -> OperatorTask:
    return operator_task(rng=stream(0, "omega"), trace_stride=stride)


def test_the_default_task_has_23_tokens_and_eight_permutations() -> None:
    one = task()
    assert one.vocabulary == len(one.names) == 23
    assert one.names[:5] == ("PAD", "BOS", "EQ", "EOS", "0")
    assert [operator.name for operator in one.operators] == [
        *("v+3", "v+5", "2v", "3v+1", "-v-1", "7v+2", "5v+4"),
        OMEGA,
    ]
    assert len({operator.values for operator in one.operators}) == 8
    assert one.operators[4].values == tuple(10 - value for value in range(11))
    assert one.table.shape == (8, 11)
    assert task() == one
    assert operator_task(rng=stream(1, "omega")).operators[:7] == one.operators[:7]
    assert operator_task(rng=stream(1, "omega")) != one


def test_a_trace_is_the_operators_one_after_the_other() -> None:
    assert traces(task(), np.array([[0, 2, 4]]), np.array([9])).tolist() == [[9, 1, 2, 8]]


@pytest.mark.parametrize(
    ("stride", "text", "reads"),
    [
        (1, "BOS 9 v+3 1 2v 2 -v-1 8", [2, 4, 6]),
        (2, "BOS 9 v+3 2v 2 -v-1 8", [3, 5]),
        (3, "BOS 9 v+3 2v -v-1 8", [4]),
        (9, "BOS 9 v+3 2v -v-1 8", [4]),
    ],
)
def test_results_are_written_after_every_window(stride: int, text: str, reads: list[int]) -> None:
    one, item = task(stride), Item((0, 2, 4), 9)
    assert one.text(item) == text
    lines = one.lines([item])
    assert lines.reads.tolist() == [reads]
    assert [one.names[token] for token in lines.ids[0, lines.reads[0] + 1]] == [
        one.names[token] for token in lines.results[0]
    ]
    assert lines.mask.tolist() == [[1] * len(text.split())]


def test_lines_of_unlike_lengths_are_padded_on_the_right() -> None:
    lines = task().lines([Item((0,), 1), Item((7, 0, 0), 2)])
    assert lines.ids.shape == (2, 8)
    assert lines.mask.sum(axis=1).tolist() == [4, 8]
    assert lines.ids[0, 4:].tolist() == [0] * 4
    assert lines.reads.tolist() == [[2, -1, -1], [2, 4, 6]]
    assert lines.results[0].tolist()[1:] == [UNSCORED, UNSCORED]


def test_a_wrong_value_never_merges_back() -> None:
    one = task()
    for program in ([0, 7, 3], [7, 7, 7], [1, 2, 6]):
        ends = traces(one, np.array([program] * 11), np.arange(11))[:, -1]
        assert len(set(ends.tolist())) == 11


def test_digests_tell_tasks_apart() -> None:
    assert task().digest == task().digest
    assert len({task().digest, task(2).digest, operator_task(rng=stream(2, "omega")).digest}) == 3


def test_wrong_tasks_and_items_are_refused() -> None:
    with pytest.raises(ConfigError, match="is no permutation of 0 to 2"):
        Operator("max", (2, 2, 2))
    for base in (10, 14, 3):
        with pytest.raises(ConfigError, match="permutation"):
            operator_task(rng=stream(0, "omega"), base=base)
    assert operator_task(rng=stream(0, "omega"), base=13).vocabulary == 25
    swap, same = Operator("swap", (1, 0)), Operator("swap", (0, 1))
    with pytest.raises(ConfigError, match="names that differ"):
        OperatorTask((swap, same), base=2)
    with pytest.raises(ConfigError, match="must permute 0 to 10"):
        OperatorTask((swap,))
    with pytest.raises(ConfigError, match="trace_stride 0"):
        OperatorTask((swap,), base=2, trace_stride=0)
    with pytest.raises(ConfigError, match=r"no operator 'psi'; there are v\+3"):
        task().index("psi")
    with pytest.raises(DataError, match="no items"):
        task().lines([])
    for item in (Item((8,), 0), Item((0,), 11), Item((-1,), 0)):
        with pytest.raises(DataError, match="operators lie in 0 to 7, starts in 0 to 10"):
            task().lines([item])
    with pytest.raises(DataError, match="programs"):
        task().lines([Item((), 0)])
