"""`kill -9` at random moments of a tiny run of `merging.representations`: nothing lost, nothing to clean."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.runs import Record, open_record
from assay.seeds import stream

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "assay", "run", "merging.representations", "--tier", "tiny", "--json", "--record")
LONGEST_SECONDS = 14.0


def start(record: Path) -> subprocess.Popen[str]:
    """A run that records under ``record``."""
    return subprocess.Popen(
        [*COMMAND, str(record)], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def kill_after(record: Path, seconds: float) -> bool:
    """Start a run and kill it; whether it was still running."""
    process = start(record)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True
    out, err = process.communicate()
    assert process.returncode == 0, out + err
    return False


def unreadable(record: Path) -> list[str]:
    """Files under a final name that are not whole JSON."""
    broken = []
    for path in record.rglob("*.json"):
        try:
            json.loads(path.read_bytes())
        except ValueError:
            broken.append(path.name)
    return broken


def finished_cells(record: Path, attempts: list[str]) -> list[str]:
    """Keys of the cells that these attempts computed."""
    return [path.stem for attempt in attempts for path in (record / "artifacts/cells" / attempt).glob("*.json")]


def unfinished_tail(record: Record) -> list[str]:
    """The attempts since the last completed one."""
    attempts = record.attempts()
    done = [place for place, attempt in enumerate(attempts) if record.status(attempt) == "completed"]
    return attempts[done[-1] + 1 :] if done else attempts


def test_killed_runs_resume_and_end_as_if_nothing_had_happened(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    root, rng = tmp_path / "record", stream(7, "kills")
    kills = hit = 0
    while kills < request.config.getoption("--kills"):
        kills += 1
        if kill_after(root, float(rng.uniform(0.3, LONGEST_SECONDS))) and (root / "registry").is_dir():
            hit += 1
            record = open_record(root)
            assert unreadable(root) == []
            assert {record.status(attempt) for attempt in record.attempts()} <= {"interrupted", "completed"}
            keys = finished_cells(root, unfinished_tail(record))
            assert len(keys) == len(set(keys)), "a finished cell was computed again"
        time.sleep(0.2)
    assert hit > 0
    whole = start(root)
    out, err = whole.communicate(timeout=300)
    assert whole.returncode == 0, out + err
    reference = start(tmp_path / "reference")
    out, err = reference.communicate(timeout=300)
    assert reference.returncode == 0, out + err
    summaries = [open_record(place) for place in (root, tmp_path / "reference")]
    ended, alone = (record.results(record.attempts()[-1]).manifest.summary for record in summaries)
    assert ended == alone
    assert [finding for finding in summaries[0].doctor() if finding.kind not in ("interrupted", "temporary")] == []
