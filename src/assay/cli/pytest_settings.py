"""Where pytest reads its settings in a repository, and the one key of claims that a pyproject.toml may lack."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.errors import ConfigError

LINE = 'claims_texts = ["README.md", "docs/*.md"]'
"""The setting that is added: which texts cite claims. It is the plugin's default, written where it can be seen."""

_BEFORE = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
_AFTER = (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_HEADER = r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*pytest{rest}[ \t]*\][ \t]*(?:#[^\n]*)?$"
_TABLES = (_HEADER.format(rest=r"[ \t]*\.[ \t]*ini_options"), _HEADER.format(rest=""))


def settings_elsewhere(root: Path) -> str | None:
    """The file other than pyproject.toml that holds pytest's settings, None when there is none.

    A table in pyproject.toml would be ignored beside some of these files, and would put others out of force.
    """
    for name in _BEFORE:
        if (root / name).is_file():
            return name
    for name, section in _AFTER:
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read(root / name, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError) as cause:
            raise ConfigError(
                f"init: {name} cannot be read ({cause}). Repair it first; nothing was written."
            ) from cause
        if parser.has_section(section):
            return name
    return None


def with_claims_texts(text: str) -> str:
    """The text of a pyproject.toml with ``claims_texts`` among pytest's settings; unchanged when it is there already.

    Raises:
        ConfigError: no valid TOML, or pytest's settings are written so that the line has to be added by hand.
    """
    table = _pytest_table(_parsed(text))
    if "claims_texts" in table or "claims_texts" in table.get("ini_options", {}):
        return text
    plain = text.replace("\r\n", "\n")
    for longer in _candidates(plain):
        if _adds_only_that(plain, longer):
            return longer.replace("\n", "\r\n") if "\r\n" in text else longer
    raise ConfigError(
        f"init: pytest's settings in pyproject.toml have no place for a line. Add {LINE} to them; nothing was written."
    )


def _candidates(text: str) -> Iterator[str]:
    """The text with the line under a header that is there, and then with a table of its own at the end."""
    for header in _TABLES:
        if match := re.search(header, text, re.MULTILINE):
            yield f"{text[: match.end()]}\n{LINE}{text[match.end() :]}"
    gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    yield f"{text}{gap}[tool.pytest]\n{LINE}\n"


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as cause:
        raise ConfigError(
            f"init: pyproject.toml is no valid TOML ({cause}). Repair it; nothing was written."
        ) from cause


def _pytest_table(document: dict[str, Any]) -> dict[str, Any]:
    tool = document.get("tool", {})
    table = tool.get("pytest", {}) if isinstance(tool, dict) else {}
    return table if isinstance(table, dict) else {}


def _adds_only_that(text: str, longer: str) -> bool:
    """Whether pytest can read the longer text, and nothing but the setting is new in it."""
    try:
        after = tomllib.loads(longer)
    except tomllib.TOMLDecodeError:
        return False
    table = _pytest_table(after)
    if "ini_options" in table and len(table) > 1:
        return False  # pytest refuses both
    return _rest(after) == _rest(_parsed(text))


def _rest(document: dict[str, Any]) -> dict[str, Any]:
    """The document without the setting, and without the tables that then hold nothing."""
    table = _pytest_table(document)
    for part in (table, table.get("ini_options", {})):
        part.pop("claims_texts", None)
    if not table:
        document.get("tool", {}).pop("pytest", None)
    if not document.get("tool"):
        document.pop("tool", None)
    return document
