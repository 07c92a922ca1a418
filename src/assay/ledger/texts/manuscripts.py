"""The texts of a repository and what its pyproject.toml says of them, read without running a claim."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.errors import ConfigError
from assay.ledger.session import list_claims
from assay.ledger.texts.coverage import Coverage, Found, Reader, once
from assay.ledger.texts.latex_files import Folders, read_text
from assay.ledger.texts.manuscript import Manuscript
from assay.ledger.texts.passage import RESULTS_WORDS

TEXTS = ("README.md", "docs/*.md")
"""Texts that cite claims, unless pyproject.toml says `claims_texts`."""


_MAIN = re.compile(r"^[^%\r\n]*?\\documentclass(?!\s*\[[^\]]*\]\s*\{subfiles\})", re.MULTILINE)


class Settings(NamedTuple):
    """What `[tool.pytest]` says of texts."""

    texts: tuple[str, ...] = TEXTS
    names: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    results: tuple[str, ...] = RESULTS_WORDS
    claims: str = "claims"


def read_settings(repository: Path) -> Settings:
    """What a repository's pyproject.toml sets; ConfigError when it cannot be read."""
    path = repository / "pyproject.toml"
    if not path.is_file():
        return Settings()
    try:
        table = tomllib.loads(path.read_text("utf-8")).get("tool", {}).get("pytest", {})
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"pyproject.toml cannot be read: {error}") from error
    table = {**table.get("ini_options", {}), **table}
    default = Settings()
    words = {
        name: _words(table.get(f"claims_{name}", getattr(default, name)))
        for name in ("texts", "names", "constants", "results")
    }
    return Settings(**words, claims=str(table.get("claims_dir", default.claims)))


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(shlex.split(value))
    if isinstance(value, Iterable):
        return tuple(str(word) for word in value)
    raise ConfigError(f"pyproject.toml: {value!r} is not a list of texts")


def reader_of(repository: Path, settings: Settings) -> Reader:
    """A reader that knows the claims written under the repository's folder of claims.

    Raises ConfigError when there is no such folder, ClaimError for a file in it that is not Python.
    """
    folder = repository / settings.claims
    if not folder.is_dir():
        raise ConfigError(f"There is no folder {settings.claims}/ with claims to compare the texts with")
    listed = list_claims(folder, names=settings.names)
    return Reader(
        {one.id: one.sentence for one in listed},
        names=settings.names,
        constants=settings.constants,
        results=settings.results,
        experiments={one.id: one.experiment for one in listed},
    )


def find_texts(root: Path, patterns: Sequence[str]) -> list[Path]:
    """Files that are named, or match a pattern, each once; ConfigError for one that is absent or no file."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        path = root / pattern
        if path.is_file():
            found[path] = None
            continue
        absolute = Path(pattern).is_absolute()
        matches = [] if absolute or not any(letter in pattern for letter in "*?[") else sorted(root.glob(pattern))
        if not matches:
            what = (
                f"is a folder: name its texts, such as '{pattern}/*.tex'" if path.is_dir() else "there is no such text"
            )
            raise ConfigError(f"{pattern}: {what}")
        found |= dict.fromkeys(match for match in matches if match.is_file())
    return list(found)


def configured_texts(repository: Path, settings: Settings) -> list[Path]:
    """The files that `claims_texts` names; patterns that match nothing are no error."""
    found = dict.fromkeys(path for pattern in settings.texts for path in sorted(repository.glob(pattern)))
    return [path for path in found if path.is_file()]


def read_manuscripts(reader: Reader, paths: Iterable[Path], root: Path) -> list[Manuscript]:
    """Each text with the files that it reads; a text that another one reads is part of that one.

    Files are named by their path under `root` where they lie there.
    """
    texts = {path: read_text(path) for path in dict.fromkeys(path.resolve() for path in paths)}
    found: dict[Path, Manuscript] = {}
    inside: set[Path] = set()
    for path in sorted(texts, key=lambda path: _MAIN.search(texts[path]) is None):  # those that read others come first
        if path not in inside:
            folders = Folders(path, root)
            found[path] = reader.read(texts[path], folders.name(path), folders)
            inside |= {part.file for part in found[path].sources.parts[1:] if part.file is not None}
    return [found[path] for path in texts if path in found and path not in inside]


def cover_texts(reader: Reader, paths: Iterable[Path], root: Path) -> list[Coverage]:
    """Coverage of each text and of the files that it reads, each once."""
    files: dict[str, list[Found]] = {}
    for manuscript in read_manuscripts(reader, paths, root):
        for one in reader.covers(manuscript):
            files.setdefault(one.path, []).extend(one.found)
    return [Coverage(path, once(found)) for path, found in files.items()]
