"""A cell in a Python process of its own: one that dies takes no other with it, and one that goes too far is ended.

Each process has one thread for numerical work: on small models, several threads a process slow each other down.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from assay.errors import RecordError
from assay.runs.cell_values import read_value
from assay.runs.jobs import Job

THREADS_PER_CELL = 1
"""Threads for numerical work in each process."""

_LOOK = 0.1  # seconds between two looks at time, memory and whether the run still wants the cell
_PARTING = 10.0  # seconds that a process has to end after it told how its cell ended
_BOOT = "import sys; sys.path[:0] = sys.argv[3:]; from assay.runs.cell_process import main; main()"
_RAISE = "Raise it for this run with"
_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMEXPR")
_ONE_THREAD = {f"{library}_NUM_THREADS": str(THREADS_PER_CELL) for library in _LIBRARIES} | {
    "VECLIB_MAXIMUM_THREADS": str(THREADS_PER_CELL),
    "TOKENIZERS_PARALLELISM": "false",
}


def compute_in_own_process(text: str) -> None:
    """Compute the job that ``text`` describes in a new process; this is what an executor runs, here or elsewhere.

    A cell that is finished already is not computed again. The process ends with this one, and gets no Ctrl-C: the
    parent deals with it.

    Raises:
        RecordError: the cell raised (its traceback is a note), its process died, it passed a limit, or the run was
            stopped.
    """
    job = Job.from_json(text)
    if read_value(Path(job.value), Path(job.artifacts), Path(job.repository)) is not None:
        return
    _refuse_unlimitable(job)
    if not _is_wanted(job):
        raise RecordError("not started: the run was stopped")
    with _started(job) as (process, outcome):
        stopped, answer = _watched(process, outcome, job)
        if stopped:
            raise RecordError(stopped)
        if answer:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_PARTING)  # else a thread that the cell left behind: its value is on disk already
        else:
            process.wait()
            raise RecordError(f"its process died without a word ({_ending(process.returncode)})")
    said = json.loads(answer)
    if said["error"]:
        failure = RecordError(said["error"])
        failure.add_note(said["trace"])
        raise failure


def _refuse_unlimitable(job: Job) -> None:
    if job.limits.memory_mb is not None and not Path("/proc/self/statm").is_file():
        raise RecordError(
            f"memory_limit_mb={job.limits.memory_mb:g} cannot be kept on this machine ({sys.platform}): memory is read "
            "from /proc, which Linux has. Leave the limit out, or run the cells on Linux."
        )


@contextlib.contextmanager
def _started(job: Job) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The process of a job, in a group of its own, and the pipe of its outcome; ended when the block is left."""
    asked, ask = os.pipe()
    outcome, told = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, *("-O",) * sys.flags.optimize, "-c", _BOOT, str(asked), str(told), *job.imports],
            stdin=subprocess.DEVNULL,
            pass_fds=(asked, told),
            env={**os.environ, **_ONE_THREAD},
            start_new_session=True,
        )
    except BaseException:
        for descriptor in (ask, outcome):
            os.close(descriptor)
        raise
    finally:
        for descriptor in (asked, told):
            os.close(descriptor)
    try:
        with contextlib.suppress(BrokenPipeError):  # it died already, as its outcome will tell
            os.write(ask, job.to_json().encode() + b"\n")
        yield process, outcome
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for descriptor in (ask, outcome):
            os.close(descriptor)


def _watched(process: subprocess.Popen[bytes], outcome: int, job: Job) -> tuple[str, bytes]:
    """Wait for the outcome: why the process has to be ended, if it has to, and what it told (nothing if it died)."""
    waiting = select.poll()
    waiting.register(outcome, select.POLLIN | select.POLLHUP)
    start = time.monotonic()
    told = b""
    while not told.endswith(b"\n"):
        if waiting.poll(_LOOK * 1000):
            if not (part := os.read(outcome, 65_536)):
                return "", b""
            told += part
        elif process.poll() is not None:
            return "", b""  # what it started itself holds the pipe open
        elif reason := _reason_to_end(process.pid, job, seconds=time.monotonic() - start):
            return reason, b""
    return "", told


def _reason_to_end(pid: int, job: Job, *, seconds: float) -> str:
    limits = job.limits
    if not _is_wanted(job):
        return "ended: the run was stopped"
    if limits.time_s is not None and seconds > limits.time_s:
        return f"ended: it ran longer than its time limit of {limits.time_s:g} s. {_RAISE} --cell-time-limit SECONDS."
    if limits.memory_mb is not None and (used := _resident_bytes(pid) / 1e6) > limits.memory_mb:
        return (
            f"ended: it used {used:.0f} MB of memory, more than its memory limit of {limits.memory_mb:g} MB. "
            f"{_RAISE} --cell-memory-limit MB."
        )
    return ""


def _resident_bytes(pid: int) -> int:
    with contextlib.suppress(OSError):  # it has ended meanwhile
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _is_wanted(job: Job) -> bool:
    return job.wanted is None or os.path.exists(job.wanted)


def _ending(code: int) -> str:
    if code < 0:
        names = {member.value: member.name for member in signal.Signals}
        name = names.get(-code, f"signal {-code}")
        return f"ended by {name}" + (": often too little memory" if name == "SIGKILL" else "")
    return f"exit code {code}"
