"""An event is what its name promises, or an error that names the file."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from assay.errors import RecordError
from assay.runs.events import event_files, read_event, run_of, stray_files, write_event
from assay.runs.manifest import RunStatus
from assay.runs.storage import digest

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def write(folder: Path, run_id: str = "a.b_tiny_0c2257f6803e-r2", **payload: object) -> Path:
    return write_event(folder, RunStatus.COMPLETED, run_id=run_id, moment=NOON, sequence=3, payload=payload)


def test_name_and_content(tmp_path: Path) -> None:
    path = write(tmp_path, manifest="ab", value=float("nan"))
    head = digest(path.read_bytes())[:8]
    assert path.name == f"20261130T120000.000000Z-a.b_tiny_0c2257f6803e-r2-completed-{head}.json"
    event = read_event(path)
    assert (event.event, event.run_id, event.sequence) == (RunStatus.COMPLETED, "a.b_tiny_0c2257f6803e-r2", 3)
    assert event.at == "2026-11-30T12:00:00.000000+00:00"
    assert event.payload == {"manifest": "ab", "value": "NaN"}
    assert run_of(path) == event.run_id


def test_time_is_written_in_utc(tmp_path: Path) -> None:
    moment = datetime(2026, 11, 30, 2, 0, tzinfo=timezone(timedelta(hours=5)))
    path = write_event(tmp_path, RunStatus.RUNNING, run_id="x", moment=moment, sequence=1, payload={})
    assert path.name.startswith("20261129T210000")
    assert read_event(path).at == "2026-11-29T21:00:00.000000+00:00"


def test_equal_events_under_a_stopped_clock_are_two_files(tmp_path: Path) -> None:
    assert len({write(tmp_path, same=1) for _ in range(50)}) == len(event_files(tmp_path)) == 50


@pytest.mark.parametrize("keep", [0, 1, 40, -1])
def test_a_truncated_event_is_named(tmp_path: Path, keep: int) -> None:
    path = write(tmp_path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(RecordError, match="is damaged") as caught:
        read_event(path)
    assert path.name in str(caught.value)
    assert run_of(path) == "a.b_tiny_0c2257f6803e-r2"


def test_an_edited_or_renamed_event_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, wins=13)
    path.write_bytes(path.read_bytes().replace(b"13", b"14"))
    with pytest.raises(RecordError, match="truncated or edited"):
        read_event(path)
    other = write(tmp_path, run_id="x")
    renamed = other.rename(other.with_name(other.name.replace("-x-", "-y-")))
    with pytest.raises(RecordError, match="was renamed: it holds completed of x"):
        read_event(renamed)


def resealed(folder: Path, **changes: object) -> Path:
    """An event with other content whose name agrees with it, as only another program would write."""
    path = write(folder, run_id="x")
    table = {key: value for key, value in (json.loads(path.read_bytes()) | changes).items() if value is not None}
    data = json.dumps(table).encode()
    kind = changes.get("event", "completed")
    target = path.with_name(f"20261130T120000.000000Z-x-{kind}-{digest(data)[:8]}.json")
    target.write_bytes(data)
    return target


def test_events_of_another_program_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="unknown event 'exploded'"):
        read_event(resealed(tmp_path, event="exploded"))
    with pytest.raises(RecordError, match="is no event: its fields"):
        read_event(resealed(tmp_path, nonce=None))


def test_strays_are_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / ".assay-0.tmp").write_text("x")
    assert event_files(tmp_path) == [path]
    assert stray_files(tmp_path) == [tmp_path / "notes.txt"]
    assert event_files(tmp_path / "absent") == []
    with pytest.raises(RecordError, match="does not have the name of an event"):
        run_of(tmp_path / "notes.txt")


@pytest.mark.parametrize("run_id", ["", "../x", "a b", "-x", "a/b", ".x"])
def test_run_ids_that_are_no_file_names_are_refused(tmp_path: Path, run_id: str) -> None:
    with pytest.raises(RecordError, match="run id"):
        write(tmp_path, run_id=run_id)
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_the_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no record")
    with pytest.raises(RecordError, match=r"file/events cannot be read \(Not a directory\). A record is a folder"):
        event_files(tmp_path / "file" / "events")
