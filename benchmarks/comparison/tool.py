"""What a tool has to do to stand in the comparison, and how its command lines are called."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from benchmarks.comparison.paper import Printed

PREVENTED: Final = "prevented"
LISTED: Final = "listed only"


@final
@dataclass(frozen=True, slots=True)
class Tool:
    """A tool on the paper.

    `requirement` is what pip installs, pinned; `prepare` sets the project up once in an empty folder; `write_paper`
    writes an edited paper; `measure` puts the results of a run into the project; `flagged` says by sentence whether the
    tool objects to it, PREVENTED where the tool writes the number in itself, LISTED where it lists the number and
    passes. The first argument of all is the folder, the last the `bin` of the environment.
    """

    name: str
    requirement: str
    how: str
    strengths: str
    prepare: Callable[[Path, Path], None]
    write_paper: Callable[[Path, Sequence[Printed], Path], None]
    measure: Callable[[Path, Mapping[str, float], Path], None]
    flagged: Callable[[Path, Path], Mapping[str, bool | str]]


def write(path: Path, text: str) -> None:
    """Write a file of the project, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def call(folder: Path, *command: str | Path, status: Sequence[int] = (0,), source: Path | None = None) -> str:
    """What a command prints; PYTHONPATH is `source` alone, or empty.

    Raises:
        RuntimeError: an exit status that is not among those expected, with all that the command printed.
    """
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTEST_ADDOPTS")}
    environment |= {"PYTHONPATH": str(source)} if source else {}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode not in status:
        raise RuntimeError(f"{' '.join(map(str, command))} exited {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout
