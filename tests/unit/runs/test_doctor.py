"""Every kind of trouble is found, named by file or run, and a sound record has none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.runs.registry import Record
from assay.runs.source import module_digests
from tests.unit.runs.completed_run import complete, start


@pytest.fixture
def record(tmp_path: Path) -> Record:
    module = tmp_path / "experiments" / "merging" / "transport.py"
    module.parent.mkdir(parents=True)
    module.write_text("FACTOR = 3\n")
    record = Record(tmp_path / "experiments")
    run_id = complete(record, modules=module_digests("experiments.merging.transport", tmp_path))
    record.register(run_id, why="the first")
    record.rebuild_index()
    return record


def findings(record: Record) -> list[tuple[str, str]]:
    found = record.doctor()
    assert all(finding.advice for finding in found)
    assert not any(str(record.root) in finding.path + finding.advice for finding in found)
    return [(finding.kind, finding.path) for finding in found]


def run_id_of(record: Record) -> str:
    return record.attempts()[0]


def test_a_sound_record_has_no_findings(record: Record) -> None:
    assert findings(record) == []


def test_a_damaged_event(record: Record) -> None:
    path = record.events(run_id_of(record))[0].path
    path.write_bytes(b"")
    assert ("damaged event", f"experiments/registry/events/{path.name}") in findings(record)


@pytest.mark.parametrize(
    "name",
    ["registry/events/notes.json", "manifests/other_tiny_0.json", "summaries/other_tiny_0"],
)
def test_strays(record: Record, name: str) -> None:
    (record.root / name).write_text("{}")
    assert findings(record) == [("stray", f"experiments/{name}")]


def test_a_file_that_its_run_does_not_know(record: Record) -> None:
    (record.summary_folder(run_id_of(record)) / "extra.csv").write_text("a\n")
    assert findings(record) == [("stray", f"experiments/summaries/{run_id_of(record)}/extra.csv")]


HOLDER = """
import sys, time
from pathlib import Path
from assay.runs.storage import _open_temporary
_open_temporary(Path(sys.argv[1]))
print("writing", flush=True)
time.sleep(60)
"""


def test_a_leftover_is_found_when_its_writer_is_dead_and_not_before(record: Record) -> None:
    folder = record.root / "manifests"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        assert findings(record) == []
        writer.send_signal(signal.SIGKILL)
    assert [kind for kind, _ in findings(record)] == ["temporary"]
    with record.lock("anything"):
        assert findings(record) == []


def test_an_interrupted_run(record: Record) -> None:
    run_id = start(record).run_id
    record.rebuild_index()
    assert findings(record) == [("interrupted", run_id)]


def test_an_interrupted_run_that_a_later_attempt_completed(record: Record) -> None:
    config = {"items": 9}
    start(record, config=config)
    complete(record, config=config, modules=module_digests("experiments.merging.transport", record.repository))
    record.rebuild_index()
    assert findings(record) == []
    again = start(record, config=config).run_id
    record.rebuild_index()
    assert findings(record) == [("interrupted", again)]


def test_an_altered_summary_and_what_it_means_for_its_registration(record: Record) -> None:
    path = record.summary_folder(run_id_of(record)) / "summary.json"
    path.write_text(path.read_text().replace("14", "15"))
    assert findings(record) == [("altered", run_id_of(record))]


def test_a_stale_registration(record: Record) -> None:
    (record.root / "merging" / "transport.py").write_text("FACTOR = 4\n")
    found = record.doctor()
    assert [(finding.kind, finding.path) for finding in found] == [
        ("stale", "experiments/registered/merging.transport.tiny.json")
    ]
    assert "experiments.merging.transport" in found[0].advice


def test_a_registration_that_points_nowhere(record: Record) -> None:
    for path in record.event_folder.iterdir():
        path.unlink()
    kinds = dict.fromkeys(kind for kind, _ in findings(record))
    assert list(kinds) == ["stray", "registration", "index"]


def test_a_registration_that_is_not_in_force(record: Record) -> None:
    os.unlink(record.registered_folder / "merging.transport.tiny.json")
    assert findings(record) == [("registration", run_id_of(record))]


def test_an_index_out_of_date(record: Record) -> None:
    record.index_path.write_text("")
    assert findings(record) == [("index", "experiments/registry/runs.jsonl")]
