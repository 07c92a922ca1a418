"""Where a run happened: the code's state from real git repositories, the machine's by allowlist."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import RecordError
from assay.runs.provenance import CodeState, code_state, machine, peak_memory_bytes
from tests.unit.runs.completed_run import manifest_of

HOST = platform.node()


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def house(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("A = 1\n")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    (tmp_path / "experiments" / "registry").mkdir(parents=True)
    (tmp_path / "experiments" / "registry" / "runs.jsonl").write_text("{}\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_a_clean_commit(house: Path) -> None:
    assert code_state(house) == CodeState(git(house, "rev-parse", "HEAD"), False, None, ())


def test_outside_of_git_nothing_can_be_told(tmp_path: Path) -> None:
    assert code_state(tmp_path) == CodeState(None, None, None, ())


def test_before_the_first_commit_everything_is_new(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("A = 1\n")
    assert code_state(tmp_path) == CodeState(None, True, None, ("a.py",))
    git(tmp_path, "add", ".")
    state = code_state(tmp_path)
    assert state.dirty is True
    assert state.diff_digest is not None


@pytest.mark.parametrize("staged", [False, True])
def test_a_change_makes_it_dirty_with_the_digest_of_the_difference(house: Path, staged: bool) -> None:
    (house / "a.py").write_text("A = 2\n")
    if staged:
        git(house, "add", ".")
    first = code_state(house)
    assert first.dirty is True
    assert first.untracked == ()
    (house / "a.py").write_text("A = 3\n")
    assert code_state(house).diff_digest not in (None, first.diff_digest)
    (house / "a.py").unlink()
    assert code_state(house).dirty is True


@pytest.mark.parametrize("name", ["b.py", "deep/er/c.toml", "Makefile", "a b\u00e4.py"])
def test_an_untracked_source_file_makes_it_dirty_and_is_named(house: Path, name: str) -> None:
    (house / name).parent.mkdir(parents=True, exist_ok=True)
    (house / name).write_text("x")
    state = code_state(house)
    assert (state.dirty, state.untracked, state.diff_digest) == (True, (name,), None)


@pytest.mark.parametrize(
    "name",
    [
        "experiments/registry/runs.jsonl",
        "experiments/registry/events/x.json",
        "experiments/manifests/x.json",
        "experiments/summaries/x/summary.json",
        "experiments/registered/x.json",
        "experiments/.gitattributes",
        "artifacts/x.json",
        "docs/CLAIM_EVIDENCE.md",
        "ignored.py",
        "notes.txt",
        "paper.pdf",
    ],
)
def test_what_runs_write_and_what_is_no_source_leaves_it_clean(house: Path, name: str) -> None:
    (house / name).parent.mkdir(parents=True, exist_ok=True)
    (house / name).write_text("changed")
    assert code_state(house).dirty is False


def test_the_callers_git_variables_and_settings_do_not_mislead(
    house: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (house / "a.py").write_text("A = 2\n")
    plain = code_state(house)
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert code_state(house) == plain
    monkeypatch.delenv("GIT_DIR")
    for setting in (
        "color.ui=always",
        "diff.noprefix=true",
        "diff.context=9",
        "diff.algorithm=patience",
        "diff.renames=copies",
    ):
        git(house, "config", *setting.split("="))
    assert code_state(house) == plain


def test_a_broken_repository_is_an_error_and_not_a_clean_one(house: Path) -> None:
    (house / ".git" / "index").write_bytes(b"broken")
    with pytest.raises(RecordError, match="git diff failed") as caught:
        code_state(house)
    assert str(house) not in str(caught.value)


def test_git_that_is_not_installed_is_an_error_inside_a_repository(
    house: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path_factory.mktemp("empty")))
    with pytest.raises(RecordError, match="Install git"):
        code_state(house)


def test_the_machine_fills_the_manifest() -> None:
    facts = machine()
    assert manifest_of(**facts).packages["numpy"]
    assert facts["cores"] >= 1
    assert facts["threads"] >= 1
    text = json.dumps(facts)
    assert os.path.expanduser("~") not in text
    assert HOST not in json.loads(text).values()
    assert peak_memory_bytes() > 1_000_000


def test_torch_is_asked_only_where_it_is_loaded() -> None:
    code = (
        "import sys, json; from assay.runs.provenance import machine; facts = machine();"
        "print(json.dumps([facts, 'torch' in sys.modules, 'numpy' in sys.modules]))"
    )
    facts, torch, numpy = json.loads(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    )
    assert not torch
    assert not numpy
    assert facts["accelerator"] is None
    assert facts["determinism"].keys() == {"hash_randomization", "optimize"}


def test_torchs_flags_are_told_when_it_is_loaded() -> None:
    import torch

    facts = machine()
    assert facts["threads"] == torch.get_num_threads()
    assert facts["determinism"]["torch_deterministic_algorithms"] is torch.are_deterministic_algorithms_enabled()
    assert facts["accelerator"] is not None
