"""A small repository with experiments of its own, driven through the command line in processes of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SUMS = '''
"""Sums of seeded draws: cells, a count, an estimate of nothing, and a table."""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass

from assay.runs import Run, count, experiment

FACTOR = 3.0


@dataclass(frozen=True)
class Settings:
    seed: int = 7
    cells: int = 2
    pause: float = 0.0


@dataclass(frozen=True)
class Draw:
    seed: int
    place: int
    pause: float


def draw(cell: Draw) -> dict[str, object]:
    time.sleep(cell.pause)
    if cell.place == 1 and os.path.exists("die"):
        os._exit(9)
    with open("computed.log", "a") as log:
        log.write(f"{cell.place}\\n")
    rng = random.Random(cell.seed * 1000 + cell.place)
    return {"total": FACTOR * sum(rng.random() for _ in range(10)), "name": f"cell {cell.place}"}


def tiny() -> Settings:
    return Settings()


def small() -> Settings:
    return Settings(cells=6, pause=0.25)


@experiment("toy.sums", version=1, tiers={"tiny": tiny, "small": small})
def sums(config: Settings, run: Run) -> None:
    """Are sums of ten draws above five?"""
    rows = run.cells(draw, [Draw(config.seed, place, config.pause) for place in range(config.cells)])
    run.table("draws", rows)
    run["above.five"] = count(rows["total"] > 5, rows=rows["total"])
    run["total.mean"] = rows["total"].mean()
'''

WORDS = '''
"""Words and numbers without cells: what a summary may hold, and what happens when the experiment raises."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from assay.runs import Run, experiment


@dataclass(frozen=True)
class Settings:
    seed: int = 1
    fail: bool = False
    wait: float = 0.0


@experiment("toy.words", version=2, tiers={"tiny": Settings})
def words(config: Settings, run: Run) -> None:
    """What can a run hold?"""
    run["limit"] = float("inf")
    run["gone"] = float("nan")
    run["verdict"] = "supported"
    time.sleep(config.wait)
    if config.fail:
        home, token = os.path.expanduser("~"), os.environ.get("PLANTED_TOKEN", "")
        raise ValueError(f"no file {home}/secret/rows.csv for {token} of {os.environ.get('USER')}")
    run["holds"] = True
'''


def write(root: Path, files: dict[str, str]) -> Path:
    """Write source files under ``root``, which then is a repository."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"))
    return root


def toy(root: Path) -> Path:
    """A repository with the experiments toy.sums and toy.words, all committed to git."""
    write(
        root, {"experiments/toy/sums.py": SUMS, "experiments/toy/words.py": WORDS, ".gitignore": "artifacts/\n*.log\n"}
    )
    commit(root)
    return root


def commit(root: Path) -> None:
    """Commit everything, under an address that belongs to nobody."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    if not (root / ".git").exists():
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "state"], cwd=root, check=True)


def start(root: Path, *arguments: str, python: tuple[str, ...] = (), **options: Any) -> subprocess.Popen[str]:
    """Start ``python -m assay ARGUMENTS`` in the repository, its output in pipes."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **options.pop("env", {})}
    return subprocess.Popen(
        [sys.executable, *python, "-m", "assay", *arguments],
        cwd=root,
        env=environment,
        text=True,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


def assay(root: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``python -m assay ARGUMENTS`` in the repository to its end."""
    process = start(root, *arguments, **options)
    out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def assay_json(root: Path, *arguments: str, **options: Any) -> Any:
    """The JSON document that a command prints with ``--json``; the command has to succeed."""
    done = assay(root, *arguments, "--json", **options)
    if done.returncode:
        raise RuntimeError(f"{arguments}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def written(root: Path) -> dict[str, bytes]:
    """Every file of the record and of artifacts but the locks, by path."""
    folders = [root / "experiments" / name for name in ("registry", "manifests", "summaries", "registered")]
    files = [path for folder in (*folders, root / "artifacts") for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files if path.suffix != ".lock"}
