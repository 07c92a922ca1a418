"""Which came first, freeze or run: on real repositories, rewritten, cut off, forged and tampered with."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from assay.runs import Record
from assay.runs.freeze import freezes
from assay.runs.order import OrderVerdict
from tests.unit.runs.frozen_repository import (
    PLAN,
    TEXT,
    Settings,
    commit,
    copy,
    freeze,
    git,
    neighbour,
    order,
    run,
    run_unrefused,
    take_freeze,
)

PROVEN, WITNESSED, UNPROVABLE, VIOLATED = OrderVerdict


@pytest.fixture
def house(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished study, to do things to."""
    return copy(finished, tmp_path / "lab")


def the_run(root: Path) -> str:
    (run_id,) = Record(root / "experiments").attempts()
    return run_id


def label(root: Path, place: int = -1) -> str:
    return freezes(Record(root / "experiments"), "lab")[place].label


# -- proven ----------------------------------------------------------------------------------------------------------


def test_a_linear_history_proves_the_order(finished: Path) -> None:
    found = order(finished, the_run(finished))
    plan, held = git(finished, "rev-parse", "HEAD~2", "HEAD~1").split()
    assert found.verdict is PROVEN
    assert found.freeze == label(finished)
    assert (
        found.reason == f"commit {held[:7]} of the run holds freeze {label(finished)}, made on its ancestor {plan[:7]}"
    )


