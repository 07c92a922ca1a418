"""Claims that are written and that no test judged: a session over all claims of a file names each of them, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.ledger.source import ClaimFile, FunctionSource

if TYPE_CHECKING:
    import pytest


class Lost(NamedTuple):
    """A claim that was written and not judged: its id (empty where only an import knows it), its line, and why."""

    id: str
    function: FunctionSource
    why: str


def lost_claims(config: pytest.Config, path: Path, ids: Collection[str], ended: str) -> Iterator[Lost]:
    """Claims in a file that are not among `ids`, those that were judged, in the order of lines.

    `ended` says why nothing more of the file was run, if that is known.
    """
    source = ClaimFile(path)
    computed = set(ids) - {mark.id for function in source.written for mark in function.marks}
    for function in source.written:
        lost = [mark.id for mark in function.marks if mark.id not in ids or function.hidden_by]
        lost += [""] if function.computed and not computed else []
        why = _why(config, path.name, function, ended) if lost else ""
        yield from (Lost(one, function, why) for one in lost)


def _why(config: pytest.Config, file: str, function: FunctionSource, ended: str) -> str:
    """Why no test judged a claim, as far as it can be told; what pytest collects is said by its own settings."""
    if function.hidden_by:
        return f"{function.qualname} is defined again at line {function.hidden_by}, which hides it"
    if ended:
        return ended
    if not any(fnmatchcase(file, one.rpartition("/")[2]) for one in config.getini("python_files")):
        return f"pytest collects no file {file}: python_files is {' '.join(config.getini('python_files'))}"
    *classes, name = function.qualname.split(".")
    for setting, came in (*(("python_classes", one) for one in classes), ("python_functions", name)):
        patterns = config.getini(setting)
        if "<locals>" not in classes and not any(came.startswith(one) or fnmatchcase(came, one) for one in patterns):
            return f"pytest collects no {came}: {setting} is {' '.join(patterns)}"
    return "no test of this session judged it"
