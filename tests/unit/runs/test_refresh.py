"""What is outgrown runs again upstream first, reads what was run again, and speaks only when told to."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.unit.runs.outgrown_repository import edit, stale_json, told
from tests.unit.runs.toy_repository import assay, assay_json, commit, written

TRAIN, FUSE = "experiments/toy/train.py", "experiments/toy/fuse.py"


def test_nothing_to_do(root: Path) -> None:
    before = written(root)
    done = assay(root, "run", "--stale")
    assert (done.returncode, done.stdout) == (0, "Nothing that is registered is stale.\n")
    assert written(root) == before


def test_the_plan_puts_upstream_first_with_reasons_and_times(root: Path) -> None:
    edit(root, TRAIN, "RATE = 0.5", "RATE = 0.75")
    before = written(root)
    plan = assay_json(root, "run", "--stale", "toy.fuse", "--dry-run")
    assert [one["experiment"] for one in plan["plan"]] == ["toy.train", "toy.fuse"]
    assert plan["plan"][0]["because"] == ["experiments.toy.train changed: constant RATE 0.5 -> 0.75"]
    assert plan["plan"][1]["because"][0].startswith("upstream toy.train_default_")
    assert (plan["status"], plan["runs"], plan["plan"][0]["seconds"] >= 0) == ("planned", [], True)
    shown = assay(root, "run", "--stale", "toy", "--dry-run").stdout
    assert "2 to run again; the runs that spoke took" in shown
    assert written(root) == before
    assert [one["experiment"] for one in assay_json(root, "run", "--stale", "toy.train", "--dry-run")["plan"]] == [
        "toy.train"
    ]


def test_without_register_the_runs_read_each_other_and_nobody_speaks(root: Path) -> None:
    edit(root, TRAIN, "RATE = 0.5", "RATE = 0.75")
    done = assay_json(root, "run", "--stale")
    train, fuse = done["runs"]
    assert (train["numbers"], fuse["numbers"]) == ({"loss": 3.0}, {"total": 54.0})
    assert (train["registered"], fuse["registered"]) == (False, False)
    assert assay_json(root, "runs", "show", fuse["run_id"])["upstream"] == [train["run_id"]]
    assert told(root)["verdict"] == "stale"


def test_with_register_everything_is_current_afterwards(root: Path) -> None:
    edit(root, TRAIN, "RATE = 0.5", "RATE = 0.75")
    dirty = assay(root, "run", "--stale", "--register", "again")
    assert (dirty.returncode, "on a dirty tree" in dirty.stderr) == (1, True)
    commit(root)
    done = assay(root, "run", "--stale", "--register", "again")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("registered: this run") == 2
    assert {one["verdict"] for one in json.loads(stale_json(root))} == {"current"}


def test_an_upstream_run_registered_alone_leaves_the_other_to_run(root: Path) -> None:
    edit(root, TRAIN, "RATE = 0.5", "RATE = 0.75")
    commit(root)
    assay_json(root, "run", "--stale", "toy.train", "--register", "again")
    (reason,) = told(root)["reasons"]
    assert reason["what"].startswith("was superseded by toy.train_default_")
    assert [one["experiment"] for one in assay_json(root, "run", "--stale", "--dry-run")["plan"]] == ["toy.fuse"]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("run", "--stale", "toys"), 2, "No experiment 'toys'"),
        (("run", "--stale", "--set", "seed=1"), 2, "--set does not go with it"),
        (("run", "--stale", "--register", " "), 2, "say in one sentence"),
        (("run", "--dry-run", "toy.fuse"), 2, "--dry-run goes with --stale"),
        (("run",), 2, "name an experiment or study, or say --stale"),
    ],
)
def test_a_wrong_word_is_named(template: Path, arguments: tuple[str, ...], status: int, words: str) -> None:
    before = written(template)
    done = assay(template, *arguments)
    assert (done.returncode, words in done.stderr) == (status, True), done.stderr
    assert written(template) == before


def test_what_cannot_be_started_any_more_stops_everything_before_it_starts(root: Path) -> None:
    edit(root, TRAIN, "RATE = 0.5", "RATE = 0.75")
    edit(root, FUSE, '"tiny": tiny', '"small": tiny')
    before = written(root)
    done = assay(root, "run", "--stale")
    assert (done.returncode, "has no tier 'tiny'" in done.stderr) == (2, True), done.stderr
    assert "cannot be run again as it is; nothing was run" in done.stderr
    assert written(root) == before


def test_a_manifest_with_a_time_without_offset_is_unreadable_by_name(root: Path) -> None:
    run_id = told(root, "toy.train")["run_id"]
    path = root / "experiments/manifests" / f"{run_id}.json"
    path.write_text(path.read_text().replace("+00:00", ""))
    found = told(root, "toy.train")
    assert (found["verdict"], "was altered after the run" in found["problem"]) == ("unreadable", True)
    above = told(root)
    assert (above["verdict"], "a time with its UTC offset" in above["problem"]) == ("unreadable", True)
    done = assay(root, "run", "--stale")
    assert (done.returncode, run_id in done.stderr) == (1, True)


def test_definitions_are_told_only_where_the_commit_is(root: Path) -> None:
    edit(root, TRAIN, "RATE = 0.5", "RATE = 0.75")
    shutil.rmtree(root / ".git")
    (reason,) = told(root, "toy.train")["reasons"]
    assert (reason["where"], reason["what"]) == ("experiments.toy.train", "changed")
    assert "is not here, or does not hold what ran" in reason["details"][0]
