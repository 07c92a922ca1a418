"""Two branches add ten runs each, with claims and the table made anew on both; git merges them in either order."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.runs import Record
from tests.plugin.conftest import claim, git
from tests.unit.runs.completed_run import complete

RUNS = 10
BRANCHES = ("left", "right")
TABLE = "docs/CLAIM_EVIDENCE.md"


def commit(folder: Path, words: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", words)


def regenerate(folder: Path) -> tuple[bytes, bytes]:
    """The index and the table, made again from the events, the summaries and the claims."""
    record = Record(folder / "experiments")
    record.rebuild_index()
    command = [sys.executable, "-m", "pytest", "claims", "-q", "-p", "no:cacheprovider", "--claims-table", TABLE]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return record.index_path.read_bytes(), (folder / TABLE).read_bytes()


def work(folder: Path, branch: str) -> None:
    """Ten runs, each registered for an experiment of its own, and a claim on each."""
    git(folder, "checkout", "--quiet", "-b", branch, "main")
    record = Record(folder / "experiments")
    claims = []
    for n in range(RUNS):
        name = f"{branch}.step{n}"
        record.register(complete(record, name, numbers={"loss": n / 4}), why="the test")
        marked = f'@pytest.mark.registered("{name}")\n' + claim(f"{branch[0].upper()}{n}", f"Loss {{loss: {n / 4}}}.")
        claims.append(marked)
    (folder / "claims" / f"test_{branch}.py").write_text("import pytest\n\n\n" + "\n\n".join(claims))
    regenerate(folder)
    commit(folder, branch)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one run on main, and two branches from it with ten more runs each."""
    folder = tmp_path / "repository"
    (folder / "claims").mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (folder / ".gitattributes").write_text(f"{TABLE} merge=union\n")
    (folder / ".gitignore").write_text("artifacts/\n__pycache__/\n")
    record = Record(folder / "experiments")
    record.register(complete(record, "main.first", numbers={"loss": 2.5}), why="the test")
    first = '@pytest.mark.registered("main.first")\n' + claim("M1", "Loss {loss: 2.5}.")
    (folder / "claims" / "test_main.py").write_text("import pytest\n\n\n" + first)
    regenerate(folder)
    git(folder, "init", "--quiet", "--template=", "--initial-branch=main")
    commit(folder, "main")
    for branch in BRANCHES:
        work(folder, branch)
    return folder


def test_both_orders_merge_without_a_conflict_to_the_same_index_and_table(repository: Path, tmp_path: Path) -> None:
    made = []
    for ours, theirs in (BRANCHES, BRANCHES[::-1]):
        copy = tmp_path / ours
        shutil.copytree(repository, copy)
        git(copy, "checkout", "--quiet", ours)
        git(copy, "merge", "--quiet", "--no-edit", theirs)
        record = Record(copy / "experiments")
        assert len(record.attempts()) == 2 * RUNS + 1
        made.append(regenerate(copy))
        assert record.index_is_current()
        assert record.doctor() == []
        assert made[-1][1].count(b"\n| `") == 2 * RUNS + 1
    assert made[0] == made[1]
