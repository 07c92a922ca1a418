"""The texts of a repository and its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ConfigError
from assay.ledger.texts.latex_files import read_text
from assay.ledger.texts.manuscripts import (
    Settings,
    configured_texts,
    cover_texts,
    find_texts,
    read_settings,
    reader_of,
)


def test_settings_of_both_tables(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings()
    file = tmp_path / "pyproject.toml"
    file.write_text('[tool.pytest]\nclaims_texts = ["a.md"]\nclaims_results = ["fund"]\nclaims_constants = ["95 %"]\n')
    assert read_settings(tmp_path) == Settings(texts=("a.md",), results=("fund",), constants=("95 %",))
    file.write_text("[tool.pytest.ini_options]\nclaims_names = \"'M 3' N\"\nclaims_dir = 'x'\n")
    assert read_settings(tmp_path) == Settings(names=("M 3", "N"), claims="x")
    for wrong in ("[tool", "[tool.pytest]\nclaims_texts = 5\n"):
        file.write_text(wrong)
        with pytest.raises(ConfigError):
            read_settings(tmp_path)


def test_texts_by_name_and_pattern(tmp_path: Path) -> None:
    for name in ("README.md", "paper/a.tex", "paper/b.tex"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [path.name for path in find_texts(tmp_path, ["paper/*.tex", "README.md", "paper/a.tex"])] == [
        *("a.tex", "b.tex", "README.md")
    ]
    assert [path.name for path in configured_texts(tmp_path, Settings(texts=("*.md", "none/*.md")))] == ["README.md"]
    for missing in ("c.tex", "*.rst"):
        with pytest.raises(ConfigError, match="there is no such text"):
            find_texts(tmp_path, [missing])
    with pytest.raises(ConfigError, match=r"^paper: is a folder: name its texts, such as 'paper/\*\.tex'$"):
        find_texts(tmp_path, ["paper"])


def test_a_text_keeps_its_line_ends_and_must_be_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"a\r\nb\r")
    assert read_text(file) == "a\r\nb\r"
    file.write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"a\.md cannot be read as UTF-8"):
        read_text(file)


def test_claims_are_read_without_running_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no folder claims/"):
        reader_of(tmp_path, Settings())
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims/test_a.py").write_text(
        'import pytest\nraise SystemExit\n\n@pytest.mark.claim("M1")\ndef test_a(evidence):\n    """It is {k: 5}."""\n'
    )
    (tmp_path / "a.md").write_text("It is 5 (M1).")
    (found,) = cover_texts(reader_of(tmp_path, Settings()), [tmp_path / "a.md"], tmp_path)
    assert (found.path, found.share) == ("a.md", 1.0)
