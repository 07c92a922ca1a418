"""Strata, clusters, corruption pairs, random lines, batches."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from assay.errors import ConfigError, DataError
from assay.seeds import stream
from assay.tasks.operator_items import (
    OperatorBatches,
    Stratum,
    corruption_pairs,
    incoming_values,
    item_codes,
    random_lines,
    stratum_items,
)
from assay.tasks.operators import OMEGA, UNSCORED, Item, operator_task
from assay.tasks.splits import prove_disjoint

TASK = operator_task(rng=stream(0, "omega"))
STRIDE2 = operator_task(rng=stream(0, "omega"), trace_stride=2)
WITHOUT = tuple(operator.name for operator in TASK.operators if operator.name != OMEGA)


@pytest.mark.parametrize(
    ("stratum", "omegas", "steps"),
    [(Stratum.TARGET_IID, 1, {2, 3, 4, 5}), (Stratum.CONTROL_IID, 0, {2, 3, 4, 5}), (Stratum.LENGTH_OOD, 1, {6, 7, 8})],
)
def test_strata_hold_what_they_say(stratum: Stratum, omegas: int, steps: set[int]) -> None:
    drawn = stratum_items(TASK, stratum, rng=stream(0, stratum))
    assert len(drawn.items) == len(set(drawn.items)) == len(drawn.clusters) == 1000
    assert {item.program.count(7) for item in drawn.items} == {omegas}
    assert {len(item.program) for item in drawn.items} == steps
    sizes = Counter(drawn.clusters)
    assert (len(sizes), set(sizes.values())) == (250, {4})
    assert len({(item.program, name) for item, name in zip(drawn.items, drawn.clusters, strict=True)}) == 250
    assert drawn == stratum_items(TASK, stratum, rng=stream(0, stratum))
    if omegas:
        places = Counter(item.program.index(7) / (len(item.program) - 1) for item in drawn.items)
        assert {0.0, 1.0} <= set(places)


def test_too_much_wanted_is_refused() -> None:
    small = operator_task(rng=stream(0, "omega"), base=11)
    with pytest.raises(ConfigError, match="at most 11 starts"):
        stratum_items(small, Stratum.TARGET_IID, rng=stream(0, "a"), starts=12)
    with pytest.raises(ConfigError, match="0 programs"):
        stratum_items(small, Stratum.TARGET_IID, rng=stream(0, "a"), programs=0)


def test_the_operand_of_omega() -> None:
    items = [Item((7, 0), 4), Item((0, 7), 9), Item((0, 2, 7), 9)]
    assert incoming_values(TASK, items).tolist() == [4, 1, 2]
    with pytest.raises(DataError, match="has no omega"):
        incoming_values(TASK, [Item((0,), 4)])


@pytest.mark.parametrize("task", [TASK, STRIDE2])
def test_pairs_differ_in_one_token_and_in_their_answers(task: object) -> None:
    assert task is TASK or task is STRIDE2
    one = TASK if task is TASK else STRIDE2
    items = stratum_items(one, Stratum.TARGET_IID, rng=stream(0, "pairs"), programs=60).items
    pairs = corruption_pairs(one, items, rng=stream(0, "corrupt"))
    assert len(pairs.kept) + pairs.dropped == 240
    assert 0 < pairs.dropped < 60
    assert ((pairs.clean != pairs.corrupted).sum(axis=1) == 1).all()
    assert (pairs.clean_answer != pairs.corrupted_answer).all()
    every = np.arange(len(pairs.kept))
    assert (pairs.mask.sum(axis=1) - 1 == pairs.read).all()
    omega = one.operator_token(np.array([7]))[0]
    assert (pairs.clean == omega).sum() == len(pairs.kept)
    lines = one.lines([items[row] for row in pairs.kept.tolist()])
    assert (lines.ids[every, pairs.read + 1] == pairs.clean_answer).all()
    assert (pairs.clean == lines.ids[:, : pairs.clean.shape[1]] * pairs.mask).all()
    if one is TASK:
        assert (pairs.clean[every, pairs.read] == omega).all()


def test_pairs_need_one_omega() -> None:
    for program in ((0, 1), (7, 7)):
        with pytest.raises(DataError, match="exactly one omega"):
            corruption_pairs(TASK, [Item(program, 0)], rng=stream(0, "c"))


def test_random_lines_hold_neither_padding_nor_omega() -> None:
    lines = random_lines(TASK, lines=400, tokens=12, rng=stream(0, "lines"))
    assert (lines[:, 0] == 1).all()
    assert set(np.unique(lines[:, 1:])) == set(range(1, 22))
    assert 22 in random_lines(TASK, lines=400, tokens=12, rng=stream(0, "lines"), without=())
    with pytest.raises(ConfigError, match="0 lines"):
        random_lines(TASK, lines=0, tokens=12, rng=stream(0, "lines"))


def test_codes_tell_items_apart() -> None:
    items = [Item(program, v) for n in (1, 2, 3) for program in product(range(8), repeat=n) for v in (0, 10)]
    assert len(set(item_codes(TASK, items).tolist())) == len(items)
    with pytest.raises(DataError, match="too long"):
        item_codes(TASK, [Item((0,) * 30, 0)])


@pytest.mark.parametrize("grouping", ["one_length", "mixed"])
def test_batches_belong_to_their_step_and_leave_out_what_is_held_out(grouping: str) -> None:
    held = stratum_items(TASK, Stratum.CONTROL_IID, rng=stream(0, "eval")).items
    codes = tuple(int(code) for code in item_codes(TASK, held))
    assert grouping in ("one_length", "mixed")
    batches = OperatorBatches(TASK, WITHOUT, 0, "recipient", held_out=codes, grouping=grouping)  # type: ignore[arg-type]
    drawn = [item for step in range(12) for item in batches.items(step)]
    assert len(drawn) == 12 * 128
    lengths = [{len(item.program) for item in batches.items(step)} for step in range(12)]
    assert set().union(*lengths) == {2, 3, 4, 5}
    assert all(len(one) == 1 for one in lengths) == (grouping == "one_length")
    assert not any(7 in item.program for item in drawn)
    assert not set(drawn) & set(held)
    prove_disjoint({"train": [TASK.text(item) for item in drawn], "eval": [TASK.text(item) for item in held]})
    again, other = batches(3), batches(4)
    assert all(np.array_equal(a, b) for a, b in zip(again, batches(3), strict=True))
    assert not np.array_equal(again.input_ids, other.input_ids)
    free = OperatorBatches(TASK, WITHOUT, 0, "recipient", grouping=batches.grouping)
    assert {item for step in range(12) for item in free.items(step)} & set(held)
    assert free.digest != batches.digest


def test_targets_are_the_results_at_the_read_positions() -> None:
    batches = OperatorBatches(STRIDE2, (*WITHOUT, OMEGA), 1, "donor", size=9, grouping="mixed")
    batch, lines = batches(0), STRIDE2.lines(batches.items(0))
    assert batch.input_ids.shape == (9, lines.ids.shape[1] - 1)
    for row in range(9):
        reads = lines.reads[row][lines.reads[row] >= 0]
        assert np.flatnonzero(batch.targets[row] != UNSCORED).tolist() == reads.tolist()
        assert batch.targets[row, reads].tolist() == lines.ids[row, reads + 1].tolist()
    if lines.mask[:, -1].any():
        assert (batch.targets[:, -1] != UNSCORED).any()


def test_wrong_batches_are_refused() -> None:
    with pytest.raises(ConfigError, match="no operator 'psi'"):
        OperatorBatches(TASK, ("psi",), 0, "a")
    with pytest.raises(ConfigError, match="grouping 'sorted'"):
        OperatorBatches(TASK, WITHOUT, 0, "a", grouping="sorted")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="OperatorBatches: 0 items"):
        OperatorBatches(TASK, WITHOUT, 0, "a", size=0)
    everything = tuple(int(code) for code in item_codes(TASK, [Item((0,), start) for start in range(11)]))
    with pytest.raises(DataError, match="too few items are left"):
        OperatorBatches(TASK, ("v+3",), 0, "a", size=2, steps=(1, 1), held_out=everything).items(0)
