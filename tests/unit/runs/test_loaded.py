"""What a run loads beside its import statements is in its manifest, outgrows it, and keys its cells."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from assay.runs.loaded import loaded_beyond
from assay.runs.source import by_path
from tests.unit.runs.outgrown_repository import because, edit
from tests.unit.runs.toy_repository import assay, assay_json, commit, write

FIRST = '''
"""An experiment with code that no import statement leads to."""

import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from assay.runs import Run, experiment

sys.path.insert(0, str(Path(__file__).parents[2] / "code"))
import far

name = "parts"
near = importlib.import_module("lab." + name)


@dataclass(frozen=True)
class Settings:
    seed: int = 1


def work(cell: int) -> dict[str, int]:
    if cell == 1 and os.path.exists("die"):
        os._exit(3)
    return {"value": far.VALUE}


@experiment("toy.first", version=1)
def first(config: Settings, run: Run) -> None:
    """What does it sum to?"""
    rows = run.cells(work, [0, 1])
    run["sum"] = int(rows.value.sum()) + near.PART
'''
PLAIN = '''
"""An experiment that imports as usual."""

from dataclasses import dataclass

from assay.runs import Run, experiment
from lab.usual import USUAL


@dataclass(frozen=True)
class Settings:
    seed: int = 1


@experiment("toy.plain", version=1)
def plain(config: Settings, run: Run) -> None:
    """A number."""
    run["usual"] = USUAL
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "experiments/toy/first.py": FIRST,
        "experiments/toy/plain.py": PLAIN,
        "code/far.py": "VALUE = 2\n",
        "lab/parts.py": "PART = 5\n",
        "lab/usual.py": "USUAL = 1\n",
        ".gitignore": "artifacts/\n__pycache__/\n",
    }
    write(tmp_path, files)
    commit(tmp_path)
    return tmp_path


def manifest(root: Path, run_id: str) -> Any:
    return json.loads((root / f"experiments/manifests/{run_id}.json").read_text())


def test_loaded_files_enter_the_manifest_and_a_later_edit_makes_the_run_stale(root: Path) -> None:
    run_id = assay_json(root, "run", "toy.first", "--register", "why")["run_id"]
    assert sorted(manifest(root, run_id)["modules"]) == ["code/far.py", "experiments.toy.first", "lab/parts.py"]
    assert manifest(root, run_id)["dirty"] is False
    assert because(root, "toy.first") == []
    edit(root, "code/far.py", "2", "9")
    (root / "lab/parts.py").unlink()
    said = assay(root, "runs", "stale").stdout
    assert "code/far.py changed: constant VALUE 2 -> 9" in said
    assert "lab/parts.py is gone" in said


def test_a_folder_on_pythonpath_is_followed(root: Path) -> None:
    edit(root, "experiments/toy/first.py", 'sys.path.insert(0, str(Path(__file__).parents[2] / "code"))\n', "")
    commit(root)
    path = os.pathsep.join([str(root / "code"), os.environ.get("PYTHONPATH", "")])
    run_id = assay_json(root, "run", "toy.first", env={"PYTHONPATH": path})["run_id"]
    assert "code/far.py" in manifest(root, run_id)["modules"]


def test_of_two_experiments_in_one_process_neither_lists_what_the_other_imports(root: Path) -> None:
    done = assay(root, "run", "toy")
    assert done.returncode == 0, done.stderr
    modules = [set(json.loads(path.read_text())["modules"]) for path in root.glob("experiments/manifests/*")]
    loaded = {"code/far.py", "lab/parts.py"}
    assert {frozenset(found - loaded) for found in modules} == {
        frozenset({"experiments.toy.first"}),
        frozenset({"experiments.toy.plain", "lab.usual"}),
    }
    alone = assay_json(root, "run", "toy.plain", "--set", "seed=2")["run_id"]
    assert set(manifest(root, alone)["modules"]) == {"experiments.toy.plain", "lab.usual"}


def test_a_cell_is_computed_anew_when_what_it_loaded_changed(root: Path) -> None:
    (root / "die").touch()
    assert assay(root, "run", "toy.first").returncode == 1
    (root / "die").unlink()
    edit(root, "code/far.py", "2", "1000")
    commit(root)
    run_id = assay_json(root, "run", "toy.first")["run_id"]
    summary = json.loads((root / f"experiments/summaries/{run_id}/summary.json").read_text())
    assert summary["sum"] == 2005


def test_loaded_code_that_git_ignores_makes_the_run_dirty_and_it_is_not_registered(root: Path) -> None:
    (root / ".gitignore").write_text("artifacts/\n__pycache__/\nfar.py\n")
    (root / "code/far.py").rename(root / "far.txt")
    commit(root)
    (root / "far.txt").rename(root / "code/far.py")
    commit(root)
    done = assay(root, "run", "toy.first", "--register", "why")
    assert done.returncode == 1
    assert "it ran on a dirty tree" in done.stderr
    assert "untracked: code/far.py" in done.stderr
    (path,) = root.glob("experiments/manifests/*")
    assert json.loads(path.read_text())["dirty"] is True


def test_nothing_of_this_process_belongs_to_another_repository(root: Path) -> None:
    assert loaded_beyond(["lab.usual"], root) == {}


def test_a_path_has_a_slash_and_a_file_that_is_gone_has_no_digest(root: Path) -> None:
    write(root, {"top.py": "T = 1\n", "v1.0/odd name.py": "T = 1\n"})
    found = by_path(["top.py", root / "v1.0/odd name.py", "absent.py", "code/notes.txt"], root)
    assert list(found) == ["./top.py", "v1.0/odd name.py"]
    assert by_path(found, root) == found
