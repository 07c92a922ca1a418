"""Claims as reports show them: verdict, sentence in parts, and each printed number beside the registered one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

from assay.errors import AssayError, ClaimError
from assay.ledger.citations import citations_in
from assay.ledger.claim import RunMark, Verdict
from assay.ledger.printed import Form, Printed, matches, parse, shown
from assay.ledger.sentence import Sentence, Source, read_sentence
from assay.ledger.session import configured_names, judged_claims
from assay.ledger.source import ClaimFile, FunctionSource, static_claims
from assay.ledger.table import kind_in_words
from assay.runs.privacy import scrub
from assay.runs.registry import Record
from assay.runs.results import Results

TEXTS = ("README.md", "docs/**/*.md", "experiments/*/README.md")
"""Markdown files that speak of claims and figures."""

_FRACTION = re.compile(r"\.[0-9]+")


class Part(NamedTuple):
    """A stretch of a sentence: plain text, a compared number (with its key), or a constant of the protocol."""

    text: str
    key: str = ""
    constant: bool = False


@final
@dataclass(frozen=True)
class Number:
    """One printed number of a claim.

    ``registered`` is the registered value in the printed form, ``closer`` the same with two digits more; both are
    empty where the run cannot be read. ``value`` is unrounded, None for a value that the claim derives itself.
    """

    key: str
    printed: Printed
    registered: str
    closer: str
    value: Any
    holds: bool


@final
@dataclass(frozen=True)
class ReportedClaim:
    """A judged claim. ``experiment`` and ``tier`` are what its `registered` marker names; ``runs`` is what was read.

    ``order`` are the verdicts on the order of freeze and confirmatory run, ``doubt`` why one cannot be proven.
    """

    id: str
    section: str
    verdict: Verdict
    note: str
    kind: str
    order: tuple[str, ...]
    doubt: str
    experiment: str
    tier: str | None
    runs: tuple[str, ...]
    keys: tuple[str, ...]
    file: str
    line: int
    column: int
    sentence: str
    parts: tuple[Part, ...]
    numbers: tuple[Number, ...]

    @property
    def kind_in_words(self) -> str:
        """Its kind with the order of freeze and run, in the words of the claim table; empty when it has none yet."""
        return kind_in_words(self.kind, ", ".join(self.order), self.doubt)

    @property
    def first_sentence(self) -> tuple[Part, ...]:
        """The parts up to the end of the first sentence."""
        found: list[Part] = []
        for part in self.parts:
            end = None if part.key or part.constant else re.search(r"[.!?](?= [A-Z])", part.text)
            if end:
                return (*found, Part(part.text[: end.end()]))
            found.append(part)
        return tuple(found)


def read_claims(repository: Path, record: Record) -> tuple[ReportedClaim, ...]:
    """Every claim of a repository, judged now by a session of pytest, its numbers read from ``record``.

    Raises:
        ClaimError: a claim file cannot be read.
    """
    names = configured_names(repository)
    folder = repository / "claims"
    places = (
        {mark.id: (source, function) for source, function, mark in static_claims(folder)} if folder.is_dir() else {}
    )
    opened: dict[str, Results | None] = {}
    return tuple(
        _reported(found, places.get(found["id"]), names, record, opened, repository)
        for found in judged_claims(repository)
    )


def cited_texts(repository: Path, claims: Sequence[ReportedClaim]) -> list[Path]:
    """README.md and the Markdown files of docs/ and experiments/ that cite one of these claims."""
    known = {claim.id for claim in claims}
    found = sorted({path for pattern in TEXTS for path in repository.glob(pattern)})
    return [
        path
        for path in found
        if any(one.claim in known for one in citations_in(path.read_text("utf-8", errors="replace"), path.name))
    ]


def _reported(
    found: Mapping[str, str],
    place: tuple[ClaimFile, FunctionSource] | None,
    names: Sequence[str],
    record: Record,
    opened: dict[str, Results | None],
    repository: Path,
) -> ReportedClaim:
    runs = tuple(filter(None, found["run"].split("; ")))
    verdict = Verdict(found["verdict"])
    line, column, mark = 1, 1, RunMark("")
    if place is not None:
        source, function = place
        line, column = source.place(function, 0)
        mark = function.run or mark
    try:
        sentence: Sentence | None = read_sentence(found["written"], names=names)
    except ClaimError:
        sentence = None  # the session could not read it either, and its note says so
    return ReportedClaim(
        id=found["id"],
        section=found["section"],
        verdict=verdict,
        note=scrub(found["note"], repository),
        kind=found["kind"],
        order=tuple(filter(None, found["order"].split(", "))),
        doubt=scrub(found["doubt"], repository),
        experiment=mark.experiment,
        tier=mark.tier,
        runs=runs,
        keys=tuple(filter(None, found["keys"].split("; "))),
        file=found["file"],
        line=line,
        column=column,
        sentence=found["sentence"],
        parts=parts(sentence) if sentence else (Part(found["sentence"]),),
        numbers=_numbers(sentence, found, _open(record, runs if mark.experiment else (), opened)) if sentence else (),
    )


def _open(record: Record, runs: Sequence[str], opened: dict[str, Results | None]) -> Results | None:
    """The run that speaks for a claim, which its test opened first; None where it cannot be trusted."""
    if not runs:
        return None
    if runs[0] not in opened:
        try:
            opened[runs[0]] = record.results(runs[0])
        except AssayError:
            opened[runs[0]] = None
    return opened[runs[0]]


def parts(sentence: Sentence) -> tuple[Part, ...]:
    """The displayed sentence in parts, white space put in order."""
    found: list[Part] = []
    last = 0
    for binding in sentence.bindings:
        opening = sentence.written.rindex("{", last, binding.start)
        found.append(_plain(sentence.written[last:opening]))
        found.append(Part(binding.text, binding.key, binding.source is Source.CONSTANT))
        last = sentence.written.index("}", binding.end) + 1
    found.append(_plain(sentence.written[last:]))
    return tuple(part for part in found if part.text)


def _plain(text: str) -> Part:
    return Part(re.sub(r"\s+", " ", text.replace("{{", "{").replace("}}", "}")))


def _numbers(sentence: Sentence, found: Mapping[str, str], results: Results | None) -> tuple[Number, ...]:
    judged = found["registered"].split("; ") if found["registered"] else []
    aligned = len(judged) == len(sentence.numbers)
    all_hold = found["verdict"] in (Verdict.HOLDS, Verdict.STALE)
    numbers = []
    for at, binding in enumerate(sentence.numbers):
        printed = binding.printed or parse(binding.text)
        value = _value(results, binding.key)
        if value is None:
            seen = judged[at].removesuffix(" (tie)") if aligned else ""
            numbers.append(Number(binding.key, printed, seen, seen, None, all_hold or seen == binding.text))
        else:
            match = matches(printed, value)
            kept = match.holds and printed.form is Form.RELATION
            seen = printed.text if kept else match.registered_as_printed
            numbers.append(Number(binding.key, printed, seen, closer(printed, value), value, match.holds))
    return tuple(numbers)


def _value(results: Results | None, key: str) -> Any:
    """The registered value, None where there is none (the claim binds it itself, or its run cannot be read)."""
    if results is None:
        return None
    try:
        return results.value(key)
    except AssayError:
        return None


def closer(printed: Printed, value: object) -> str:
    """A registered value in the printed form with two digits more behind each decimal point."""
    if printed.form in (Form.WORD, Form.TEXT) or isinstance(value, str):
        return matches(printed, value).registered_as_printed
    if printed.form is Form.RELATION:
        number = getattr(value, "share", getattr(value, "value", value))
        return f"{number:.4g}" if isinstance(number, float) else shown(number)
    finer = parse(_FRACTION.sub(lambda fraction: f"{fraction[0]}00", printed.text))
    return matches(finer, value).registered_as_printed
