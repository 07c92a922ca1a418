"""Cells as a Slurm job array: a script for ``sbatch``, the jobs as lines of JSON, and what a task of the array runs.

The run that writes the script ends there; the next ``assay run`` finds the values that the tasks wrote.
"""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import final

from assay.errors import RecordError
from assay.runs.engines import Ended, HandedOverError
from assay.runs.jobs import Job
from assay.runs.processes import compute_in_own_process
from assay.runs.storage import shown, write_durable

MOST_TASKS = 1000
"""Tasks of one array; more cells share them. Slurm's own default for ``MaxArraySize`` allows indices up to 1000."""

_OWN_MEMORY_MB = 256  # of the process that starts a cell and watches over its limits
_OWN_SECONDS = 60

_SCRIPT = """#!/bin/bash
# Written by assay run --executor slurm-script. Options of sbatch go before this file's name and win over these lines.
{directives}
cd {folder} || exit 1
exec {python} -m assay.runs.slurm {cells} {tasks} "$SLURM_ARRAY_TASK_ID"
"""


@final
class SlurmScript:
    """Writes ``artifacts/slurm/<run_id>/array.sh`` and ends the run; nothing is submitted."""

    name = "slurm-script"

    def compute(self, jobs: Sequence[Job], *, at_once: int | None) -> Generator[Ended, None, None]:
        """Write the script; ``at_once`` becomes the array's limit of tasks that run at the same time.

        Raises:
            HandedOverError: always; it says what to type next.
        """
        attempt = Path(jobs[0].value).parent.name
        folder = Path(jobs[0].artifacts) / "slurm" / attempt
        cells, script = folder / "cells.jsonl", folder / "array.sh"
        write_durable(cells, "".join(f"{job.to_json()}\n" for job in jobs).encode())
        write_durable(script, _script(jobs, cells, attempt, at_once=at_once).encode())
        yield from ()
        raise HandedOverError(
            f"{len(jobs)} {'cell waits' if len(jobs) == 1 else 'cells wait'} for Slurm; when the array is through, the "
            f"run goes on. A cell that fails says why in {shown(folder)}/<task>.log.\n"
            f"  sbatch {shown(script)}",
            script=shown(script),
        )


def _script(jobs: Sequence[Job], cells: Path, attempt: str, *, at_once: int | None) -> str:
    tasks = min(len(jobs), MOST_TASKS)
    limits = jobs[0].limits
    options = [
        f"--job-name={attempt}",
        f"--array=0-{tasks - 1}" + (f"%{at_once}" if at_once is not None else ""),
        f'--output="{cells.parent}/%a.log"',
        "--cpus-per-task=1",
    ]
    if limits.time_s is not None:
        seconds = math.ceil(len(jobs) / tasks) * (limits.time_s + _OWN_SECONDS)
        options.append(f"--time={math.ceil(seconds / 60)}")
    if limits.memory_mb is not None:
        options.append(f"--mem={math.ceil(limits.memory_mb) + _OWN_MEMORY_MB}M")
    return _SCRIPT.format(
        directives="\n".join(f"#SBATCH {option}" for option in options),
        folder=shlex.quote(jobs[0].folder),
        python=shlex.quote(sys.executable),
        cells=shlex.quote(str(cells)),
        tasks=tasks,
    )


def run_task(cells: Path, *, tasks: int, task: int) -> int:
    """Compute every ``tasks``-th cell of the file from number ``task`` on, each in its own process; how many failed."""
    failed = 0
    lines = cells.read_text().splitlines()
    for number in range(task, len(lines), tasks):
        job = Job.from_json(lines[number])
        try:
            compute_in_own_process(lines[number])
        except RecordError as error:
            failed += 1
            notes = "\n".join(getattr(error, "__notes__", ()))
            sys.stderr.write(f"{job.function} {job.cell}: {error}\n{notes}\n")
    return failed


if __name__ == "__main__":
    sys.exit(1 if run_task(Path(sys.argv[1]), tasks=int(sys.argv[2]), task=int(sys.argv[3])) else 0)