def test_the_order_is_proven_before_the_results_are_committed(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    assert order(root, run(root)).verdict is PROVEN


def test_code_that_changed_after_the_freeze_is_said(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    source = root / "experiments/lab/coin.py"
    source.write_text(source.read_text().replace("* 7", "* 8"))
    commit(root, "another factor")
    found = order(root, run(root))
    assert found.verdict is PROVEN
    assert found.reason.endswith("; the code changed in between")
    assert found.doubt == f"the code changed between freeze {label(root)} and the run"


def test_a_merge_keeps_the_proof(house: Path) -> None:
    git(house, "checkout", "-q", "-b", "side", "HEAD~2")
    (house / "notes.md").write_text("notes")
    commit(house, "notes")
    git(house, "merge", "-q", "--no-edit", "main")
    assert order(house, the_run(house)).verdict is PROVEN


@pytest.mark.parametrize("dates", [("2031-01-01T00:00Z", "1999-01-01T00:00Z"), ("1999-01-01T00:00Z",) * 2])
def test_forged_dates_change_nothing(planned: Path, tmp_path: Path, dates: tuple[str, str]) -> None:
    root = copy(planned, tmp_path / "lab")
    freeze(root)
    commit(root, "freeze", date=dates[0])
    run_id = run(root)
    commit(root, "results", date=dates[1])
    assert order(root, run_id).verdict is PROVEN


# -- history that is gone --------------------------------------------------------------------------------------------


def squashed(house: Path) -> None:
    git(house, "branch", "work")
    git(house, "reset", "-q", "--hard", "HEAD~2")
    git(house, "merge", "-q", "--squash", "work")
    commit(house, "all at once")


def test_a_squash_is_unprovable_here_and_in_a_clone(house: Path, tmp_path: Path) -> None:
    squashed(house)
    found = order(house, the_run(house))
    assert found.verdict is UNPROVABLE
    assert "not in the history of HEAD or of a tag: its history was rewritten (squash, rebase, amend)" in found.reason
    git(house, "branch", "-D", "work")
    git(tmp_path, "clone", "-q", "--no-local", str(house), "clone")
    found = order(tmp_path / "clone", the_run(house))
    assert found.verdict is UNPROVABLE
    assert "is not in this repository: its history was rewritten" in found.reason


def test_a_tag_that_keeps_the_commits_witnesses_a_squash(house: Path, tmp_path: Path) -> None:
    git(house, "tag", "frozen-and-run", "HEAD")
    squashed(house)
    git(tmp_path, "clone", "-q", "--no-local", "-b", "main", str(house), "clone")
    for root in (house, tmp_path / "clone"):
        found = order(root, the_run(house))
        assert found.verdict is WITNESSED
        assert found.reason.startswith("tag frozen-and-run keeps it, HEAD does not: commit ")


def test_a_tag_before_the_run_does_not_keep_the_run(house: Path) -> None:
    git(house, "tag", "plan", "HEAD~2")
    squashed(house)
    assert order(house, the_run(house)).verdict is UNPROVABLE


def test_a_rebase_is_unprovable(house: Path) -> None:
    git(house, "checkout", "-q", "-b", "other", "HEAD~2")
    (house / "notes.md").write_text("notes")
    commit(house, "notes")
    git(house, "checkout", "-q", "main")
    git(house, "rebase", "-q", "other")
    assert git(house, "rev-list", "--count", "HEAD") == "4"
    found = order(house, the_run(house))
    assert found.verdict is UNPROVABLE
    assert "rewritten" in found.reason


@pytest.mark.parametrize("depth", [1, 2])
def test_a_shallow_clone_is_unprovable_until_it_is_whole(house: Path, tmp_path: Path, depth: int) -> None:
    git(tmp_path, "clone", "-q", "--depth", str(depth), house.as_uri(), "clone")
    clone = tmp_path / "clone"
    found = order(clone, the_run(house))
    assert found.verdict is UNPROVABLE
    assert "shallow clone (git fetch --unshallow)" in found.reason
    git(clone, "fetch", "-q", "--unshallow")
    assert order(clone, the_run(house)).verdict is PROVEN


def test_replaced_and_grafted_commits_do_not_count(planned: Path, frozen: Path, tmp_path: Path) -> None:
    root = copy(planned, tmp_path / "lab")
    run_id = run_unrefused(root)
    commit(root, "results")
    start = git(root, "rev-parse", "HEAD~1")
    take_freeze(root, frozen)
    late = commit(root, "freeze")
    assert order(root, run_id).verdict is VIOLATED
    git(root, "replace", start, late)
    assert order(root, run_id).verdict is VIOLATED
    git(root, "replace", "-d", start)
    (root / ".git/info/grafts").write_text(f"{start} {late}\n")
    assert order(root, run_id).verdict is VIOLATED


def test_without_git_nothing_is_proven(house: Path) -> None:
    run_id = the_run(house)
    (house / ".git").rename(house / "no-git")
    assert order(house, run_id).verdict is UNPROVABLE


# -- the other order -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("date", ["", "1999-01-01T00:00Z"])
def test_a_freeze_after_the_results_is_a_violation_whatever_the_dates(
    planned: Path, frozen: Path, tmp_path: Path, date: str
) -> None:
    root = copy(planned, tmp_path / "lab")
    run_id = run_unrefused(root)
    commit(root, "results", date="2031-01-01T00:00Z" if date else "")
    take_freeze(root, frozen)
    found = order(root, run_id)
    assert (found.verdict, found.freeze) == (VIOLATED, label(root))
    assert found.reason.startswith("results before the freeze: the run is committed, freeze 1-")
    made = commit(root, "freeze", date=date)
    found = order(root, run_id)
    assert found.verdict is VIOLATED
    assert found.reason.startswith(
        f"freeze after the run: {made[:7]}, which made freeze {label(root)}, came after commit"
    )


def test_a_run_that_was_never_frozen_is_a_violation(planned: Path, tmp_path: Path) -> None:
    root = copy(planned, tmp_path / "lab")
    found = order(root, run_unrefused(root))
    assert (found.verdict, found.freeze) == (VIOLATED, "")
    assert found.reason == "lab was never frozen, and the run is here"


def test_nothing_committed_shows_no_order(planned: Path, frozen: Path, tmp_path: Path) -> None:
    root = copy(planned, tmp_path / "lab")
    run_id = run_unrefused(root)
    take_freeze(root, frozen)
    assert order(root, run_id).verdict is UNPROVABLE


def test_parallel_branches_show_no_order(planned: Path, frozen: Path, tmp_path: Path) -> None:
    root = copy(planned, tmp_path / "lab")
    git(root, "checkout", "-q", "-b", "run")
    (root / "notes.md").write_text("notes")
    commit(root, "notes")
    run_id = run_unrefused(root)
    commit(root, "results")
    git(root, "fetch", "-q", str(frozen), "main")
    git(root, "merge", "-q", "--no-edit", "-X", "ours", "FETCH_HEAD")
    found = order(root, run_id)
    assert found.verdict is UNPROVABLE
    assert "are on parallel branches" in found.reason


def test_the_same_seed_in_an_exploratory_run_before_is_a_violation(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    peek = run(root, "--tier", "tiny", "--set", "seed=90")
    commit(root, "a look at it")
    found = order(root, run_unrefused(root))
    assert found.verdict is VIOLATED
    assert found.reason == f"results before the freeze: seed = 90 was used by the exploratory run {peek} (as seed)"


def test_the_same_items_in_an_exploratory_run_of_another_study_before_are_a_violation(
    frozen: Path, tmp_path: Path
) -> None:
    root = copy(frozen, tmp_path / "lab")
    peek = neighbour(root, "part=confirm")
    found = order(root, run_unrefused(root))
    assert found.verdict is VIOLATED
    assert f"results before the freeze: data 'items confirm' was used by the exploratory run {peek}" in found.reason


def test_the_same_seed_in_another_study_on_other_data_keeps_the_proof(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    neighbour(root, "seed=90", weights="others")
    assert order(root, run_unrefused(root)).verdict is PROVEN


def test_a_run_before_whose_manifest_was_removed_leaves_the_order_open(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    peek = run(root, "--tier", "tiny", "--set", "seed=90")
    commit(root, "a look at it")
    git(root, "rm", "-q", f"experiments/manifests/{peek}.json")
    held = commit(root, "never seen")
    found = order(root, run_unrefused(root))
    assert found.verdict is UNPROVABLE
    assert f"run {peek}: its manifest experiments/manifests/{peek}.json is missing in commit {held[:7]}" in found.reason


def test_an_exploratory_run_afterwards_changes_nothing(house: Path) -> None:
    run_id = the_run(house)
    run(house, "--tier", "tiny", "--set", "seed=90")
    commit(house, "a look at it")
    assert order(house, run_id).verdict is PROVEN


def test_another_configuration_than_the_frozen_one_is_a_violation(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    found = order(root, run_unrefused(root, settings=Settings(seed=91)))
    assert (found.verdict, found.freeze) == (VIOLATED, label(root))
    assert "does not hold the configuration of the run (lab.coin, version 1, " in found.reason
    assert "; seed is 91, frozen as " in found.reason


def test_a_run_from_a_dirty_tree_is_unprovable(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    (root / "extra.py").write_text("X = 1\n")
    assert "on a dirty tree" in order(root, run_unrefused(root)).reason


# -- several freezes -------------------------------------------------------------------------------------------------


def refrozen(root: Path, *options: str) -> None:
    (root / PLAN).write_text(TEXT + "\nA second thought.\n")
    commit(root, "second thought")
    freeze(root, *options)
    commit(root, "second freeze")


def test_the_last_freeze_before_the_run_counts(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    refrozen(root)
    found = order(root, run(root))
    assert (found.verdict, found.freeze) == (PROVEN, label(root))
    assert found.freeze.startswith("2-")


def test_a_later_freeze_does_not_count_for_an_earlier_run(house: Path) -> None:
    run_id, first = the_run(house), label(house)
    fresh = ("--tier", "confirmatory", "--set", "seed=91", "--set", "part=fresh")
    refrozen(house, *fresh)
    found = order(house, run_id)
    assert (found.verdict, found.freeze) == (PROVEN, first)
    again = run(house, *fresh)
    assert order(house, again).freeze.startswith("2-")
    assert order(house, again).verdict is PROVEN


def test_a_second_freeze_of_what_has_been_seen_is_a_violation(house: Path, frozen: Path, tmp_path: Path) -> None:
    aside = copy(frozen, tmp_path / "aside")
    refrozen(aside)
    run_id = the_run(house)
    (house / PLAN).write_text(TEXT + "\nA second thought.\n")
    commit(house, "second thought")
    event = forged_freeze(house, aside, on=git(house, "rev-parse", "HEAD"))
    commit(house, "second freeze")
    found = order(house, run_unrefused(house))
    assert found.verdict is VIOLATED
    assert found.freeze.startswith("2-")
    assert f"was used by the confirmatory run {run_id}" in found.reason
    assert event.exists()


def forged_freeze(root: Path, other: Path, *, on: str) -> Path:
    """The last freeze of ``other`` as if it had been made on the commit ``on`` of ``root``."""
    last = freezes(Record(other / "experiments"), "lab")[-1]
    (root / last.copy).write_bytes((other / last.copy).read_bytes())
    return Record(root / "experiments").append("frozen", "lab", **{**last.payload(), "commit": on})


def test_results_on_a_parallel_branch_of_the_second_freeze_leave_it_open(
    house: Path, frozen: Path, tmp_path: Path
) -> None:
    aside = copy(frozen, tmp_path / "aside")
    refrozen(aside)
    git(house, "fetch", "-q", str(aside), "main")
    git(house, "merge", "-q", "--no-edit", "-X", "theirs", "FETCH_HEAD")
    found = order(house, run_unrefused(house))
    assert found.verdict is UNPROVABLE
    assert "did not start under freeze 2-" in found.reason


def test_two_freezes_of_one_number_are_ambiguous(planned: Path, frozen: Path, tmp_path: Path) -> None:
    root = copy(planned, tmp_path / "lab")
    (root / PLAN).write_text(TEXT + "\nA second thought.\n")
    commit(root, "second thought")
    freeze(root)
    commit(root, "freeze")
    git(root, "fetch", "-q", str(frozen), "main")
    git(root, "merge", "-q", "--no-edit", "-X", "ours", "FETCH_HEAD")
    found = order(root, run_unrefused(root))
    assert found.verdict is UNPROVABLE
    assert found.reason.endswith("made on parallel branches: which one counts?")


# -- tampering -------------------------------------------------------------------------------------------------------


def frozen_copy(root: Path) -> Path:
    return root / freezes(Record(root / "experiments"), "lab")[-1].copy


def the_event(root: Path) -> Path:
    return root / freezes(Record(root / "experiments"), "lab")[-1].event_path


@pytest.mark.parametrize("committed", [False, True])
def test_an_edited_copy_is_a_violation_until_it_is_restored(house: Path, committed: bool) -> None:
    path = frozen_copy(house)
    path.write_text(path.read_text().replace("40", "30"))
    if committed:
        commit(house, "edit")
    found = order(house, the_run(house))
    assert found.verdict is VIOLATED
    assert "was edited after the freeze (git checkout" in found.reason
    assert [one.kind for one in Record(house / "experiments").doctor()] == ["freeze"]
    git(house, *found.reason.rpartition("(")[2].removesuffix(")").split()[1:])
    assert order(house, the_run(house)).verdict is PROVEN
    assert Record(house / "experiments").doctor() == []


def test_a_copy_that_was_edited_before_the_run_is_a_violation(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    frozen_copy(root).write_text("We always meant something else.\n")
    commit(root, "edit")
    assert "was edited before the run" in order(root, run_unrefused(root)).reason


@pytest.mark.parametrize("committed", [False, True])
def test_a_deleted_event_is_unprovable_until_it_is_restored(house: Path, committed: bool) -> None:
    run_id = the_run(house)
    the_event(house).unlink()
    if committed:
        commit(house, "never mind")
    found = order(house, run_id)
    assert found.verdict is UNPROVABLE
    assert "is no longer there (git checkout" in found.reason
    git(house, *found.reason.rpartition("(")[2].removesuffix(")").split()[1:])
    assert order(house, run_id).verdict is PROVEN


def test_a_deleted_copy_is_unprovable(house: Path) -> None:
    frozen_copy(house).unlink()
    found = order(house, the_run(house))
    assert found.verdict is UNPROVABLE
    assert "is no longer there" in found.reason


def test_a_freeze_that_was_removed_before_the_next_is_noticed(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    the_event(root).unlink()
    commit(root, "never mind")
    refrozen(root)
    assert label(root).startswith("1-")
    found = order(root, run_unrefused(root))
    assert found.verdict is UNPROVABLE
    assert "was removed before the run: which freeze counts cannot be told" in found.reason


def test_a_freeze_that_was_removed_before_the_run_is_noticed(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    event, data = the_event(root), the_event(root).read_bytes()
    event.unlink()
    commit(root, "never mind")
    run_id = run_unrefused(root)
    commit(root, "results")
    event.write_bytes(data)
    commit(root, "it was always here")
    found = order(root, run_id)
    assert found.verdict is UNPROVABLE
    assert "was removed before commit" in found.reason


def test_a_freeze_that_is_gone_altogether_is_not_taken_for_none(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    the_event(root).unlink()
    commit(root, "never mind")
    found = order(root, run_unrefused(root))
    assert found.verdict is UNPROVABLE
    assert found.reason.endswith("was removed from the record")


def test_a_freeze_that_a_merge_dropped_is_noticed(frozen: Path, tmp_path: Path) -> None:
    root = copy(frozen, tmp_path / "lab")
    git(root, "checkout", "-q", "-b", "side", "HEAD~1")
    (root / "notes.md").write_text("notes")
    commit(root, "notes")
    git(root, "merge", "-q", "--no-edit", "-s", "ours", "main")
    found = order(root, run_unrefused(root))
    assert found.verdict is UNPROVABLE
    assert found.reason.endswith("was removed from the record")


def test_an_edited_event_is_unprovable(house: Path) -> None:
    event = the_event(house)
    event.write_text(event.read_text().replace('"number": 1', '"number": 0'))
    found = order(house, the_run(house))
    assert found.verdict is UNPROVABLE
    assert f"{event.name} is damaged" in found.reason


def test_a_freeze_on_a_commit_that_lacks_the_text_is_unprovable(planned: Path, frozen: Path, tmp_path: Path) -> None:
    root = copy(planned, tmp_path / "lab")
    (root / PLAN).write_text("another plan\n")
    (root / "experiments/lab/frozen").mkdir()
    forged_freeze(root, frozen, on=commit(root, "another plan"))
    commit(root, "freeze")
    found = order(root, run_unrefused(root))
    assert found.verdict is UNPROVABLE
    assert f"does not hold {PLAN} as freeze 1-" in found.reason


def test_git_is_the_one_that_is_asked(house: Path) -> None:
    """The twin of the shallow test: git itself says that the freeze's commit is an ancestor of the run's."""
    made_on = freezes(Record(house / "experiments"), "lab")[-1].commit
    started_from = Record(house / "experiments").manifest(the_run(house)).commit or ""
    command = ["git", "merge-base", "--is-ancestor", made_on, started_from]
    assert subprocess.run(command, cwd=house, check=False).returncode == 0
    assert subprocess.run([*command[:3], started_from, made_on], cwd=house, check=False).returncode == 1
