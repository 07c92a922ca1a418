"""Many at once: writers of one record, starts of one command, equal runs under a stopped clock, readers of one file."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.runs.registry import Record
from assay.runs.storage import readable_json, write_durable
from tests.unit.runs.toy_repository import assay_json, start, toy, write

WRITERS = 8
OVERWRITES = 2000
PROBE = '''
"""An experiment that does nothing, so that only its record costs time."""

from dataclasses import dataclass

from assay.runs import Run, experiment

@dataclass(frozen=True)
class Settings:
    number: int = 0

@experiment("toy.nothing", version=1)
def nothing(config: Settings, run: Run) -> None:
    """What does a run cost?"""
    run["number"] = config.number
'''
WRITER = """
import sys
from datetime import UTC, datetime
from assay.runs.registry import Record
record = Record(sys.argv[1], clock=lambda: datetime(2026, 11, 30, tzinfo=UTC))
sys.stdin.readline()
for turn in range(int(sys.argv[3])):
    record.append("waived", f"shared-{sys.argv[2]}", turn=turn)
    record.append("waived", "shared", writer=sys.argv[2], turn=turn)
record.rebuild_index()
"""


@pytest.fixture
def scale(request: pytest.FixtureRequest) -> int:
    kills: int = request.config.getoption("--kills")
    return kills


def test_eight_writers_lose_no_event_under_a_stopped_clock(tmp_path: Path, scale: int) -> None:
    turns = 5 * scale  # 250 with --kills 50
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    writers = [
        subprocess.Popen([*command, str(number), str(turns)], stdin=subprocess.PIPE, text=True)
        for number in range(WRITERS)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=600)
        assert writer.returncode == 0
    record = Record(tmp_path)
    shared = [(event.payload["writer"], event.payload["turn"]) for event in record.events("shared")]
    assert sorted(shared) == sorted((str(number), turn) for number in range(WRITERS) for turn in range(turns))
    for number in range(WRITERS):
        assert [event.payload["turn"] for event in record.events(f"shared-{number}")] == list(range(turns))
    assert record.damaged() == ()
    assert record.index_is_current()
    assert not list(tmp_path.rglob("*.tmp"))


def test_starts_of_a_hundred_runs_half_of_them_at_a_time(tmp_path: Path, scale: int) -> None:
    root = write(toy(tmp_path), {"experiments/toy/nothing.py": PROBE})
    for half in range(2):  # 50 at a time with --kills 50
        started = [start(root, "run", "toy.nothing", "--set", f"number={half * scale + n}") for n in range(scale)]
        for process in started:
            out, err = process.communicate(timeout=600)
            assert process.returncode == 0, out + err
    runs = assay_json(root, "runs")
    assert len(runs) == 2 * scale
    assert {run["status"] for run in runs} == {"completed"}
    record = Record(root / "experiments")
    numbers = sorted(record.results(run_id).value("number") for run_id in record.attempts())  # type: ignore[type-var]
    assert numbers == list(range(2 * scale))
    assert record.index_is_current()
    assert record.doctor() == []


def test_of_equal_runs_started_together_each_runs_alone_or_is_refused(tmp_path: Path, scale: int) -> None:
    root = toy(tmp_path)
    started = [start(root, "run", "toy.words", "--tier", "tiny", "--set", "wait=1.0") for _ in range(scale)]
    codes = []
    for process in started:
        _, err = process.communicate(timeout=600)
        codes.append(process.returncode)
        assert process.returncode == 0 or "is already running: process" in err
    record = Record(root / "experiments")
    assert len(record.attempts()) == codes.count(0) > 0
    assert {record.status(run_id) for run_id in record.attempts()} == {"completed"}


FROZEN = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from assay.runs.execution import execute
from assay.runs.experiment import find
from assay.runs.registry import Record
record = Record(Path("experiments"), clock=lambda: datetime(2026, 11, 30, tzinfo=UTC))
experiment = find("toy.words", Path.cwd())
print(execute(experiment, experiment.configuration("tiny"), record=record, repository=Path.cwd(), tier="tiny"))
"""


def test_two_runs_of_equal_configuration_under_a_stopped_clock_are_two(tmp_path: Path) -> None:
    root = toy(tmp_path)
    ids = [
        subprocess.run([sys.executable, "-c", FROZEN], cwd=root, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    first, second = (run_id.strip() for run_id in ids)
    assert second == f"{first}-r2"
    record = Record(root / "experiments")
    for run_id in (first, second):
        assert [event.event for event in record.events(run_id)] == ["running", "completed"]
        assert record.results(run_id).value("verdict") == "supported"
    assert len(record.index_path.read_text().splitlines()) == 2
    assert record.doctor() == []


def test_a_reader_never_sees_half_a_summary(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    filling = "x" * 200_000
    write_durable(path, readable_json({"turn": -1, "filling": filling, "again": -1}))
    over = threading.Event()
    seen: list[int] = []

    def read() -> None:
        while not over.is_set():
            content = json.loads(path.read_bytes())
            assert content["turn"] == content["again"]
            assert len(content["filling"]) == len(filling)
            seen.append(content["turn"])

    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read)
        for turn in range(OVERWRITES):
            write_durable(path, readable_json({"turn": turn, "filling": filling, "again": turn}))
        over.set()
    reading.result()
    assert len(set(seen)) > 1
    assert seen == sorted(seen)
    assert [entry.name for entry in tmp_path.iterdir()] == ["summary.json"]
