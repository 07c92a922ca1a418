"""Kill a run, go on, kill at once, go on: each cell is computed once; a dead cell or a full file costs only itself."""

from __future__ import annotations

import resource
import signal
import time
from pathlib import Path

from assay.runs.registry import Record
from tests.unit.runs.toy_repository import assay, assay_json, commit, start, toy, write

CELLS = 10
RUN = ("run", "toy.sums", "--tier", "tiny", "--set", f"cells={CELLS}", "--set", "pause=0.3", "--workers", "1")


def test_killed_after_the_sixth_of_ten_cells_and_again_at_once(tmp_path: Path) -> None:
    root = toy(tmp_path)
    process = start(root, *RUN)
    deadline = time.monotonic() + 300
    while len(finished(root)) < 6 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=300)
    kept = finished(root)
    assert len(kept) >= 6
    again = start(root, *RUN)
    attempts = root / "experiments" / "registry" / "events"
    while not list(attempts.glob("*-r2-running-*")) and time.monotonic() < deadline:
        time.sleep(0.005)
    again.send_signal(signal.SIGKILL)
    again.communicate(timeout=300)
    done = assay_json(root, *RUN)
    record = Record(root / "experiments")
    first, *_ = record.attempts()
    assert done["run_id"] == f"{first}-r3"
    assert [record.status(run_id) for run_id in record.attempts()] == ["interrupted", "interrupted", "completed"]
    assert done["numbers"]["above.five"]["of"] == CELLS
    computed = (root / "computed.log").read_text().split()
    assert len(set(computed)) == CELLS
    assert len(computed) <= CELLS + 2  # what was being computed when each kill came
    assert len(finished(root) - kept) == CELLS - len(kept)
    assert record.doctor() == []
    undisturbed = assay_json(toy(tmp_path / "undisturbed"), *RUN)
    assert undisturbed["numbers"] == done["numbers"]


def finished(root: Path) -> set[str]:
    return {path.stem for path in (root / "artifacts" / "cells").rglob("*.json")}


WRITES_AND_LEAVES = '''
"""A cell that writes and then leaves without a word."""

import os
from dataclasses import dataclass

from assay.runs import Run, experiment

@dataclass(frozen=True)
class Settings:
    cells: int = 4

def leave(place: int) -> dict[str, int]:
    with open(f"{place}.log", "w") as log:
        log.write("half a line")
        print("half a word", end="")
        if place == 2 and not os.path.exists("stay"):
            log.flush()
            os._exit(9)
    return {"value": place}

@experiment("toy.leaves", version=1)
def leaves(config: Settings, run: Run) -> None:
    """Who leaves?"""
    run["before"] = 1
    run["sum"] = int(run.cells(leave, range(config.cells))["value"].sum())
'''


def test_a_cell_that_writes_and_leaves_is_named_and_alone_repeated(tmp_path: Path) -> None:
    root = write(toy(tmp_path), {"experiments/toy/leaves.py": WRITES_AND_LEAVES})
    done = assay(root, "run", "toy.leaves")
    assert done.returncode == 1
    assert "1 of 4 cells of leave failed:\n  2: its process died without a word (exit code 9)" in done.stderr
    (run_id,) = Record(root / "experiments").attempts()
    assert assay_json(root, "runs", "show", run_id)["status"] == "failed"
    (root / "stay").touch()
    (root / "0.log").unlink()
    assert assay_json(root, "run", "toy.leaves")["numbers"] == {"before": 1, "sum": 6}
    assert not (root / "0.log").exists()


LARGE = '''
"""A run with a table of two megabytes."""

from dataclasses import dataclass

from assay.runs import Run, experiment

@dataclass(frozen=True)
class Settings:
    rows: int = 40_000

@experiment("toy.large", version=1)
def large(config: Settings, run: Run) -> None:
    """How large can a table be?"""
    import pandas as pd

    run.table("rows", pd.DataFrame({"name": [f"{row:050d}" for row in range(config.rows)]}), large=True)
    run["rows"] = config.rows
'''


def test_a_file_size_limit_while_two_megabytes_are_registered(tmp_path: Path) -> None:
    root = write(toy(tmp_path), {"experiments/toy/large.py": LARGE})
    commit(root)
    before = assay_json(root, "run", "toy.large", "--register", "the first")["run_id"]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    done = assay(root, "run", "toy.large", "--register", "the second", preexec_fn=limit)
    assert done.returncode == 1
    assert "rows.csv (2040005 bytes) could not be written: File too large" in done.stderr
    assert "Raise the file size limit (ulimit -f)" in done.stderr
    assert "Traceback" not in done.stderr
    record = Record(root / "experiments")
    assert record.registered("toy.large").run_id == before
    assert len(record.results(before).table("rows")) == 40_000
    assert record.status(f"{before}-r2") == "failed"
    assert not list(root.rglob("*.tmp"))
    assert not list((root / "experiments" / "summaries" / f"{before}-r2").glob("*.csv"))
    after = assay_json(root, "run", "toy.large", "--register", "the third")["run_id"]
    assert record.registered("toy.large").run_id == after == f"{before}-r3"
