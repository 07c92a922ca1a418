"""A process for a cell: values and failures come back, limits hold, a death takes nobody with it, nothing is left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.errors import RecordError
from assay.runs import processes
from assay.runs.cell_values import read_value
from assay.runs.jobs import Job, Limits, address_of, encode
from assay.runs.processes import compute_in_own_process
from tests.unit.runs import cell_functions as functions

ROOT = Path(__file__).resolve().parents[__name__.count(".")]


def job(function: Callable[..., Any], cell: Any, folder: Path, **fields: Any) -> Job:
    limits = Limits(fields.pop("time_s", None), fields.pop("memory_mb", None))
    place = {
        "value": str(folder / "value.json"),
        "artifacts": str(folder),
        "folder": str(folder),
        "repository": str(ROOT),
    }
    return Job(address_of(function), encode(cell), **place, imports=(str(ROOT),), limits=limits, **fields)


def compute(function: Callable[..., Any], cell: Any, folder: Path, **fields: Any) -> Any:
    compute_in_own_process(job(function, cell, folder, **fields).to_json())
    value = read_value(folder / "value.json", folder, ROOT)
    assert value is not None
    return value.columns


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "MKL_NUM_THREADS"])
def test_a_cell_has_one_thread_whatever_its_parent_has(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    assert compute(functions.environment, name, tmp_path) == {"value": "1"}
    assert (os.environ["OMP_NUM_THREADS"], os.environ.get("MKL_NUM_THREADS")) == ("5", None)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("exit 9", r"^its process died without a word \(exit code 9\)$"),
        ("killed", "ended by SIGKILL: often too little memory"),
        ("sys.exit", "^SystemExit: no more"),
        ("raise", "^KeyError: 'where'"),
    ],
)
def test_how_a_cell_ended_is_told(how: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=words) as caught:
        compute(functions.ends, how, tmp_path)
    if how == "raise":
        assert 'raise KeyError("where")' in caught.value.__notes__[0]
    assert sorted(os.listdir(tmp_path)) == ["computed.log"]


def test_a_finished_cell_is_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert compute(functions.square, 3, tmp_path) == compute(functions.square, 3, tmp_path) == {"square": 9}
    assert functions.calls() == ["3"]


def test_a_thread_left_behind_does_not_hold_the_value_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PARTING", 0.2)
    before = time.monotonic()
    assert compute(functions.leaves_a_thread, 600.0, tmp_path) == {"value": "there"}
    assert time.monotonic() - before < 300


@pytest.mark.parametrize("function", [functions.sleeps, functions.starts_a_process])
def test_a_cell_that_runs_too_long_is_ended_with_all_that_it_started(function: Any, tmp_path: Path) -> None:
    before = time.monotonic()
    with pytest.raises(RecordError, match=r"ended: it ran longer than its time limit of 2 s\. Raise it .* --cell-time"):
        compute(function, 600.0, tmp_path, time_s=2)
    assert time.monotonic() - before < 300
    await_end(int((tmp_path / "started.log").read_text()))


def test_a_cell_that_takes_too_much_memory_is_ended(tmp_path: Path) -> None:
    assert compute(functions.holds, 10, tmp_path, memory_mb=200) == {"bytes": 10_000_000}
    (tmp_path / "value.json").unlink()
    with pytest.raises(RecordError, match=r"ended: it used [2-9]\d\d MB of memory, more than its memory limit of 200 "):
        compute(functions.holds, 400, tmp_path, memory_mb=200)


def test_a_cell_that_nobody_wants_any_more_is_not_started_or_ended(tmp_path: Path) -> None:
    token = tmp_path / "wanted"
    with pytest.raises(RecordError, match="not started: the run was stopped"):
        compute(functions.square, 3, tmp_path, wanted=str(token))
    token.touch()
    command = job(functions.sleeps, 600.0, tmp_path, wanted=str(token)).to_json()
    parent = subprocess.Popen([sys.executable, "-c", PARENT, command], stderr=subprocess.PIPE, text=True)
    child = started(tmp_path)
    token.unlink()
    _, err = parent.communicate(timeout=300)
    assert "RecordError: ended: the run was stopped" in err
    await_end(child)


PARENT = "import sys; from assay.runs.processes import compute_in_own_process; compute_in_own_process(sys.argv[1])"


@pytest.mark.parametrize("function", [functions.sleeps, functions.starts_a_process])
def test_a_cell_whose_parent_is_killed_ends_with_all_that_it_started(function: Any, tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, job(function, 600.0, tmp_path).to_json()])
    child = started(tmp_path)
    parent.kill()
    parent.wait()
    await_end(child)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"python": "3.11.0", "packages": {"numpy": "1.0"}}, r"other versions than the run: .*numpy \S+ \(run: 1\.0\)"),
        ({"value": "/no/such/folder/x.json"}, "this machine has no folder /no/such/folder. Cells read code and write"),
    ],
)
def test_a_worker_that_is_not_like_the_run_is_refused(fields: dict[str, Any], words: str, tmp_path: Path) -> None:
    asked = job(functions.square, 3, tmp_path)._replace(**fields)
    with pytest.raises(RecordError, match=words):
        compute_in_own_process(asked.to_json())
    assert os.listdir(tmp_path) == []


def started(folder: Path) -> int:
    """Number of the process that a cell noted."""
    noted = folder / "started.log"
    deadline = time.monotonic() + 300
    while not (noted.is_file() and noted.read_text().endswith("\n")):
        assert time.monotonic() < deadline, "the cell did not start"
        time.sleep(0.02)
    return int(noted.read_text())


def await_end(pid: int) -> None:
    deadline = time.monotonic() + 300
    while alive(pid):
        assert time.monotonic() < deadline, "the process is still there"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
