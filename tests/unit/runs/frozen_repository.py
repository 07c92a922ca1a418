"""A study to preregister in a git repository of its own; frozen and run through the command line, or around it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from assay.runs import Record, experiment
from assay.runs.execution import execute
from assay.runs.order import Order, order_of
from tests.unit.runs.toy_repository import assay, assay_json, write

TEXT = "# Plan\n\nThe coin is fair: heads in 40 to 60 of 100 flips. Refuted outside of that.\n"
PLAN = "experiments/lab/PREREGISTRATION.md"
COIN = '''
"""Coins, flipped by seed, on items of a text."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from assay.runs import Run, experiment


@dataclass(frozen=True)
class Settings:
    seed: int = 1
    part: str = "develop"
    kind: str = "exploratory"


def inputs(config: Settings) -> dict[str, str]:
    named = {"weights": "weights", f"items {config.part}": config.part}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in named.items()}


def confirmatory() -> Settings:
    return Settings(seed=90, part="confirm", kind="confirmatory")


@experiment("lab.coin", version=1, tiers={"tiny": Settings, "confirmatory": confirmatory}, data=inputs)
def coin(config: Settings, run: Run) -> None:
    """Is the coin fair?"""
    run["heads"] = config.seed * 7 % 100
'''


@dataclass(frozen=True)
class Settings:
    """The configuration of lab.coin, for runs that go around the command line."""

    seed: int = 90
    part: str = "confirm"
    kind: str = "confirmatory"


def git(root: Path, *words: str, date: str = "") -> str:
    """Run git as nobody; ``date`` is what the commit says of its time."""
    identity = ["-c", "user.name=n", "-c", "user.email=n@example.invalid", "-c", "commit.gpgsign=false"]
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
    environment = {**os.environ, **dates}
    done = subprocess.run(
        ["git", *identity, *words], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"git {words}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def commit(root: Path, message: str = "state", *, date: str = "") -> str:
    """Commit everything and return the commit."""
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message, date=date)
    return git(root, "rev-parse", "HEAD")


def lab(root: Path) -> Path:
    """A committed repository with the study ``lab`` and its plan."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "init", "-q", "-b", "main")
    ignored = "artifacts/\nbuild/\n__pycache__/\n"
    write(root, {"experiments/lab/coin.py": COIN, PLAN: TEXT, ".gitignore": ignored})
    commit(root, "plan")
    return root


def neighbour(root: Path, *assignments: str, weights: str = "weights") -> str:
    """An exploratory run, committed, of a study ``field`` next to ``lab``, on the same items; returns the run id."""
    source = COIN.replace("lab.coin", "field.coin").replace('"weights": "weights"', f'"weights": "{weights}"')
    write(root, {"experiments/field/coin.py": source})
    commit(root, "another study")
    options = [word for one in assignments for word in ("--set", one)]
    peek = str(assay_json(root, "run", "field.coin", "--tier", "tiny", *options)["run_id"])
    commit(root, "its run")
    return peek


def freeze(root: Path, *options: str, shared: str = "weights") -> dict[str, object]:
    """``assay freeze lab --shared weights``: what it prints as JSON; not committed."""
    found: dict[str, object] = assay_json(root, "freeze", "lab", "--shared", shared, *options)
    return found


def run(root: Path, *options: str) -> str:
    """``assay run lab.coin --tier confirmatory``; returns the run id."""
    options = options or ("--tier", "confirmatory")
    return str(assay_json(root, "run", "lab.coin", *options)["run_id"])


def run_unrefused(root: Path, *, settings: Settings | None = None) -> str:
    """The confirmatory run as someone starts it who got around the refusals; returns the run id."""

    def inputs(config: Settings) -> dict[str, str]:
        named = {"weights": "weights", f"items {config.part}": config.part}
        return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in named.items()}

    def coin(config: Settings, run) -> None:
        run["heads"] = config.seed * 7 % 100

    made = experiment("lab.coin", version=1, tiers={"confirmatory": Settings}, data=inputs)(coin)
    record = Record(root / "experiments")
    return execute(made, settings or Settings(), record=record, repository=root, rerun=True, quiet=True)


def order(root: Path, run_id: str) -> Order:
    """The verdict on a run of the repository's record."""
    return order_of(Record(root / "experiments").manifest(run_id), root)


def copy(root: Path, other: Path) -> Path:
    """The repository once more, in another folder."""
    shutil.copytree(root, other, symlinks=True)
    return other


def take_freeze(root: Path, other: Path) -> None:
    """Put what ``assay freeze`` wrote in the repository ``other`` into ``root``, past its refusals."""
    shutil.copytree(other / "experiments/lab/frozen", root / "experiments/lab/frozen", dirs_exist_ok=True)
    events = root / "experiments/registry/events"
    events.mkdir(parents=True, exist_ok=True)
    for path in (other / "experiments/registry/events").glob("*-frozen-*"):
        shutil.copy(path, events)


def refused(root: Path, *words: str, env: dict[str, str] | None = None) -> str:
    """What a command says that has to be refused."""
    done = assay(root, *words, env=env or {})
    if not done.returncode:
        raise RuntimeError(f"{words} was not refused: {done.stdout}")
    return done.stderr
