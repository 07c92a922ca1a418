"""Data files are named relative to the repository and known by their bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ConfigError
from assay.runs import file_digests
from assay.runs.data_files import files_now
from assay.runs.storage import digest


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "experiments" / "toy"
    (folder / "parts" / "deep").mkdir(parents=True)
    (folder / "items.yaml").write_text("item: 5\n")
    (folder / "parts" / "b.txt").write_text("b")
    (folder / "parts" / "deep" / "a.txt").write_text("a")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_and_folders(root: Path) -> None:
    found = file_digests("experiments/toy/items.yaml", "experiments/toy/parts")
    assert found == {
        "file experiments/toy/items.yaml": digest(b"item: 5\n"),
        "file experiments/toy/parts/b.txt": digest(b"b"),
        "file experiments/toy/parts/deep/a.txt": digest(b"a"),
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/etc/hosts", "relative to the repository"),
        ("../x", "relative to the repository"),
        ("", "relative to the repository"),
        ("experiments/toy/absent.yaml", "there is no such file"),
    ],
)
def test_what_is_no_file_of_the_repository_is_refused(root: Path, name: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        file_digests(name)


def test_only_files_are_looked_at_again(root: Path) -> None:
    data = {**file_digests("experiments/toy/items.yaml"), "text help": "0" * 64, "file gone.csv": "1" * 64}
    assert files_now(data, root) == {"file experiments/toy/items.yaml": digest(b"item: 5\n"), "file gone.csv": ""}
