"""``assay freeze``: what it writes, and what it refuses to freeze."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path

import pytest

from assay.runs import Record
from assay.runs.freeze import freezes
from tests.unit.runs.frozen_repository import COIN, PLAN, TEXT, commit, copy, freeze, git, neighbour, refused, run
from tests.unit.runs.toy_repository import assay, assay_json, start

FREEZE = ("freeze", "lab", "--shared", "weights")


@pytest.fixture
def house(planned: Path, tmp_path: Path) -> Path:
    return copy(planned, tmp_path / "lab")


def everything(root: Path) -> dict[str, bytes]:
    found = [path for path in (root / "experiments").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def not_frozen(root: Path, *words: str, env: dict[str, str] | None = None) -> str:
    before = everything(root)
    said = refused(root, *words, env=env or {})
    assert everything(root) == before
    assert "Traceback" not in said
    return said


def test_what_a_freeze_writes(house: Path) -> None:
    before = set(everything(house))
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    done = assay(house, *FREEZE)
    assert done.returncode == 0, done.stderr
    (event,) = (house / "experiments/registry/events").iterdir()
    copied = f"experiments/lab/frozen/1-{digest[:12]}.md"
    new = {copied, "experiments/lab/frozen/.gitattributes", event.relative_to(house).as_posix()}
    assert set(everything(house)) - before - {"experiments/.gitattributes", "experiments/registry/runs.jsonl"} == new
    assert (house / copied).read_text() == TEXT
    table = json.loads(event.read_text())
    assert (table["event"], table["run_id"]) == ("frozen", "lab")
    assert table["payload"]["sha256"] == digest
    assert table["payload"]["commit"] == git(house, "rev-parse", "HEAD")
    (configuration,) = table["payload"]["configurations"]
    assert configuration["config"] == {"seed": 90, "part": "confirm", "kind": "confirmatory"}
    assert (configuration["experiment"], configuration["version"], configuration["tag"]) == (
        "lab.coin",
        1,
        "confirmatory",
    )
    assert configuration["seeds"] == {"seed": 90}
    assert set(configuration["data"]) == {"weights", "items confirm"}
    assert f"froze lab as 1-{digest[:12]}: {copied}" in done.stdout
    assert 'git add experiments && git commit -m "Freeze lab"' in done.stdout
    record = Record(house / "experiments")
    assert record.attempts() == ()
    assert record.index_is_current()
    assert record.doctor() == []


def test_the_run_has_the_id_that_was_frozen(house: Path) -> None:
    freeze(house)
    commit(house, "freeze")
    (configuration,) = freezes(Record(house / "experiments"), "lab")[0].configurations
    assert run(house) == f"lab.coin_confirmatory_{configuration.config_hash[:12]}"


def test_a_configuration_may_be_set_as_the_run_will_be(house: Path) -> None:
    chosen = ("--tier", "tiny", "--set", "kind=confirmatory", "--set", "seed=5")
    assert [one["config"]["seed"] for one in freeze(house, *chosen)["configurations"]] == [5]
    commit(house, "freeze")
    assert run(house, *chosen).startswith("lab.coin_tiny_")
    assert "does not hold the configuration" in refused(house, "run", "lab.coin", "--tier", "confirmatory")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("freeze",), "name the study"),
        (("freeze", "labb"), "No experiment 'labb'"),
        (("freeze", "lab.coin"), "a study is frozen as a whole. Name the study: lab."),
        (
            ("freeze", "lab", "--shared", "wights"),
            "'wights' names no seed and no data set. Known: items confirm, seed, weights.",
        ),
        (("freeze", "lab", "--shared", "*"), "lab.coin, confirmatory, has no seed and no data set of its own"),
        (("freeze", "lab", "--tier", "tiny"), "none of its configurations is confirmatory"),
        (("freeze", "lab", "--set", "seed=3"), "choose a tier with --tier: tiny, confirmatory"),
        (("freeze", "lab", "--status", "--shared", "weights"), "exclude each other"),
        (("freeze", "lab", "--stamp", ".gitignore"), "exclude each other"),
        (("freeze", "lab", "--stamp", ".gitignore", "--certificates", ".gitignore"), "there is nothing to stamp"),
        (("freeze", "--status", "labb"), "There is no study 'labb' in experiments/. Did you mean 'lab'?"),
    ],
)
def test_what_is_asked_wrongly_freezes_nothing(planned: Path, words: tuple[str, ...], said: str) -> None:
    assert said in not_frozen(planned, *words)


def test_a_text_that_is_missing_empty_or_not_committed(house: Path) -> None:
    (house / PLAN).unlink()
    assert f"there is no {PLAN}" in not_frozen(house, *FREEZE)
    (house / PLAN).write_text(" \n")
    assert "is empty" in not_frozen(house, *FREEZE)
    git(house, "rm", "-q", "--cached", PLAN)
    commit(house, "empty")
    git(house, "rm", "-q", "-f", PLAN)
    commit(house, "none")
    (house / PLAN).write_text(TEXT)
    assert "is not committed as it is" in not_frozen(house, *FREEZE)
    git(house, "add", PLAN)
    assert f"the tree is dirty ({PLAN})" in not_frozen(house, *FREEZE)


def test_a_dirty_tree_is_named(house: Path) -> None:
    (house / "new.py").write_text("X = 1\n")
    assert "the tree is dirty (new.py (untracked))" in not_frozen(house, *FREEZE)


def test_without_git_or_a_commit_it_says_what_came_and_what_to_do(house: Path) -> None:
    first = 'git add -A && git commit -m "Plan of lab"; then freeze again. Nothing was frozen.'
    (house / "bin").mkdir()
    without = {"PATH": str(house / "bin")}
    said = [not_frozen(house, *FREEZE, env=without)]
    (house / ".git").rename(house.parent / "git")
    said += [not_frozen(house, *FREEZE), not_frozen(house, *FREEZE, env=without)]
    git(house, "init", "-q")
    said += [not_frozen(house, *FREEZE), not_frozen(house, *FREEZE, env=without)]
    assert all(line.startswith("assay: freeze lab: ") for line in said)
    assert all("commits alone show which came first, the plan or the run" in line for line in said)
    for line in (said[0], said[2], said[4]):
        assert "git is not installed here" in line
        assert "Install git and commit the plan" in line
    assert "the folder lab is not kept by git" in said[1]
    assert f"Begin with: git init && {first}" in said[1]
    assert "the git repository lab has no commit yet" in said[3]
    assert f"Make the first: {first}" in said[3]


@pytest.mark.parametrize(
    ("assignment", "what"), [("seed=90", "seed = 90 was used"), ("part=confirm", "data 'items confirm' was used")]
)
def test_what_a_run_has_seen_cannot_be_frozen(house: Path, assignment: str, what: str) -> None:
    peek = run(house, "--tier", "tiny", "--set", assignment)
    said = not_frozen(house, *FREEZE)
    assert f"{what} by the exploratory run {peek}" in said
    assert "Results came before the freeze" in said


def test_what_another_study_has_seen_cannot_be_frozen(house: Path) -> None:
    peek = neighbour(house, "part=confirm")
    said = not_frozen(house, *FREEZE)
    assert f"data 'items confirm' was used by the exploratory run {peek}" in said


def test_a_run_whose_manifest_was_removed_refuses_the_freeze_until_it_is_restored(house: Path) -> None:
    peek = run(house, "--tier", "tiny", "--set", "seed=90")
    commit(house, "a look at it")
    manifest = f"experiments/manifests/{peek}.json"
    git(house, "rm", "-q", manifest)
    commit(house, "never seen")
    said = not_frozen(house, *FREEZE)
    assert f"run {peek}: its manifest {manifest} is missing" in said
    assert "nobody can tell which seeds and data it used" in said
    restore = said[said.index("git checkout $(") :].strip()
    subprocess.run(["bash", "-c", restore], cwd=house, check=True)
    commit(house, "restored")
    assert f"seed = 90 was used by the exploratory run {peek}" in not_frozen(house, *FREEZE)


def test_without_shared_names_the_same_weights_are_not_fresh(house: Path) -> None:
    run(house, "--tier", "tiny")
    assert "data 'weights' was used by the exploratory run" in not_frozen(house, "freeze", "lab")
    assert freeze(house, shared="wei*")["shared"] == ["wei*"]


def test_confirmatory_results_cannot_be_frozen_again(house: Path) -> None:
    freeze(house)
    commit(house, "freeze")
    first = run(house)
    commit(house, "results")
    (house / PLAN).write_text(TEXT + "And tails.\n")
    commit(house, "second thought")
    assert f"seed = 90 was used by the confirmatory run {first}" in not_frozen(house, *FREEZE)


def test_the_same_freeze_twice_is_refused_and_another_is_the_second(house: Path) -> None:
    freeze(house)
    assert "says the same already" in not_frozen(house, *FREEZE)
    commit(house, "freeze")
    assert "says the same already" in not_frozen(house, *FREEZE)
    (house / PLAN).write_text(TEXT + "And tails.\n")
    commit(house, "second thought")
    assert str(freeze(house)["freeze"]).startswith("2-")
    (house / "experiments/lab/coin.py").write_text(COIN.replace("* 7", "* 8"))
    commit(house, "other code")
    assert str(freeze(house)["freeze"]).startswith("3-")


def test_two_freezes_at_once_make_one(house: Path) -> None:
    both = [start(house, *FREEZE) for _ in range(2)]
    said = [process.communicate(timeout=60)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1]
    assert "says the same already" in "".join(said)
    assert len(freezes(Record(house / "experiments"), "lab")) == 1


def test_line_ends_of_the_copy_are_kept_by_git(house: Path, tmp_path: Path) -> None:
    freeze(house)
    commit(house, "freeze")
    subprocess.run(
        ["git", "-c", "core.autocrlf=true", "clone", "-q", "--no-local", str(house), "clone"], cwd=tmp_path, check=True
    )
    (made,) = (tmp_path / "clone/experiments/lab/frozen").glob("*.md")
    assert made.read_bytes() == TEXT.encode()
    assert b"\r\n" in (tmp_path / "clone" / PLAN).read_bytes()


def test_status_names_every_freeze_and_run(house: Path) -> None:
    empty = assay(house, "freeze", "--status")
    assert (empty.returncode, empty.stdout) == (0, "")
    assert "No study: is frozen, no confirmatory run." in empty.stderr
    freeze(house)
    commit(house, "freeze")
    run_id = run(house)
    (house / PLAN).write_text("changed")
    found = assay_json(house, "freeze", "lab", "--status")
    assert [one["stands"] for one in found["freezes"]] == ["in force, PREREGISTRATION.md changed since"]
    assert [(line["run_id"], line["order"]) for line in found["runs"]] == [(run_id, "proven")]
    assert assay_json(house, "runs", "show", run_id)["order"].startswith("proven: commit ")
    shown = assay(house, "freeze", "--status").stdout
    assert run_id in shown
    assert "proven" in shown
    (made,) = (house / "experiments/lab/frozen").glob("*.md")
    made.write_text("changed")
    bad = assay(house, "freeze", "--status")
    assert bad.returncode == 1
    assert "copy edited (git checkout -- experiments/lab/frozen/1-" in bad.stdout
    assert "violated" in bad.stdout
    assert "order" not in assay_json(house, "runs", "show", run(house, "--tier", "tiny"))
