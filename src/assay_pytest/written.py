"""Files that claims are written in, and whether the text of one shows at a glance that none of them was lost."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

from assay_pytest.repository import places_of

_OPENINGS = ('("', "('")

WHOLE = pytest.StashKey[dict[str, set[str]]]()
"""Files whose every written claim was collected in this process, with all ids that were."""


def all_are_among(ids: Collection[str], text: str) -> bool:
    """Whether every claim marker in a text has a literal id, each another one, and all are among `ids`."""
    found = [after[2:].partition(after[1])[0] for after in text.split(".claim")[1:] if after[:2] in _OPENINGS]
    return len(set(found)) == len(found) == text.count(".claim") and all(one in ids for one in found)


def read(path: Path) -> str:
    """The text of a file of Python, as far as it can be told without its encoding."""
    return path.read_bytes().decode(errors="replace")


def written_files(config: pytest.Config, root: Path, met: Iterable[str]) -> list[Path]:
    """Python files where pytest was to look: below the folder of claims, and beside those that were `met`."""
    places = [os.path.realpath(place) for place in places_of(config)]
    folder = os.path.realpath(root / config.getini("claims_dir"))
    found: set[Path] = set()
    if any(_is_in(folder, place) or _is_in(place, folder) for place in places):
        from assay.ledger.claim_files import claim_files

        found |= set(claim_files(Path(folder)))
    for beside in {os.path.realpath(root / file.rpartition("/")[0]) for file in met}:
        if not _is_in(beside, folder):
            found |= set(Path(beside).glob("*.py"))
    wanted = {path for path in found if any(_is_in(str(path), place) for place in places)}
    return sorted(wanted - _ignored(config, wanted))


def _ignored(config: pytest.Config, paths: Iterable[Path]) -> set[Path]:
    """Files that `--ignore` and `--ignore-glob` leave out."""
    here = config.invocation_params.dir
    folders = [os.path.realpath(here / one) for one in config.getoption("ignore") or ()]
    patterns = [os.path.join(os.path.realpath(here), one) for one in config.getoption("ignore_glob") or ()]
    if not folders and not patterns:
        return set()
    from fnmatch import fnmatch

    return {
        path
        for path in paths
        if any(_is_in(str(path), folder) for folder in folders)
        or any(fnmatch(str(one), pattern) for one in (path, *path.parents) for pattern in patterns)
    }


def _is_in(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)
