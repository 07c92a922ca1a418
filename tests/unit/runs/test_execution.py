"""The life of an attempt: its id, its manifest and events, upstream runs, data, and the clean commit."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.errors import ConfigError, EvidenceError, RecordError
from assay.runs.execution import execute
from assay.runs.experiment import Experiment
from assay.runs.manifest import RunStatus, config_hash
from assay.runs.recorder import Run
from assay.runs.registry import Record
from assay.runs.results import unverified_values
from tests.unit.runs.toy_repository import commit, toy, written

DIGEST = "ab" * 32


@dataclass(frozen=True)
class Settings:
    seed: int = 3
    kind: str = "pilot"


def made(body: Callable[[Settings, Run], None], name: str = "toy.words", data: Any = None) -> Experiment:
    return Experiment(name, body, version=4, tiers={"tiny": Settings}, data=data)


def sets_one(config: Settings, run: Run) -> None:
    run["seed"] = config.seed


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return toy(tmp_path)


@pytest.fixture
def record(repository: Path) -> Record:
    return Record(repository / "experiments")


def test_the_id_is_experiment_tag_and_hash_of_configuration_and_data(repository: Path, record: Record) -> None:
    bare = execute(made(sets_one), Settings(), record=record, repository=repository)
    with_data = made(sets_one, data=lambda config: {"text": DIGEST})
    other = execute(with_data, Settings(), record=record, repository=repository)
    values = {"seed": 3, "kind": "pilot"}
    assert bare == f"toy.words_tiny_{config_hash(values, {})[:12]}"
    assert other == f"toy.words_tiny_{config_hash(values, {'text': DIGEST})[:12]}"
    manifest = record.manifest(other)
    assert (manifest.data, manifest.kind, manifest.version, manifest.tier) == ({"text": DIGEST}, "pilot", 4, "tiny")
    assert manifest.status is RunStatus.COMPLETED
    assert manifest.ended is not None
    assert manifest.peak_memory_bytes is not None
    assert manifest.peak_memory_bytes > 1_000_000
    assert [event.event for event in record.events(other)] == ["running", "completed"]
    assert record.results(other).value("seed") == 3
    assert len(record.index_path.read_text().splitlines()) == 2


@pytest.mark.parametrize("data", [{"text": "abc"}, {"text": None}, {3: DIGEST}, [DIGEST]])
def test_data_hashes_that_are_none_are_refused_before_anything_is_written(
    repository: Path, record: Record, data: Any
) -> None:
    with pytest.raises(ConfigError, match=r"wanted (its SHA-256 in hex|a mapping name to SHA-256)"):
        execute(made(sets_one, data=lambda config: data), Settings(), record=record, repository=repository)
    assert written(repository) == {}


def test_a_run_notes_the_runs_it_read(repository: Path, record: Record) -> None:
    first = execute(made(sets_one, "toy.sums"), Settings(), record=record, repository=repository, register="the first")

    def reads(config: Settings, run: Run) -> None:
        run["twice"] = 2 * int(run.uses("toy.sums", tier="tiny").value("seed"))  # type: ignore[arg-type]

    second = execute(made(reads), Settings(), record=record, repository=repository)
    assert record.results(second).value("twice") == 6
    assert record.manifest(second).upstream == (first,)
    scratch = Record(repository / "scratch")
    third = execute(made(reads), Settings(), record=scratch, repository=repository)
    assert scratch.manifest(third).upstream == (first,)

    def asks(config: Settings, run: Run) -> None:
        run.uses("toy.nothing")

    with pytest.raises(EvidenceError, match=r"toy\.nothing has no registered run"):
        execute(made(asks), Settings(seed=4), record=scratch, repository=repository)


def test_a_failure_is_put_on_record_with_its_partial_numbers(repository: Path, record: Record) -> None:
    def fails(config: Settings, run: Run) -> None:
        run["before"] = 1
        raise OSError(f"no space at {Path.home()}/x and {repository}/data/rows.csv")

    seen: list[Run] = []
    with pytest.raises(OSError, match="no space"):
        execute(made(fails), Settings(), record=record, repository=repository, started=seen.append)
    (run_id,) = record.attempts()
    assert [run.run_id for run in seen] == [run_id]
    assert record.status(run_id) is RunStatus.FAILED
    event = record.events(run_id)[-1]
    assert event.payload["error"] == "OSError"
    assert event.payload["message"] == "no space at ~/x and data/rows.csv"
    assert unverified_values(record, run_id) == {"before": 1}
    with pytest.raises(EvidenceError, match="is failed") as caught:
        record.results(run_id)
    assert caught.value.reason == "unfinished"


def test_a_summary_that_grew_too_large_ends_the_run_as_failed(repository: Path, record: Record) -> None:
    def grows(config: Settings, run: Run) -> None:
        for place in range(30_000):
            run[f"k{place}.v"] = place / 7

    with pytest.raises(RecordError, match=r"would have 1,\d+,\d+ bytes; allowed are 1,000,000"):
        execute(made(grows), Settings(), record=record, repository=repository, register="all of them")
    (run_id,) = record.attempts()
    assert record.status(run_id) is RunStatus.FAILED
    assert "they become artifacts" in record.events(run_id)[-1].payload["message"]
    assert not record.summary_folder(run_id).exists()
    assert record.registrations() == ()


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (ValueError("half a pair: \ud800"), "half a pair: \\ud800"),
        (ValueError("x" * 30_000), f"{'x' * 20_000} ... (30000 characters)"),
    ],
)
def test_a_message_that_no_event_could_hold_is_still_a_failure(
    repository: Path, record: Record, raised: Exception, message: str
) -> None:
    def fails(config: Settings, run: Run) -> None:
        raise raised

    with pytest.raises(ValueError, match=r"half|x"):
        execute(made(fails), Settings(), record=record, repository=repository)
    (run_id,) = record.attempts()
    assert record.status(run_id) is RunStatus.FAILED
    assert record.events(run_id)[-1].payload["message"] == message


def test_numbers_that_cannot_be_saved_leave_a_failed_run(repository: Path, record: Record) -> None:
    def fails(config: Settings, run: Run) -> None:
        run["before"] = 1
        run.save()
        run.values["word"] = object()  # type: ignore[assignment]

    with pytest.raises(RecordError, match="word: a object came"):
        execute(made(fails), Settings(), record=record, repository=repository)
    (run_id,) = record.attempts()
    assert record.status(run_id) is RunStatus.FAILED
    assert unverified_values(record, run_id) == {"before": 1}


def test_a_signal_ends_the_run_as_interrupted_and_handlers_are_put_back(repository: Path, record: Record) -> None:
    def terminated(config: Settings, run: Run) -> None:
        run["before"] = 1
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt, match="SIGTERM"):
        execute(made(terminated), Settings(), record=record, repository=repository)
    assert signal.getsignal(signal.SIGTERM) is before
    (run_id,) = record.attempts()
    assert record.status(run_id) is RunStatus.INTERRUPTED
    assert record.events(run_id)[-1].payload["by"] == "SIGTERM"
    assert unverified_values(record, run_id) == {"before": 1}


def test_registering_asks_for_a_clean_commit(repository: Path, record: Record) -> None:
    source = repository / "experiments" / "toy" / "words.py"
    source.write_text(source.read_text() + "\nEXTRA = 1\n")
    with pytest.raises(RecordError, match="on a dirty tree on top of"):
        execute(made(sets_one), Settings(), record=record, repository=repository, register="why not")
    assert written(repository) == {}
    commit(repository)
    run_id = execute(made(sets_one), Settings(), record=record, repository=repository, register="clean now")
    assert record.registered("toy.words").run_id == run_id
    again = execute(
        made(sets_one), Settings(), record=record, repository=repository, register="what runs write is clean"
    )
    assert record.registered("toy.words", "tiny").run_id == again == f"{run_id}-r2"


def test_a_configuration_of_the_wrong_type_writes_nothing(repository: Path, record: Record) -> None:
    with pytest.raises(ConfigError, match="field 'seed': wanted int, got '3'"):
        execute(made(sets_one), Settings(seed="3"), record=record, repository=repository)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="wanted at least 1 process, got 0"):
        execute(made(sets_one), Settings(), record=record, repository=repository, workers=0)
    assert written(repository) == {}


def test_a_running_run_holds_its_id(repository: Path, record: Record) -> None:
    def starts_itself(config: Settings, run: Run) -> None:
        assert record.status(run.run_id) is RunStatus.RUNNING
        assert json.loads(record.manifest_path(run.run_id).read_text())["status"] == "running"
        with pytest.raises(RecordError, match="is already running: process"):
            execute(made(sets_one), config, record=record, repository=repository)

    run_id = execute(made(starts_itself), Settings(), record=record, repository=repository)
    assert record.attempts() == (run_id,)
