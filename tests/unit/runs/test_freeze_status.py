"""Which runs are asked for their order, and what is said of those that cannot be read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.runs.freeze import freezes
from assay.runs.freeze_status import UNREADABLE, confirmatory_runs, stands
from assay.runs.registry import Record
from tests.unit.runs.frozen_repository import commit, freeze, lab, run


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A frozen study with a confirmatory run and an exploratory one."""
    root = lab(tmp_path_factory.mktemp("status") / "lab")
    freeze(root)
    commit(root, "freeze")
    run(root, "--tier", "confirmatory")
    run(root, "--tier", "tiny")
    commit(root, "results")
    return root


@pytest.fixture
def root(house: Path, tmp_path: Path) -> Path:
    return shutil.copytree(house, tmp_path / "lab", symlinks=True)


def asked(root: Path, study: str | None = "lab") -> list[tuple[str, str, str]]:
    """Tier, status and verdict of each run that is asked."""
    found = confirmatory_runs(Record(root / "experiments"), root, study)
    return [(one.run_id.split("_")[1], one.status, one.order) for one in found]


def test_confirmatory_runs_alone_are_asked(root: Path) -> None:
    assert asked(root) == asked(root, None) == [("confirmatory", "completed", "proven")]
    assert asked(root, "other") == []


def test_a_damaged_exploratory_run_is_no_confirmatory_one(root: Path) -> None:
    next((root / "experiments/registry/events").glob("*lab.coin_tiny*-completed-*")).write_text("{")
    assert asked(root) == [("confirmatory", "completed", "proven")]


@pytest.mark.parametrize("what", ["manifest", "event"])
def test_a_confirmatory_run_that_cannot_be_read_is_unprovable(root: Path, what: str) -> None:
    folder, name = ("manifests", "lab.coin_confirm*") if what == "manifest" else ("registry/events", "*_confirm*-comp*")
    next((root / "experiments" / folder).glob(name)).write_text("{")
    assert asked(root) == [("confirmatory", UNREADABLE, "unprovable")]


def test_how_a_freeze_stands(root: Path) -> None:
    (made,) = known = freezes(Record(root / "experiments"), "lab")
    assert stands(made, known, root) == "in force"
    (root / "experiments/lab/PREREGISTRATION.md").write_text("# Another\n")
    assert stands(made, known, root) == "in force, PREREGISTRATION.md changed since"
    (root / made.copy).unlink()
    assert stands(made, known, root) == f"copy missing (git checkout -- {made.copy})"
