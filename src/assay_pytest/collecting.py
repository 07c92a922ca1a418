"""From collected tests to checked claims; every mistake is gathered, with file and line, before anything runs."""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import ClaimError
from assay.ledger.citations import CitedTexts, read_texts
from assay.ledger.claim import Claim, ClaimMark, RunMark, claim_mark, run_mark
from assay.ledger.sentence import Sentence, SentenceError, read_sentence
from assay_pytest.repository import repository_of
from assay_pytest.stand_ins import has_stand_in
from assay_pytest.written import WHOLE, all_are_among, read

if TYPE_CHECKING:
    import pytest

    from assay.ledger.source import ClaimFile

_OPTIMISED = (
    "python -O (or PYTHONOPTIMIZE) removes assertions, such as those in modules that claims import, and a claim would "
    "hold for want of them: check claims without it"
)


@dataclass
class Gathered:
    """Checked claims by test, the texts that cite them, the sources read so far, and mistakes by file.

    `stood_in` are tests whose evidence comes through fixtures of the project.
    """

    claims: dict[pytest.Item, Claim] = field(default_factory=dict)
    stood_in: set[pytest.Item] = field(default_factory=set)
    errors: dict[str, list[str]] = field(default_factory=dict)
    texts: CitedTexts = field(default_factory=lambda: CitedTexts(()))
    sources: Sources = field(default_factory=lambda: Sources())

    def error(self, path: str, message: str) -> None:
        """Note a mistake in a file."""
        messages = self.errors.setdefault(path, [])
        if message not in messages:
            messages.append(message)


class Sources:
    """Claim files, each parsed at most once and only when a line or a column is asked for."""

    def __init__(self) -> None:
        """Start with none."""
        self._files: dict[Path, ClaimFile] = {}

    def of(self, path: Path) -> ClaimFile:
        """The parsed file; ClaimError when it cannot be read."""
        if path not in self._files:
            from assay.ledger.source import ClaimFile

            self._files[path] = ClaimFile(path)
        return self._files[path]

    def forget(self, path: Path) -> None:
        """Read the file anew when it is asked for again."""
        self._files.pop(path, None)


def code_of(item: pytest.Item) -> Any:
    """The function that a test item calls, without wrappers; None for items that call none."""
    function = getattr(item, "function", None)
    return None if function is None else inspect.unwrap(function)


def collect(marks: dict[pytest.Item, list[pytest.Mark]], config: pytest.Config) -> Gathered:
    """Check the claims among the collected tests, given with their markers `claim` and `registered`."""
    gathered = Gathered()
    if sys.flags.optimize:
        gathered.error("python -O", _OPTIMISED)
        return gathered
    names = tuple(config.getini("claims_names"))
    root = repository_of(config)
    try:
        gathered.texts = read_texts(root, config.getini("claims_texts"))
    except ClaimError as error:
        gathered.error("claims_texts", str(error))
    reading = _Reading(root, names, gathered)
    for item, found in marks.items():
        claim = reading.claim(item, found)
        if claim is not None:
            gathered.claims[item] = claim
            item.extra_keyword_matches.add(claim.id)  # pytest -k M7
            try:
                if has_stand_in(item, root):
                    gathered.stood_in.add(item)
            except ClaimError as error:
                gathered.error("evidence", str(error))  # once, however many claims it is hidden from
    _refuse_twins(gathered)
    config.stash[WHOLE] = _refuse_hidden(gathered, reading.files)
    return gathered


