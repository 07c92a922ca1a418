"""From collected tests to checked claims; every mistake is gathered, with file and line, before anything runs."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import ClaimError
from assay.ledger.claim import Claim, ClaimMark, RunMark, claim_mark, run_mark
from assay.ledger.sentence import Sentence, SentenceError, read_sentence
from assay.ledger.source import ClaimFile
from assay.ledger.text import CitedTexts, read_texts

if TYPE_CHECKING:
    import pytest


@dataclass
class Gathered:
    """Checked claims by test, the texts that cite them, the sources read so far, and mistakes by file."""

    claims: dict[pytest.Item, Claim] = field(default_factory=dict)
    errors: dict[str, list[str]] = field(default_factory=dict)
    texts: CitedTexts = field(default_factory=lambda: CitedTexts(()))
    sources: Sources = field(default_factory=lambda: Sources())

    def error(self, path: str, message: str) -> None:
        """Note a mistake in a file."""
        messages = self.errors.setdefault(path, [])
        if message not in messages:
            messages.append(message)


class Sources:
    """Claim files, each parsed at most once and only when a line, a column or a vanished docstring is asked for."""

    def __init__(self) -> None:
        """Start with none."""
        self._files: dict[Path, ClaimFile] = {}

    def of(self, path: Path) -> ClaimFile:
        """The parsed file; ClaimError when it cannot be read."""
        if path not in self._files:
            self._files[path] = ClaimFile(path)
        return self._files[path]

    def forget(self, path: Path) -> None:
        """Read the file anew when it is asked for again."""
        self._files.pop(path, None)


def code_of(item: pytest.Item) -> Any:
    """The function that a test item calls, without wrappers; None for items that call none."""
    function = getattr(item, "function", None)
    return None if function is None else inspect.unwrap(function)


def collect(items: list[pytest.Item], config: pytest.Config) -> Gathered:
    """Check the claims among `items`."""
    gathered = Gathered()
    names = tuple(config.getini("claims_names"))
    try:
        gathered.texts = read_texts(config.rootpath, config.getini("claims_texts"))
    except ClaimError as error:
        gathered.error("claims_texts", str(error))
    runs: dict[int, RunMark] = {}
    sentences: dict[int, Sentence] = {}
    for item in items:
        claim = _claim(item, gathered, names=names, runs=runs, sentences=sentences, root=config.rootpath)
        if claim is not None:
            gathered.claims[item] = claim
    _refuse_twins(gathered)
    return gathered


def _claim(
    item: pytest.Item,
    gathered: Gathered,
    *,
    names: tuple[str, ...],
    runs: dict[int, RunMark],
    sentences: dict[int, Sentence],
    root: Path,
) -> Claim | None:
    function = code_of(item)
    if function is None or not hasattr(function, "__code__"):
        gathered.error(_relative(item.path, root), f"{item.nodeid} is marked as a claim and is not a test function")
        return None
    code = function.__code__
    file = Path(code.co_filename)
    path = _relative(file, root)
    try:
        mark = _claim_mark(item)
        registered = item.get_closest_marker("registered")
        run = None
        if registered is not None:
            key = id(registered)
            run = runs.get(key) or runs.setdefault(key, run_mark(registered.args, registered.kwargs))
        _check_theorem(mark, root)
        key = id(code)
        sentence = sentences.get(key) or sentences.setdefault(key, _sentence(function, file, names, gathered.sources))
    except SentenceError as error:
        for place, message in _placed(error, function, file, names, gathered.sources):
            gathered.error(path, f"{path}:{place}: claim {mark.id}: {message}")
        return None
    except ClaimError as error:
        gathered.error(path, f"{path}:{_line(function, file, gathered.sources)}: {error}")
        return None
    return Claim(mark, sentence, run, path, code.co_firstlineno, function.__qualname__)


def _claim_mark(item: pytest.Item) -> ClaimMark:
    first, *others = item.iter_markers("claim")
    if others:
        ids = ", ".join(repr(mark.args[0]) if mark.args else "no id" for mark in (first, *others))
        raise ClaimError(f"{item.name} carries {1 + len(others)} claims ({ids}): give each a test of its own")
    return claim_mark(first.args, first.kwargs)


def _sentence(function: Any, file: Path, names: tuple[str, ...], sources: Sources) -> Sentence:
    written = function.__doc__
    if written is None and sys.flags.optimize >= 2:  # python -OO removed it
        source = sources.of(file).functions.get(function.__qualname__)
        written = source.written if source else None
    if written is None or not written.strip():
        raise ClaimError(f"{function.__name__} has no docstring: the docstring is the sentence of the claim")
    return read_sentence(written, names=names)


def _placed(
    error: SentenceError, function: Any, file: Path, names: tuple[str, ...], sources: Sources
) -> list[tuple[int, str]]:
    """Lines and messages of what is wrong; offsets are taken in the source, where nothing was dedented."""
    try:
        source = sources.of(file)
        written = source.functions[function.__qualname__].written or ""
        read_sentence(written, names=names)
    except SentenceError as again:
        placed = [(source.place(function.__qualname__, fault.offset), fault.message) for fault in again.faults]
        return [(line, f"{message} at column {column}") for (line, column), message in placed]
    except (ClaimError, KeyError):
        pass
    return [(function.__code__.co_firstlineno, fault.message) for fault in error.faults]


def _line(function: Any, file: Path, sources: Sources) -> int:
    try:
        return sources.of(file).functions[function.__qualname__].line
    except (ClaimError, KeyError):
        return int(function.__code__.co_firstlineno)


def _check_theorem(mark: ClaimMark, root: Path) -> None:
    """A theorem that names a file, or a test in it, names one that is there."""
    file, _, test = mark.theorem.partition("::")
    if not mark.theorem or " " in file or "." not in file:
        return
    path = root / file
    if not path.is_file():
        raise ClaimError(f"claim {mark.id}: theorem={mark.theorem!r} names {file}, which does not exist")
    name = test.rpartition("::")[2].partition("[")[0]
    if name and f"def {name}(" not in path.read_text("utf-8", errors="replace"):
        raise ClaimError(f"claim {mark.id}: theorem={mark.theorem!r}: {file} defines no {name}")


def _refuse_twins(gathered: Gathered) -> None:
    first: dict[str, tuple[pytest.Item, Claim]] = {}
    for item, claim in list(gathered.claims.items()):
        earlier, twin = first.setdefault(claim.id, (item, claim))
        if earlier is item or earlier.nodeid == item.nodeid:
            continue
        here, there = (_where(one, other, gathered) for one, other in ((item, claim), (earlier, twin)))
        message = f"{here}: claim id {claim.id} is used twice: at {there} and at {here}"
        if here == there:
            message = (
                f"{here}: claim id {claim.id} is used by several parameters of one test; "
                f'give each its own: pytest.param(..., marks=pytest.mark.claim("..."))'
            )
        gathered.error(claim.path, message)


def _where(item: pytest.Item, claim: Claim, gathered: Gathered) -> str:
    function = code_of(item)
    return f"{claim.path}:{_line(function, Path(function.__code__.co_filename), gathered.sources)}"


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
