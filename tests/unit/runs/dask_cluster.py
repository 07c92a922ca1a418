"""A Dask cluster as users start one: a scheduler and workers, each a process of its own, on loopback addresses."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_PATIENCE = 300  # seconds; a busy machine starts slowly


class Cluster(NamedTuple):
    """The address of the scheduler, its process, and those of the workers."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: tuple[subprocess.Popen[bytes], ...]


@contextlib.contextmanager
def cluster(folder: Path, *, nannies: tuple[bool, ...] = (False, True)) -> Iterator[Cluster]:
    """A scheduler and workers of one thread, started in ``folder``; a nanny is what restarts a worker that dies."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "scheduler.json"
    quiet = ("--no-dashboard", "--host", "127.0.0.1")
    with contextlib.ExitStack() as stack:
        scheduler = _started(stack, folder, "dask_scheduler", "--port", "0", "--scheduler-file", str(file), *quiet)
        _await(file, b"}")
        workers = []
        for place, nanny in enumerate(nannies):
            options = ("--scheduler-file", str(file), "--nthreads", "1", *quiet)
            workers.append(
                _started(stack, folder, "dask_worker", *options, "--nanny" if nanny else "--no-nanny", log=place)
            )
        for place in range(len(nannies)):
            _await(folder / f"{place}.log", b"Registered to")
        yield Cluster(json.loads(file.read_text())["address"], scheduler, tuple(workers))


def _started(
    stack: contextlib.ExitStack, folder: Path, module: str, *options: str, log: int | str = "scheduler"
) -> subprocess.Popen[bytes]:
    written = stack.enter_context((folder / f"{log}.log").open("wb"))
    command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
    process = subprocess.Popen(command, cwd=folder, stdout=written, stderr=subprocess.STDOUT)
    stack.callback(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _await(path: Path, words: bytes) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not (path.is_file() and words in path.read_bytes()):
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"{path.name} does not say {words!r}: {path.read_text() if path.is_file() else 'absent'}"
            )
        time.sleep(0.05)