class _Reading:
    """Turns tests into claims; markers, files and sentences that tests share are read once."""

    def __init__(self, root: Path, names: tuple[str, ...], gathered: Gathered) -> None:
        self._root = root
        self._names = names
        self._gathered = gathered
        self._runs: dict[int, RunMark] = {}
        self._sentences: dict[Any, Sentence] = {}
        self.files: dict[str, str] = {}

    def claim(self, item: pytest.Item, marks: list[pytest.Mark]) -> Claim | None:
        """The claim of a test, or None after its mistakes were noted."""
        function = code_of(item)
        if function is None or not hasattr(function, "__code__"):
            path = _relative(item.path, self._root)
            self._gathered.error(path, f"{item.nodeid} is marked as a claim and is not a test function")
            return None
        file = function.__code__.co_filename
        path = self.files.get(file) or self.files.setdefault(file, _relative(Path(file), self._root))
        mark = None
        try:
            mark = _claim_mark(item, marks)
            _check_theorem(mark, self._root)
            run = self._run(marks)
            sentence = self._sentence(function)
        except SentenceError as error:
            where = f"claim {mark.id}: " if mark else ""
            for line, message in _placed(error, function, self._names, self._gathered.sources):
                self._gathered.error(path, f"{path}:{line}: {where}{message}")
            return None
        except ClaimError as error:
            self._gathered.error(path, f"{path}:{_line(function, self._gathered.sources)}: {error}")
            return None
        return Claim(mark, sentence, run, path, function.__code__.co_firstlineno, function.__qualname__)

    def _run(self, marks: list[pytest.Mark]) -> RunMark | None:
        for mark in marks:
            if mark.name == "registered":
                known = self._runs.get(id(mark))
                return known or self._runs.setdefault(id(mark), run_mark(mark.args, mark.kwargs))
        return None

    def _sentence(self, function: Any) -> Sentence:
        code = function.__code__
        known = self._sentences.get(code)
        if known is None:
            known = self._sentences[code] = _sentence(function, self._names)
        return known


def _claim_mark(item: pytest.Item, marks: list[pytest.Mark]) -> ClaimMark:
    first, *others = [mark for mark in marks if mark.name == "claim"]
    if others:
        ids = ", ".join(repr(mark.args[0]) if mark.args else "no id" for mark in (first, *others))
        raise ClaimError(f"{item.name} carries {1 + len(others)} claims ({ids}): give each a test of its own")
    return claim_mark(first.args, first.kwargs)


def _sentence(function: Any, names: tuple[str, ...]) -> Sentence:
    written = function.__doc__
    if written is None or not written.strip():
        raise ClaimError(f"{function.__name__} has no docstring: the docstring is the sentence of the claim")
    return read_sentence(written, names=names)


def _file(function: Any) -> Path:
    return Path(function.__code__.co_filename)


def _placed(error: SentenceError, function: Any, names: tuple[str, ...], sources: Sources) -> list[tuple[int, str]]:
    """Lines and messages of what is wrong; offsets are taken in the source, where nothing was dedented."""
    try:
        source = sources.of(_file(function))
        written = source.functions[function.__qualname__].written or ""
        read_sentence(written, names=names)
    except SentenceError as again:
        placed = [(source.place(function.__qualname__, fault.offset), fault) for fault in again.faults]
        return [(line, fault.at(f" at column {column}")) for (line, column), fault in placed]
    except (ClaimError, KeyError):
        pass
    return [(function.__code__.co_firstlineno, fault.at()) for fault in error.faults]


def _line(function: Any, sources: Sources) -> int:
    try:
        return sources.of(_file(function)).functions[function.__qualname__].line
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


def _refuse_hidden(gathered: Gathered, files: dict[str, str]) -> dict[str, set[str]]:
    """A claim that a later definition of its name hides would be lost: pytest never sees it.

    Returns the collected ids of the files whose text shows that none was lost.
    """
    ids: dict[str, set[str]] = {}
    whole: dict[str, set[str]] = {}
    for claim in gathered.claims.values():
        ids.setdefault(claim.path, set()).add(claim.id)
    for file, path in files.items():
        try:
            if all_are_among(ids.get(path, ()), read(Path(file))):
                whole[path] = ids.get(path, set())
                continue
            written = gathered.sources.of(Path(file)).written
        except (ClaimError, OSError):
            continue  # compiled from something else than a file of Python, such as a notebook
        for function in written:
            for mark in function.marks if function.hidden_by else ():
                gathered.error(
                    path,
                    f"{path}:{function.line}: claim {mark.id}: {function.qualname} is defined again at line "
                    f"{function.hidden_by}, which hides it from pytest: give each claim a name of its own",
                )
    return whole


def _where(item: pytest.Item, claim: Claim, gathered: Gathered) -> str:
    return f"{claim.path}:{_line(code_of(item), gathered.sources)}"


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
