"""`assay freeze --status`: it exits 0 only when every order is shown and every frozen copy is whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.runs.frozen_repository import PLAN, commit, copy, freeze, git, run_unrefused
from tests.unit.runs.toy_repository import assay


def proven(planned: Path, finished: Path, root: Path) -> Path:
    return copy(finished, root)


def witnessed(planned: Path, finished: Path, root: Path) -> Path:
    copy(finished, root)
    git(root, "tag", "frozen-and-run")
    return squashed(root)


def squashed(root: Path) -> Path:
    git(root, "branch", "work")
    git(root, "reset", "-q", "--hard", "HEAD~2")
    git(root, "merge", "-q", "--squash", "work")
    git(root, "branch", "-q", "-D", "work")
    commit(root, "all at once")
    return root


def unprovable(planned: Path, finished: Path, root: Path) -> Path:
    git(root.parent, "clone", "-q", "--depth", "1", finished.as_uri(), str(root))
    return root


def violated(planned: Path, finished: Path, root: Path) -> Path:
    copy(planned, root)
    run_unrefused(root)
    commit(root, "results that nobody announced")
    return root


@pytest.mark.parametrize(("made", "status"), [(proven, 0), (witnessed, 0), (unprovable, 1), (violated, 1)])
def test_only_an_order_that_is_shown_is_good(planned: Path, finished: Path, tmp_path: Path, made, status: int) -> None:
    root = made(planned, finished, tmp_path / "lab")
    verdict = made.__name__
    said = assay(root, "freeze", "lab", "--status")
    assert (said.returncode, said.stderr) == (status, "")
    assert f"  {verdict}  " in said.stdout
    told = f"order not shown for 1 of 1 confirmatory run: 1 {verdict}\n"
    assert said.stdout.endswith(told) == (status == 1)
    document = assay(root, "freeze", "--status", "--json")
    assert (document.returncode, document.stderr) == (status, told if status else "")
    assert [line["order"] for line in json.loads(document.stdout)["runs"]] == [verdict]


def test_a_squash_that_no_tag_witnesses_falls_short(finished: Path, tmp_path: Path) -> None:
    root = squashed(copy(finished, tmp_path / "lab"))
    assert assay(root, "freeze", "--status").returncode == 1


def test_a_copy_that_is_not_whole_falls_short_without_any_run(planned: Path, tmp_path: Path) -> None:
    root = copy(planned, tmp_path / "lab")
    made = freeze(root)
    (root / PLAN).write_text("changed for the next freeze")
    assert assay(root, "freeze", "--status").returncode == 0
    (root / str(made["copy"])).unlink()
    said = assay(root, "freeze", "--status")
    assert said.returncode == 1
    assert said.stdout.endswith(f"frozen copies missing or edited: {made['copy']}\n")
