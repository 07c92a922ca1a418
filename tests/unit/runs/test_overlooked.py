"""A run is clean only if its commit holds every module that it uses, whatever git was told to show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.runs.overlooked import code_state_of, overlooked, to_commit
from assay.runs.provenance import code_state
from tests.unit.runs.frozen_repository import COIN, commit, copy, freeze, git, lab, refused
from tests.unit.runs.toy_repository import assay, write

MODULES = ("a", "lib.b", "absent")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    root = tmp_path / "house"
    write(root, {"a.py": "A = 1\n", "lib/b.py": "B = 1\n", ".gitignore": "secret.py\n"})
    git(root, "init", "-q")
    commit(root)
    return root


def ignored(root: Path) -> str:
    write(root, {".gitignore": "secret.py\nlib/b.py\n"})
    git(root, "rm", "-q", "--cached", "lib/b.py")
    commit(root)
    return "git add -f FILE"


def assume_unchanged(root: Path) -> str:
    git(root, "update-index", "--assume-unchanged", "lib/b.py")
    return edited(root, "--no-assume-unchanged FILE")


def skip_worktree(root: Path) -> str:
    git(root, "update-index", "--skip-worktree", "lib/b.py")
    return edited(root, "--no-skip-worktree FILE")


def edited(root: Path, advice: str) -> str:
    (root / "lib/b.py").write_text("B = 2\n")
    return advice


def link_to_elsewhere(root: Path) -> str:
    (root / "lib/b.py").unlink()
    (root.parent / "elsewhere.py").write_text("B = 1\n")
    (root / "lib/b.py").symlink_to("../../elsewhere.py")
    commit(root)
    return "lib/b.py"


@pytest.mark.parametrize("hide", [ignored, assume_unchanged, skip_worktree, link_to_elsewhere])
def test_code_that_the_commit_does_not_hold_makes_it_dirty_and_is_named(
    house: Path, hide: Callable[[Path], str]
) -> None:
    advice = hide(house)
    assert code_state(house).dirty is False
    state = code_state_of(MODULES, house)
    assert (state.dirty, state.untracked, state.diff_digest) == (True, ("lib/b.py",), None)
    assert "Commit first what git does not show: lib/b.py (" in to_commit(MODULES, house)
    assert advice in to_commit(MODULES, house)
    assert code_state_of(["a"], house).dirty is False


def test_what_the_commit_holds_and_what_git_shows_is_not_overlooked(house: Path) -> None:
    assert code_state_of(MODULES, house) == code_state(house)
    for name in ("assume-unchanged", "skip-worktree"):
        git(house, "update-index", f"--{name}", "a.py")
    (house / "a.py").touch()
    write(house, {"secret.py": "KEY = 1\n", "new.py": "N = 1\n", "lib/b.py": "B = 3\n"})
    assert overlooked(MODULES, house) == ()
    state = code_state_of([*MODULES, "new"], house)
    assert state == code_state(house)
    assert state.untracked == ("new.py",)
    assert to_commit([*MODULES, "new"], house) == "Commit first"


def test_of_a_run_that_began_clean_a_change_since_counts_though_git_shows_it(house: Path) -> None:
    begun = code_state(house).commit
    assert overlooked(MODULES, house, since=begun) == ()
    write(house, {"lib/b.py": "B = 3\n"})
    assert overlooked(MODULES, house) == ()
    assert overlooked(MODULES, house, since=begun) == ("lib/b.py",)
    commit(house)
    assert overlooked(MODULES, house, since=begun) == ("lib/b.py",)
    assert overlooked(MODULES, house, since=code_state(house).commit) == ()


def test_outside_of_git_and_before_the_first_commit(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "A = 1\n", ".gitignore": "a.py\n"})
    assert code_state_of(["a"], tmp_path) == code_state(tmp_path)
    git(tmp_path, "init", "-q")
    assert code_state_of(["a"], tmp_path) == code_state(tmp_path)


@pytest.mark.parametrize("stored", [b"A = 1\n", b"A = 1\r\n"])
def test_line_ends_that_git_converts_are_no_difference(house: Path, stored: bytes) -> None:
    git(house, "config", "core.autocrlf", "false")
    (house / "a.py").write_bytes(stored)
    commit(house)
    git(house, "config", "core.autocrlf", "true")
    (house / "a.py").write_bytes(b"A = 1\r\n")
    assert code_state_of(MODULES, house).dirty is False


def test_a_submodule_holds_its_own_files_and_a_subfolder_may_be_the_repository(house: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    write(outer, {"paper/c.py": "C = 1\n", "paper/.gitignore": "d.py\n", "paper/d.py": "D = 1\n"})
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(house), "paper/part")
    commit(outer)
    (outer / "paper/part/secret.py").write_text("KEY = 1\n")
    modules = ("c", "part.a", "part.lib.b")
    assert code_state_of(modules, outer / "paper").dirty is False
    assert code_state_of([*modules, "d", "part.secret"], outer / "paper").untracked == ("d.py", "part/secret.py")


STATIC = "from experiments.lab.weights import WEIGHT\n"
COMPUTED = "import importlib\nWEIGHT = importlib.import_module('experiments.lab.' + 'weights').WEIGHT\n"


@pytest.mark.parametrize("how", [STATIC, COMPUTED])
def test_such_a_run_is_dirty_and_neither_registered_nor_frozen_nor_confirmatory(how: str, tmp_path: Path) -> None:
    root = lab(tmp_path / "lab")
    coin = COIN.replace("from assay.runs", how + "from assay.runs")
    write(root, {"experiments/lab/coin.py": coin, "experiments/lab/weights.py": "WEIGHT = 1\n"})
    commit(root)
    other = copy(root, tmp_path / "other")
    freeze(other)
    commit(other)
    for place in (root, other):
        git(place, "update-index", "--assume-unchanged", "experiments/lab/weights.py")
        (place / "experiments/lab/weights.py").write_text("WEIGHT = 2\n")
    hidden = "Commit first what git does not show: experiments/lab/weights.py"
    assert hidden in refused(root, "freeze", "lab")
    assert hidden in refused(root, "run", "lab.coin", "--tier", "tiny", "--register", "why")
    assert hidden in refused(other, "run", "lab.coin", "--tier", "confirmatory")
    assert not list(root.glob("experiments/manifests/*"))
    assert assay(root, "run", "lab.coin", "--tier", "tiny").returncode == 0
    (path,) = root.glob("experiments/manifests/*.json")
    assert '"experiments/lab/weights.py"' in path.read_text()
    assert "dirty tree" in refused(root, "runs", "register", path.stem, "--why", "x")
