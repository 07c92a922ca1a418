"""Claims that are written and that no test judged: a session over all claims of a file names each of them, and why.

The text of a file shows quickly that nothing of it was lost; only where it does not is the file parsed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay_pytest.repository import places_of, repository_of

if TYPE_CHECKING:
    import pytest

    from assay.ledger.source import ClaimFile, FunctionSource

_MARKED = re.compile(r"""\.\s*claim\b(?:\s*\(\s*(["'])([A-Za-z0-9._-]+)\1)?""")


class Lost(NamedTuple):
    """A claim that was written and not judged: its id (empty where only an import knows it), where it stands, and why.

    `place` is file and line.
    """

    id: str
    place: str
    why: str
    source: ClaimFile
    function: FunctionSource


def all_are_among(ids: Collection[str], text: str) -> bool:
    """Whether the text of a file shows that every claim in it has an id of its own among `ids`."""
    found = [marked[2] for marked in _MARKED.finditer(text)]
    return len(set(found)) == len(found) and all(one in ids for one in found)


def lost_claims(
    config: pytest.Config, judged: Mapping[str, Collection[str]], skipped: Mapping[str, str], ended: str
) -> Iterator[Lost]:
    """Claims in the files that pytest was pointed at which are not `judged` (ids by file), in the order of places.

    `skipped` says by file why it was skipped as a whole, `ended` why the session ended early, if it did.
    """
    root = repository_of(config).resolve()
    for path in _files(config, root, judged):
        file = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        ids = judged.get(file, ())
        if all_are_among(ids, path.read_bytes().decode(errors="replace")):
            continue
        from assay.ledger.source import ClaimFile

        source = ClaimFile(path)
        computed = set(ids) - {mark.id for function in source.written for mark in function.marks}
        for function in source.written:
            lost = [mark.id for mark in function.marks if mark.id not in ids or function.hidden_by]
            lost += [""] if function.computed and not computed else []
            why = _why(config, path, function, skipped.get(file, ""), ended) if lost else ""
            yield from (Lost(one, f"{file}:{function.line}", why, source, function) for one in lost)


def _files(config: pytest.Config, root: Path, judged: Iterable[str]) -> list[Path]:
    """Python files below the folder of claims, and beside claims that were met elsewhere, where pytest was to look."""
    places = [place.resolve() for place in places_of(config)]
    folder = (root / config.getini("claims_dir")).resolve()
    found: set[Path] = set()
    if any(folder.is_relative_to(place) or place.is_relative_to(folder) for place in places) and folder.is_dir():
        from assay.ledger.source import claim_files

        found |= set(claim_files(folder))
    for beside in {(root / file).parent for file in judged}:
        found |= set(beside.resolve().glob("*.py"))
    return sorted(path for path in found if any(path.is_relative_to(place) for place in places))


def _why(config: pytest.Config, path: Path, function: FunctionSource, skipped: str, ended: str) -> str:
    """Why no test judged a claim, as far as it can be told; what pytest collects is said by its own settings."""
    if function.hidden_by:
        return f"{function.qualname} is defined again at line {function.hidden_by}, which hides it"
    if skipped:
        return f"its file was skipped: {skipped}"
    if ended:
        return f"the session ended before it: {ended}"
    if not any(fnmatchcase(path.name, one.rpartition("/")[2]) for one in config.getini("python_files")):
        return f"pytest collects no file {path.name}: python_files is {' '.join(config.getini('python_files'))}"
    *classes, name = function.qualname.split(".")
    for setting, came in (*(("python_classes", one) for one in classes), ("python_functions", name)):
        patterns = config.getini(setting)
        if "<locals>" not in classes and not any(came.startswith(one) or fnmatchcase(came, one) for one in patterns):
            return f"pytest collects no {came}: {setting} is {' '.join(patterns)}"
    return "no test of this session judged it"
