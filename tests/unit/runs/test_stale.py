"""A run is outgrown by its modules, its data files and its upstream runs, and by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import RecordError
from assay.runs.manifest import RunStatus
from assay.runs.registry import Record
from assay.runs.source import module_digests
from assay.runs.stale import Standing, standing_of
from assay.runs.storage import digest
from tests.unit.runs.completed_run import complete

UP, DOWN = "study.up", "study.down"


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """A record whose registered run of study.down read that of study.up and a data file."""
    record = Record(tmp_path / "experiments")
    study = record.root / "study"
    study.mkdir(parents=True)
    (study / "up.py").write_text("RATE = 1\n")
    (study / "down.py").write_text("from experiments.study import helper\n")
    (study / "helper.py").write_text("FACTOR = 3\n")
    (study / "items.yaml").write_text("item: 5\n")
    speak(record, UP)
    return record


def speak(record: Record, experiment: str, **fields: object) -> str:
    modules = module_digests(f"experiments.{experiment}", record.repository)
    run_id = complete(record, experiment, modules=modules, **fields)
    record.register(run_id, why="the test")
    return run_id


def down(record: Record) -> str:
    data = {"file experiments/study/items.yaml": digest(b"item: 5\n"), "text help": "0" * 64}
    return speak(record, DOWN, data=data, upstream=(record.registered(UP).run_id,))


def standing(record: Record, run_id: str) -> Standing:
    return standing_of(record, run_id, record.repository)


def reasons(record: Record, run_id: str) -> list[str]:
    return [str(reason) for reason in standing(record, run_id).reasons]


def test_a_run_on_what_is_here_is_current(record: Record) -> None:
    run_id = down(record)
    assert (reasons(record, run_id), standing(record, run_id).stale) == ([], False)


def test_each_module_and_file_is_named(record: Record) -> None:
    run_id = down(record)
    study = record.root / "study"
    (study / "helper.py").unlink()
    (study / "more.py").write_text("MORE = 1\n")
    (study / "down.py").write_text("from experiments.study import more\n")
    (study / "items.yaml").write_text("item: 6\n")
    assert reasons(record, run_id) == [
        "experiments.study.down changed",
        "experiments.study.helper is gone",
        "experiments.study.more is new",
        "data file experiments/study/items.yaml changed",
    ]
    (study / "items.yaml").unlink()
    assert reasons(record, run_id)[-1] == "data file experiments/study/items.yaml is gone"
    assert record.stale(run_id)[-1] == "file experiments/study/items.yaml"


def test_an_upstream_run_that_was_superseded_or_outgrown(record: Record) -> None:
    run_id = down(record)
    first = record.registered(UP).run_id
    (record.root / "study" / "up.py").write_text("RATE = 2\n")
    assert reasons(record, run_id) == [f"upstream {first} is stale: experiments.study.up changed"]
    second = speak(record, UP)
    assert reasons(record, run_id) == [f"upstream {first} was superseded by {second}"]
    assert reasons(record, down(record)) == []


def test_an_upstream_run_that_is_gone_or_speaks_for_nobody(record: Record) -> None:
    run_id = down(record)
    first = record.registered(UP).run_id
    path = record.registered_folder / f"{UP}.tiny.json"
    path.write_text(path.read_text().replace("the test", "another"))
    assert reasons(record, run_id) == [f"upstream {first} cannot be trusted (altered)"]
    path.unlink()
    assert reasons(record, run_id) == [f"upstream {first} is not registered"]
    record.manifest_path(first).unlink()
    assert reasons(record, run_id) == [f"upstream {first} is gone"]


def test_a_waiver_holds_for_one_state_and_the_next_change_voids_it(record: Record) -> None:
    run_id = down(record)
    up = record.root / "study" / "up.py"
    up.write_text("RATE = 2\n")
    before = standing(record, run_id)
    record.append(RunStatus.WAIVED, run_id, why="only a name", state=before.state)
    waived = standing(record, run_id)
    assert (waived.stale, waived.waiver and waived.waiver.why) == (False, "only a name")
    assert (record.stale(run_id), record.standing(run_id)) == ([], "registered")
    up.write_text("# a comment\nRATE = 2\n")
    assert not standing(record, run_id).stale
    up.write_text("RATE = 3\n")
    assert standing(record, run_id).stale
    up.write_text("RATE = 1\n")
    assert reasons(record, run_id) == []


def test_a_waived_upstream_run_makes_nothing_stale(record: Record) -> None:
    run_id = down(record)
    first = record.registered(UP).run_id
    (record.root / "study" / "up.py").write_text("RATE = 2\n")
    record.append(RunStatus.WAIVED, first, why="only a name", state=standing(record, first).state)
    assert reasons(record, run_id) == []


def test_a_circle_of_manifests_is_named(record: Record) -> None:
    run_id = down(record)
    other = record.registered(UP).run_id
    path = record.manifest_path(other)
    path.write_text(path.read_text().replace('"upstream": []', f'"upstream": ["{run_id}"]'))
    with pytest.raises(RecordError, match="upstream of itself"):
        standing(record, run_id)
