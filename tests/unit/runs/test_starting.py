"""A confirmatory run that may not start does not: it says why, and writes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.runs.frozen_repository import COIN, PLAN, commit, freeze, git, lab, neighbour, refused, run
from tests.unit.runs.toy_repository import assay, assay_json, written

CONFIRM = ("run", "lab.coin", "--tier", "confirmatory")


def unchanged(root: Path, *words: str) -> str:
    before = written(root)
    said = refused(root, *words)
    assert written(root) == before
    assert "nothing was run" in said
    assert "Traceback" not in said
    return said


def test_without_a_freeze(tmp_path: Path) -> None:
    root = lab(tmp_path / "lab")
    said = unchanged(root, *CONFIRM)
    assert "confirmatory run of lab.coin: lab is not frozen. Freeze it first: assay freeze lab" in said


def test_with_a_freeze_that_is_not_committed(tmp_path: Path) -> None:
    root = lab(tmp_path / "lab")
    freeze(root)
    assert "is not committed. Commit it: git add experiments && git commit" in unchanged(root, *CONFIRM)


@pytest.mark.parametrize("name", ["experiments/lab/coin.py", "new.py"])
def test_on_a_dirty_tree(house: Path, name: str) -> None:
    path = house / name
    path.write_text((path.read_text() if path.exists() else "") + "\nEXTRA = 1\n")
    said = unchanged(house, *CONFIRM)
    assert "confirmatory run of lab.coin: the run would start on a dirty tree" in said
    assert name in said


def test_outside_of_git(house: Path) -> None:
    (house / ".git").rename(house.parent / "git")
    assert "would start outside a git commit" in unchanged(house, *CONFIRM)


def test_with_another_configuration_than_the_frozen_one(house: Path) -> None:
    said = unchanged(house, *CONFIRM, "--set", "seed=91")
    assert "its order is violated: freeze 1-" in said
    assert "does not hold the configuration of the run" in said


def test_with_another_version_of_the_experiment(house: Path) -> None:
    (house / "experiments/lab/coin.py").write_text(COIN.replace("version=1", "version=2"))
    commit(house, "other meaning")
    assert "(lab.coin, version 2, " in unchanged(house, *CONFIRM)


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.parametrize(
    ("assignment", "what"),
    [("seed=90", "seed = 90 was used by"), ("part=confirm", "data 'items confirm' was used by")],
)
@pytest.mark.parametrize("kind", ["exploratory", "pilot"])
def test_with_seeds_or_data_that_an_earlier_run_used(
    house: Path, assignment: str, what: str, kind: str, committed: bool
) -> None:
    peek = run(house, "--tier", "tiny", "--set", assignment, "--set", f"kind={kind}")
    if committed:
        commit(house, "a look at it")
    assert f"{what} the {kind} run {peek} (as " in unchanged(house, *CONFIRM)


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("part=confirm", "data 'items confirm' was used by the exploratory run {} (as 'items confirm', SHA-256 "),
        ("seed=90", "seed = 90 was used by the exploratory run {} (as seed, on the same data 'weights')"),
    ],
)
def test_with_data_or_a_seed_on_these_data_that_another_study_used(house: Path, assignment: str, said: str) -> None:
    peek = neighbour(house, assignment)
    found = unchanged(house, *CONFIRM)
    assert f"its order is violated: results before the freeze: {said.format(peek)}" in found


def test_a_seed_that_another_study_used_on_other_data_is_no_breach(house: Path) -> None:
    neighbour(house, "seed=90", weights="others")
    assert run(house).startswith("lab.coin_confirmatory_")


def test_a_run_that_failed_has_used_its_seed_as_well(house: Path) -> None:
    source = house / "experiments/lab/coin.py"
    source.write_text(
        source.read_text().replace('    run["heads"]', '    assert config.kind != "pilot"\n    run["heads"]')
    )
    commit(house, "a pilot raises")
    assert assay(house, "run", "lab.coin", "--tier", "tiny", "--set", "seed=90", "--set", "kind=pilot").returncode == 1
    assert "seed = 90 was used by the pilot run" in unchanged(house, *CONFIRM)


def test_what_is_shared_may_have_been_used(house: Path) -> None:
    run(house, "--tier", "tiny")
    assert run(house).startswith("lab.coin_confirmatory_")


def test_a_manifest_that_cannot_be_read_is_no_permission(house: Path) -> None:
    peek = run(house, "--tier", "tiny")
    (house / "experiments/manifests" / f"{peek}.json").write_text("{")
    assert f"experiments/manifests/{peek}.json is unreadable" in refused(house, *CONFIRM)


def test_into_another_record_the_same_freeze_is_asked_for(house: Path, tmp_path: Path) -> None:
    scratch = ("--record", str(tmp_path / "scratch"))
    root = lab(tmp_path / "unfrozen")
    assert "lab is not frozen" in unchanged(root, *CONFIRM, *scratch)
    assert assay(house, "run", "lab.coin", "--tier", "tiny", "--set", "seed=90", *scratch).returncode == 0
    assert "seed = 90 was used by" in unchanged(house, *CONFIRM, *scratch)


@pytest.mark.parametrize("what", ["copy", "event"])
def test_with_a_freeze_that_was_tampered_with(house: Path, what: str) -> None:
    pattern = {"copy": "experiments/lab/frozen/*.md", "event": "experiments/registry/events/*-frozen-*"}[what]
    (path,) = house.glob(pattern)
    path.write_text(path.read_text().replace("40", "41") + " ")
    commit(house, "edit")
    assert "damaged" in refused(house, *CONFIRM) if what == "event" else "edited" in unchanged(house, *CONFIRM)


def test_after_the_commit_of_the_freeze_was_rewritten(house: Path) -> None:
    git(house, "checkout", "-q", "--orphan", "new")
    commit(house, "all at once")
    said = unchanged(house, *CONFIRM)
    assert "its order is unprovable: commit" in said
    assert "rewritten" in said
    freeze(house)
    commit(house, "freeze again")
    assert run(house)


def test_in_a_shallow_clone(house: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", house.as_uri(), "clone")
    assert "git fetch --unshallow" in unchanged(tmp_path / "clone", *CONFIRM)


def test_a_second_attempt_and_a_verification_start(house: Path) -> None:
    first = run(house)
    commit(house, "results")
    assert run(house) == f"{first}-r2"
    (house / "experiments/lab/coin.py").write_text(COIN + "\n# a comment\n")
    done = assay(house, "runs", "verify", first)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_tier_confirmatory_is_of_that_kind(house: Path) -> None:
    source = COIN.replace('kind="confirmatory")', 'kind="pilot")')
    (house / "experiments/lab/coin.py").write_text(source)
    assert "tier 'confirmatory': its configuration is pilot" in refused(house, *CONFIRM)


def test_other_kinds_need_no_freeze_and_no_clean_tree(tmp_path: Path) -> None:
    root = lab(tmp_path / "lab")
    (root / PLAN).unlink()
    assert assay_json(root, "run", "lab.coin", "--tier", "tiny")["status"] == "completed"
