"""Some forty edits of a repository, each with the verdict that it has to bring: stale, or current.

Every edit is judged as claims are (nothing imported); ``--edits N`` of them, spread over the list, also through the
command line and ``pytest claims/`` in processes of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.runs.registry import Record
from assay.runs.stale import standing_of
from tests.unit.runs.outgrown_repository import edit, outgrown, told
from tests.unit.runs.toy_repository import assay, write

FUSE, TRAIN, SCALE = (f"experiments/toy/{name}.py" for name in ("fuse", "train", "scale"))
ITEMS = "experiments/toy/items.yaml"


class Edit(NamedTuple):
    """What is done to the repository, and the reason that toy.fuse has to give; empty where it stays current."""

    name: str
    do: Callable[[Path], object]
    reason: str = ""


def swap(file: str, *pairs: tuple[str, str]) -> Callable[[Path], None]:
    """An edit that replaces texts in a file."""

    def do(root: Path) -> None:
        for old, new in pairs:
            edit(root, file, old, new)

    return do


def new(file: str, text: str) -> Callable[[Path], object]:
    """An edit that writes a file."""
    return lambda root: write(root, {file: text})


def line_ends(root: Path) -> None:
    path = root / SCALE
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def renamed_module(root: Path) -> None:
    (root / SCALE).rename(root / "experiments/toy/scaling.py")
    edit(root, FUSE, "experiments.toy.scale", "experiments.toy.scaling")


def renamed_function(root: Path) -> None:
    edit(root, SCALE, "def scaled", "def rescaled")
    edit(root, FUSE, "scaled", "rescaled")


def superseded(root: Path) -> None:
    done = assay(root, "run", "toy.train", "--set", "steps=6", "--register", "longer")
    if done.returncode:
        raise RuntimeError(done.stderr)


def another_run(root: Path) -> None:
    assay(root, "run", "toy.train", "--set", "steps=9")


FORMATTED = '''"""How numbers are scaled."""

import math

SCALE = 3.0
LIMIT = 1_000


def scaled(
    x,
    power=1,
):
    """Scale one number."""
    return min(
        math.pow(x, power) * SCALE,
        LIMIT,
    )
'''
CHANGED = "experiments.toy.scale changed"
EDITS = [
    Edit("a comment in the experiment", swap(FUSE, ("ITEMS =", "# what is read\nITEMS ="))),
    Edit("a comment in a helper", swap(SCALE, ("LIMIT = 1000", "LIMIT = 1000  # at most"))),
    Edit("a docstring", swap(SCALE, ("Scale one number.", "Scale exactly one number."))),
    Edit("a docstring that goes", swap(SCALE, ('    """Scale one number."""\n', ""))),
    Edit("a file formatted", new(SCALE, FORMATTED)),
    Edit("other quotes", swap(FUSE, ('"toy.train"', "'toy.train'"))),
    Edit("blank lines", swap(FUSE, ("\n\n\n", "\n\n\n\n"))),
    Edit("line ends", line_ends),
    Edit("a number spelled otherwise", swap(SCALE, ("LIMIT = 1000", "LIMIT = 0x3E8"))),
    Edit("parentheses", swap(SCALE, ("SCALE = 3.0", "SCALE = (3.0)"))),
    Edit("mtime of the experiment", lambda root: (root / FUSE).touch()),
    Edit("mtime of a helper, in the past", lambda root: os.utime(root / SCALE, (0, 0))),
    Edit("mtime of a data file", lambda root: (root / ITEMS).touch()),
    Edit("the right to execute", lambda root: (root / SCALE).chmod(0o755)),
    Edit("a version number", swap("lab/__init__.py", ('"1"', '"2"'))),
    Edit("a module that nobody imports", swap("lab/unused.py", ("1", "2"))),
    Edit("a new module that nobody imports", new("lab/later.py", "LATER = 1\n")),
    Edit("a text", swap("README.md", ("A repository", "The repository"))),
    Edit("a claim", swap("claims/test_toy.py", ("The total", "The sum"))),
    Edit("a data file that nobody reads", swap("experiments/toy/other.yaml", ("1", "2"))),
    Edit("an unregistered run of the upstream experiment", another_run),
    Edit("a helper's constant", swap(SCALE, ("3.0", "3.5")), CHANGED),
    Edit("a constant's type", swap(SCALE, ("3.0", "3")), CHANGED),
    Edit("a constant two imports away", swap("lab/inner.py", ("2", "4")), "lab.inner changed"),
    Edit("a constant of a module named dist", swap("lab/dist.py", ("0", "5")), "lab.dist changed"),
    Edit("a constant of a module loaded by a computed name", swap("lab/late.py", ("0", "5")), "lab/late.py changed"),
    Edit("a constant of a module over sys.path", swap("tools/far.py", ("0", "5")), "tools/far.py changed"),
    Edit("a module over sys.path that goes", lambda root: (root / "tools/far.py").unlink(), "tools/far.py is gone"),
    Edit("a comment in a module over sys.path", swap("tools/far.py", ("0", "0  # none"))),
    Edit("a function's body", swap(SCALE, ("* SCALE", "/ SCALE")), CHANGED),
    Edit("a default value", swap(SCALE, ("power=1", "power=2")), CHANGED),
    Edit("a decorator", swap(SCALE, ("def scaled", "@staticmethod\ndef scaled")), CHANGED),
    Edit("a constant renamed", swap(SCALE, ("LIMIT", "CEILING")), CHANGED),
    Edit("a function renamed", renamed_function, CHANGED),
    Edit("a module renamed", renamed_module, "experiments.toy.scale is gone"),
    Edit("a module that breaks off", lambda root: (root / SCALE).unlink(), "experiments.toy.scale is gone"),
    Edit("a constant of the package", swap("lab/__init__.py", ('"1"', '"1"\nX = 1')), "lab changed"),
    Edit("another import", swap(FUSE, ("lab.outer import shifted", "lab.unused import IDLE")), "lab.unused is new"),
    Edit("a value of the tier", swap(FUSE, ("cells=3", "cells=4")), "experiments.toy.fuse changed"),
    Edit(
        "a default of the configuration", swap(FUSE, ("seed: int = 1", "seed: int = 2")), "experiments.toy.fuse changed"
    ),
    Edit("a YAML value", swap(ITEMS, ("item: 5", "item: 6")), f"data file {ITEMS} changed"),
    Edit("a YAML file that goes", lambda root: (root / ITEMS).unlink(), f"data file {ITEMS} is gone"),
    Edit(
        "a file of a data folder", swap("experiments/toy/parts/a.txt", ("1", "2")), "data file experiments/toy/parts/a"
    ),
    Edit("an upstream run superseded", superseded, "upstream toy.train_default_fb8f4fb84818 was superseded by"),
    Edit("an upstream experiment edited", swap(TRAIN, ("RATE = 0.5", "RATE = 0.6")), "upstream toy.train_default"),
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("outgrown") / "first place"
    root.mkdir()
    outgrown(root)
    return root


@pytest.fixture
def root(template: Path, tmp_path: Path) -> Path:
    """The repository, moved to another folder."""
    root = tmp_path / "moved"
    shutil.copytree(template, root)
    return root


def by_command(request: pytest.FixtureRequest, edit: Edit) -> bool:
    """Whether the edit is among those that are judged through the command line too."""
    wanted = min(request.config.getoption("--edits"), len(EDITS))
    return edit.name in {EDITS[place * len(EDITS) // wanted].name for place in range(wanted)}


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.name)
def test_the_verdict_is_right(root: Path, edit: Edit, request: pytest.FixtureRequest) -> None:
    edit.do(root)
    record = Record(root / "experiments")
    registered = record.registered("toy.fuse").run_id
    found = [str(reason) for reason in standing_of(record, registered, root).reasons]
    assert bool(found) == bool(edit.reason), found
    assert any(reason.startswith(edit.reason) for reason in found) or not edit.reason, found
    if by_command(request, edit):
        said = told(root)
        assert (said["run_id"], said["verdict"]) == (registered, "stale" if edit.reason else "current")
        assert claims(root) == ("STALE" if edit.reason else "HOLDS")


def claims(root: Path) -> str:
    """The verdict that ``pytest claims/`` gives."""
    options = ("-q", "-p", "no:cacheprovider", "--claims-json", "claims.json")
    subprocess.run([sys.executable, "-m", "pytest", "claims", *options], cwd=root, capture_output=True, check=False)
    (verdict,) = json.loads((root / "claims.json").read_text())["verdicts"]
    return str(verdict)


def test_there_are_thirty_edits_and_more_of_both_kinds() -> None:
    assert len(EDITS) >= 30
    assert min(sum(bool(edit.reason) for edit in EDITS), sum(not edit.reason for edit in EDITS)) >= 15
