"""Data files of the repository that an experiment reads: declared by name, known by digest, checked without importing.

``data=lambda config: file_digests("experiments/toy/items.yaml")`` puts the file's SHA-256 into the run's id and its
manifest, under the name ``file experiments/toy/items.yaml``. A change of one byte of the file makes the run stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from assay.errors import ConfigError
from assay.runs.storage import file_digest, find_repository

PREFIX = "file "
"""Begins the name of a data set that is a file of the repository."""


def file_digests(*names: str) -> dict[str, str]:
    """SHA-256 of files of the repository by ``file NAME``; a folder stands for every file in it, sorted.

    Names are relative to the repository, with forward slashes.

    Raises:
        ConfigError: a name that is absolute or leads out of the repository, or nothing lies there.
    """
    root = find_repository()
    found: dict[str, str] = {}
    for name in names:
        place = PurePosixPath(name)
        if place.is_absolute() or ".." in place.parts or not place.parts:
            raise ConfigError(
                f"file_digests({name!r}): name it relative to the repository, as in experiments/a/b.yaml."
            )
        files = sorted(path for path in (root / place).rglob("*") if path.is_file()) or [root / place]
        for path in files:
            if not path.is_file():
                raise ConfigError(f"file_digests({name!r}): there is no such file in {root.name}/.")
            found[PREFIX + path.relative_to(root).as_posix()] = file_digest(path)
    return found


def files_now(data: Mapping[str, str], repository: Path) -> dict[str, str]:
    """SHA-256 that the files among a run's data have now, by the names of the data; empty for a file that is gone."""
    found: dict[str, str] = {}
    for name in data:
        if name.startswith(PREFIX):
            path = repository / name.removeprefix(PREFIX)
            found[name] = file_digest(path) if path.is_file() else ""
    return found
