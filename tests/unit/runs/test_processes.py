"""One process a call: values and exceptions come back, a death takes nobody with it, children end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from assay.errors import RecordError
from assay.runs import processes
from assay.runs.processes import ProcessPerCell


def threads(name: str) -> str | None:
    return os.environ.get(name)


def fails(text: str) -> None:
    raise KeyError(text)


def leaves(code: int) -> None:
    os._exit(code)


def is_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def sleeps(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def leaves_a_thread(seconds: float) -> str:
    threading.Thread(target=time.sleep, args=(seconds,)).start()
    return "there"


def says_exit() -> None:
    sys.exit("no more")


def test_values_and_failures_of_several_calls_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with ProcessPerCell(2) as executor:
        good = executor.submit(threads, "OMP_NUM_THREADS")
        bad = executor.submit(fails, "where")
        gone = executor.submit(leaves, 9)
        killed = executor.submit(is_killed)
        ended = executor.submit(says_exit)
        mkl = executor.submit(threads, "MKL_NUM_THREADS")
    assert (good.result(), mkl.result()) == ("1", "1")
    assert (os.environ["OMP_NUM_THREADS"], os.environ.get("MKL_NUM_THREADS")) == ("5", None)
    with pytest.raises(RecordError, match="KeyError: 'where'") as caught:
        bad.result()
    assert "raise KeyError(text)" in caught.value.__notes__[0]
    with pytest.raises(RecordError, match=r"died without a word \(exit code 9\)"):
        gone.result()
    with pytest.raises(RecordError, match="ended by SIGKILL: often too little memory"):
        killed.result()
    with pytest.raises(RecordError, match="SystemExit: no more"):
        ended.result()


def test_a_thread_left_behind_does_not_hold_the_value_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PARTING", 0.2)
    before = time.monotonic()
    with ProcessPerCell(1) as executor:
        value = executor.submit(leaves_a_thread, 600.0).result()
    assert value == "there"
    assert time.monotonic() - before < 60


def test_kill_ends_what_runs_and_starts_nothing_more() -> None:
    executor = ProcessPerCell(1)
    running = executor.submit(sleeps, 60.0)
    waiting = executor.submit(sleeps, 60.0)
    start = time.monotonic()
    while not executor._alive and time.monotonic() - start < 20:
        time.sleep(0.01)
    executor.kill()
    assert time.monotonic() - start < 30
    with pytest.raises(RecordError, match="ended by SIGKILL"):
        running.result(timeout=5)
    assert waiting.cancelled()


PARENT = """
import os, sys, time
from assay.runs.processes import ProcessPerCell
from sleeper import note_and_sleep

if __name__ == "__main__":
    ProcessPerCell(1).submit(note_and_sleep).result()
"""
SLEEPER = """
import os, time

def note_and_sleep():
    with open("child.pid", "w") as file:
        file.write(str(os.getpid()))
    time.sleep(60)
"""


def test_a_child_whose_parent_is_killed_exits(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    parent = subprocess.Popen([sys.executable, "parent.py"], cwd=tmp_path)
    noted = tmp_path / "child.pid"
    deadline = time.monotonic() + 30
    while not (noted.is_file() and noted.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    child = int(noted.read_text())
    parent.kill()
    parent.wait()
    while alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not alive(child)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
