"""What runs in the process of one cell: read the job, compute it, say how it ended, and end when the parent does."""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
import threading
import traceback
from pathlib import Path
from types import TracebackType

from assay.errors import RecordError
from assay.runs.cell_values import write_value
from assay.runs.cells import cell_json
from assay.runs.jobs import Job, decode, found
from assay.runs.loaded import loaded_in_cell
from assay.runs.provenance import versions


def main() -> None:
    """Compute the job that comes through the pipe of the first argument, and tell the outcome to the second's."""
    asked, told = (int(argument) for argument in sys.argv[1:3])
    for descriptor in (asked, told):
        os.set_inheritable(descriptor, False)
    with _Report(told):
        text = b""
        while not text.endswith(b"\n"):
            if not (part := os.read(asked, 65_536)):
                raise RecordError("its parent was gone before it was told what to compute")
            text += part
        threading.Thread(target=_end_with_parent, args=(asked,), daemon=True).start()
        compute(Job.from_json(text.decode()))


def compute(job: Job) -> None:
    """Call the function on the cell and write what it returns.

    Raises:
        RecordError: this machine does not see the run's folders or has other versions; what was returned is no value.
    """
    _check_place(job)
    os.chdir(job.folder)
    function = found(job.function)
    cell = decode(job.cell)
    value = function(cell)
    loaded = loaded_in_cell(job.modules, Path(job.repository))
    write_value(Path(job.value), value, cell=cell_json(cell), artifacts=Path(job.artifacts), loaded=loaded)


def _check_place(job: Job) -> None:
    for folder in (job.folder, os.path.dirname(job.value)):
        if not os.path.isdir(folder):
            raise RecordError(
                f"this machine has no folder {folder}. Cells read code and write values where the run was started: "
                "start the workers on a file system that they share with it."
            )
    if job.packages is None:
        return
    here, there = ({"python": platform.python_version(), **versions()}, {"python": job.python, **job.packages})
    if differ := [name for name in sorted(here.keys() | there) if here.get(name) != there.get(name)]:
        listed = ", ".join(f"{name} {here.get(name, 'absent')} (run: {there.get(name, 'absent')})" for name in differ)
        raise RecordError(f"this worker has other versions than the run: {listed}. Start it from the same environment.")


class _Report:
    """Sends how the block ended, as one line of JSON, and ends an exception there: it is the cell's outcome."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __enter__(self) -> _Report:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        outcome = {"error": "", "trace": ""}
        if error is not None:
            said = str(error) if isinstance(error, RecordError) else f"{type(error).__name__}: {error}".rstrip(": ")
            outcome = {"error": said, "trace": "".join(traceback.format_exception(error))}
        with os.fdopen(self.descriptor, "wb") as stream:
            stream.write(json.dumps(outcome).encode() + b"\n")
        return True


def _end_with_parent(descriptor: int) -> None:
    """Wait until the parent's end of the pipe closes, then end this process and those that it started."""
    os.read(descriptor, 1)
    os.killpg(0, signal.SIGKILL)
