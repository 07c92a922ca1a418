"""What commits hold, and which came first, asked of repositories made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import RecordError
from assay.runs.history import History
from tests.unit.runs.frozen_repository import commit, git


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A repository in a folder of a larger one: two commits, of which the second removes a file."""
    git(tmp_path, "init", "-q", "-b", "main")
    root = tmp_path / "inner"
    (root / "a b").mkdir(parents=True)
    (root / "a b/\u00e4.md").write_text("text")
    (root / "gone.md").write_text("soon")
    commit(root, "first")
    (root / "gone.md").unlink()
    commit(root, "second")
    git(root, "config", "log.showSignature", "true")
    return root


def test_paths_are_of_the_repository_and_not_of_what_is_around_it(house: Path) -> None:
    history = History(house)
    first, second = git(house, "rev-parse", "HEAD~1", "HEAD").split()
    assert history.head == second
    assert history.files(first, "a b") == ["a b/\u00e4.md"]
    assert history.files(second, "nowhere") == []
    assert history.content(first, "a b/\u00e4.md") == b"text"
    assert history.content(second, "gone.md") is None
    assert history.contents(first, ["gone.md", "a b/\u00e4.md"]) == [b"soon", b"text"]
    with pytest.raises(RecordError, match="does not hold the file gone"):
        history.contents(second, ["a b/\u00e4.md", "gone.md"])
    assert history.contents(first, []) == []
    assert history.removed(second, "*.md") == ["gone.md"]
    assert history.removed(first, "*.md") == []
    assert history.added_in(second, "gone.md") == first
    assert history.added_in(second, "never.md") is None


def test_order_and_tags(house: Path) -> None:
    history = History(house)
    first, second = git(house, "rev-parse", "HEAD~1", "HEAD").split()
    assert history.leads_to(first, second)
    assert history.leads_to(first, first)
    assert not history.leads_to(second, first)
    git(house, "tag", "one", first)
    git(house, "tag", "-m", "with words", "two", second)
    assert history.tags_after(first) == ["one", "two"]
    assert history.tags_after(second) == ["two"]
    assert not history.shallow


@pytest.mark.parametrize("word", [None, "", "HEAD", "main", "--all", "0" * 40, "1234567"])
def test_only_a_whole_commit_that_is_here_is_known(house: Path, word: str | None) -> None:
    assert not History(house).has(word)


def test_a_tree_or_file_is_no_commit(house: Path) -> None:
    assert not History(house).has(git(house, "rev-parse", "HEAD^{tree}"))
    assert History(house).has(git(house, "rev-parse", "HEAD"))


def test_before_the_first_commit_and_outside_of_git(tmp_path: Path) -> None:
    assert History(tmp_path).head is None
    git(tmp_path, "init", "-q")
    assert History(tmp_path).head is None
    assert not History(tmp_path).has("0" * 40)
