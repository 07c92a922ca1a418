"""Where pytest's settings are, and the line that a pyproject.toml gets."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from assay.cli.pytest_settings import LINE, settings_elsewhere, with_claims_texts
from assay.errors import ConfigError

TEXTS = ["README.md", "docs/*.md"]


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("", "tool.pytest"),
        ('[project]\nname = "thing"', "tool.pytest"),
        ("[tool.ruff]\nline-length = 88\n", "tool.pytest"),
        ('[tool.pytest]\nminversion = "9.0"\n', "tool.pytest"),
        ("[ tool . pytest ]  # ours\n\n[tool.ruff]\nline-length = 88\n", "tool.pytest"),
        ('[tool.pytest.ini_options]\naddopts = "-q"\n', "tool.pytest.ini_options"),
        ('[tool.pytest.ini_options]\r\naddopts = "-q"\r\n', "tool.pytest.ini_options"),
        ("[tool.pytest.ini_options]", "tool.pytest.ini_options"),
    ],
)
def test_one_line_is_added_where_pytest_reads_it_and_nothing_else_changes(text: str, table: str) -> None:
    longer = with_claims_texts(text)
    found = tomllib.loads(longer)
    for part in table.split("."):
        found = found[part]
    assert found["claims_texts"] == TEXTS
    kept = iter(longer.splitlines())
    assert all(line in kept for line in text.splitlines())
    assert longer.count("\r\n") == (longer.count("\n") if "\r\n" in text else 0)
    assert with_claims_texts(longer) == longer


@pytest.mark.parametrize(
    "text", ["[tool.pytest]\nclaims_texts = []\n", "[tool.pytest.ini_options]\nclaims_texts = 'paper/*.md'\n"]
)
def test_a_setting_that_is_there_is_kept(text: str) -> None:
    assert with_claims_texts(text) == text


@pytest.mark.parametrize("text", ['[tool]\npytest.ini_options.addopts = "-q"\n', "tool = {pytest = {}}\n"])
def test_settings_without_a_place_for_a_line_are_left_to_the_user(text: str) -> None:
    with pytest.raises(ConfigError, match=r"Add claims_texts = .* nothing was written"):
        with_claims_texts(text)


def test_a_broken_pyproject_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no valid TOML .*nothing was written"):
        with_claims_texts("[tool")


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("pytest.ini", "", True),
        (".pytest.toml", "", True),
        ("tox.ini", "[pytest]\naddopts = -q\n", True),
        ("tox.ini", "[tox]\nenvlist = py311\n", False),
        ("setup.cfg", "[tool:pytest]\naddopts = -q\n", True),
        ("setup.cfg", "[metadata]\nname = thing\n", False),
        ("README.md", "[pytest]\n", False),
    ],
)
def test_files_that_pytest_reads_instead_are_known(tmp_path: Path, name: str, text: str, found: bool) -> None:
    (tmp_path / name).write_text(text)
    assert settings_elsewhere(tmp_path) == (name if found else None)


def test_a_broken_file_of_settings_is_refused(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("addopts = -q\n")
    with pytest.raises(ConfigError, match=r"setup\.cfg cannot be read"):
        settings_elsewhere(tmp_path)


def test_the_line_is_valid_toml() -> None:
    assert tomllib.loads(LINE) == {"claims_texts": TEXTS}
