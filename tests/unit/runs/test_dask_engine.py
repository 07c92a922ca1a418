"""Cells on Dask: a scheduler and two workers as processes; kill a worker, kill the client, interrupt, limit."""

from __future__ import annotations

import collections
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.runs.registry import Record
from tests.unit.runs.dask_cluster import Cluster, cluster
from tests.unit.runs.test_processes import await_end
from tests.unit.runs.toy_repository import assay, assay_json, commit, start, toy, write

SLOW = '''
"""Cells that take their time and tell when they start and end."""

import os
import time
from dataclasses import dataclass

from assay.runs import Run, experiment

@dataclass(frozen=True)
class Settings:
    cells: int = 8
    seconds: float = 0.7

@dataclass(frozen=True)
class Nap:
    place: int
    seconds: float

def tell(file: str, *words: int) -> None:
    with open(file, "a") as log:
        log.write(" ".join(map(str, words)) + "\\n")

def nap(cell: Nap) -> dict[str, int]:
    tell("started.log", cell.place, os.getpid())
    time.sleep(cell.seconds)
    tell("ended.log", cell.place)
    return {"place_again": cell.place}

@experiment("toy.naps", version=1)
def naps(config: Settings, run: Run) -> None:
    """How many naps?"""
    rows = run.cells(nap, [Nap(place, config.seconds) for place in range(config.cells)])
    run["naps"] = len(rows)
'''


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("dask")) as running:
        yield running


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "r", {"experiments/toy/naps.py": SLOW})
    return toy(tmp_path / "r")


def on(running: Cluster) -> tuple[str, ...]:
    return ("--executor", "dask", "--scheduler", running.address)


def lines(root: Path, name: str) -> list[list[int]]:
    path = root / name
    whole = path.read_text().rpartition("\n")[0] if path.is_file() else ""
    return [[int(word) for word in line.split()] for line in whole.splitlines()]


def await_lines(root: Path, name: str, count: int) -> None:
    deadline = time.monotonic() + 300
    while len(lines(root, name)) < count:
        assert time.monotonic() < deadline, f"{name} has not {count} lines"
        time.sleep(0.02)


def starts(root: Path) -> collections.Counter[int]:
    return collections.Counter(place for place, _ in lines(root, "started.log"))


def finished(root: Path) -> set[str]:
    return {path.stem for path in (root / "artifacts" / "cells").rglob("*.json")}


def await_begun(root: Path) -> collections.Counter[int]:
    """Cells that were begun, when the value of each is kept: one more may begin before the end of a client is seen."""
    deadline = time.monotonic() + 300
    while len(finished(root)) < len(begun := starts(root)):
        assert time.monotonic() < deadline, f"begun were {sorted(begun)}, kept are {len(finished(root))}"
        time.sleep(0.02)
    return begun


def test_a_run_on_dask_has_the_numbers_of_a_local_one_and_says_where_it_ran(root: Path, dask: Cluster) -> None:
    there = assay_json(root, "run", "toy.sums", "--tier", "tiny", *on(dask))
    here = assay_json(root, "run", "toy.sums", "--tier", "tiny")
    assert there["numbers"] == here["numbers"]
    record = Record(root / "experiments")
    assert record.manifest(there["run_id"]).determinism["executor"] == "dask"
    assert "executor" not in record.manifest(here["run_id"]).determinism


def test_the_code_that_is_here_is_computed_however_long_the_workers_live(root: Path, dask: Cluster) -> None:
    source = root / "experiments/toy/sums.py"
    before = assay_json(root, "run", "toy.sums", "--tier", "tiny", *on(dask))["numbers"]["total.mean"]
    source.write_text(source.read_text().replace("FACTOR = 3.0", "FACTOR = 6.0"))
    commit(root)
    after = assay_json(root, "run", "toy.sums", "--tier", "tiny", *on(dask))["numbers"]["total.mean"]
    assert after == pytest.approx(2 * before)


def test_a_worker_killed_in_the_middle_costs_one_cell(root: Path, tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster") as running:
        process = start(root, "run", "toy.naps", *on(running), "--json")
        await_lines(root, "ended.log", 2)
        running.workers[0].kill()  # it has no nanny: it stays away
        out, err = process.communicate(timeout=300)
    assert process.returncode == 0, out + err
    again = [place for place, count in starts(root).items() if count > 1]
    assert len(again) <= 1
    assert sum(starts(root).values()) == 8 + len(again)
    assert len(finished(root)) == 8


def test_a_killed_client_loses_no_finished_cell_and_the_next_run_does_only_the_rest(root: Path, dask: Cluster) -> None:
    process = start(root, "run", "toy.naps", *on(dask))
    await_lines(root, "ended.log", 4)
    kept = finished(root)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=300)
    assert len(kept) >= 2
    record = Record(root / "experiments")
    (run_id,) = record.attempts()
    assert record.status(run_id) == "interrupted"
    begun = await_begun(root)
    assert len(begun) < 8  # what was being computed is finished, what waited is not begun
    done = assay_json(root, "run", "toy.naps", *on(dask))
    assert (done["run_id"], done["numbers"]) == (f"{run_id}-r2", {"naps": 8})
    again = starts(root)
    assert {place: again[place] for place in begun} == dict.fromkeys(begun, 1)  # nothing that had finished ran again
    assert len(finished(root)) == 8


def test_an_interrupted_client_stops_the_cells_on_the_workers(root: Path, dask: Cluster) -> None:
    process = start(root, "run", "toy.naps", "--set", "seconds=60.0", *on(dask))
    await_lines(root, "started.log", 2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "interrupted; its partial numbers are no evidence" in err
    for _, pid in lines(root, "started.log"):
        await_end(pid)
    assert len(starts(root)) == 2
    assert assay_json(root, "run", "toy.sums", "--tier", "tiny", *on(dask))["status"] == "completed"


def test_limits_hold_on_the_workers_and_name_the_cell(root: Path, dask: Cluster) -> None:
    slow = ("run", "toy.naps", "--set", "seconds=60.0", "--set", "cells=2")
    done = assay(root, *slow, *on(dask), "--cell-time-limit", "1.5")
    assert done.returncode == 1
    assert "2 of 2 cells of nap failed:" in done.stderr
    assert "Nap(place=1, seconds=60.0): ended: it ran longer than its time limit of 1.5 s." in done.stderr
    done = assay(root, *slow, *on(dask), "--cell-memory-limit", "2")
    assert "MB of memory, more than its memory limit of 2 MB." in done.stderr


def test_a_scheduler_that_dies_is_an_error_and_not_a_silence(root: Path, tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster", nannies=(False,)) as running:
        process = start(root, "run", "toy.naps", *on(running))
        await_lines(root, "ended.log", 1)
        running.scheduler.kill()
        out, err = process.communicate(timeout=300)
    assert process.returncode == 1, out + err
    assert "the executor gave it up" in err
    assert assay_json(root, "run", "toy.naps")["numbers"] == {"naps": 8}
    assert set(starts(root).values()) <= {1, 2}


def test_a_silent_address_and_an_absent_package_are_told_before_anything_is_written(root: Path) -> None:
    done = assay(root, "run", "toy.sums", "--tier", "tiny", "--executor", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert done.returncode == 2
    assert "--scheduler tcp://127.0.0.1:9: no Dask scheduler answers there" in done.stderr
    (root / "distributed.py").write_text("raise ImportError('No module named distributed')\n")
    done = assay(root, "run", "toy.sums", "--tier", "tiny", "--executor", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert done.returncode == 2
    assert "Install the extra: pip install 'assay[dask]'" in done.stderr
    assert not (root / "experiments" / "registry").exists()
