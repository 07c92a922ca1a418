"""Every number of a text: bound to a claim that its sentence cites, set aside with the reason, loose, or wrong."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, final

from assay.errors import ClaimError, ConfigError
from assay.ledger.asides import asides, named, reason
from assay.ledger.citing import Cited, Sentence, sentence_spans, sentences
from assay.ledger.latex import read_latex
from assay.ledger.markdown import read_markdown
from assay.ledger.passage import RESULTS_WORDS, Lines, Passage
from assay.ledger.text import LATEX
from assay.ledger.values import Atom, Value, printed_by, values, values_of

MARKDOWN = (".md", ".markdown", ".mdown")


class Standing(StrEnum):
    """Where a number of a text comes from."""

    BOUND = "bound"
    ASIDE = "set aside"
    LOOSE = "loose"
    WRONG = "wrong"


class Found(NamedTuple):
    """A number (or an id that no claim has) in a text: where, how it stands, and why."""

    path: str
    line: int
    column: int
    text: str
    standing: Standing
    why: str
    claims: tuple[str, ...]
    results: bool

    @property
    def fails(self) -> bool:
        """Whether it fails the text: wrong anywhere, loose among results."""
        return self.standing is Standing.WRONG or (self.standing is Standing.LOOSE and self.results)

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}"

    @property
    def message(self) -> str:
        """What is said of it, without its place."""
        if self.standing is Standing.LOOSE:
            return f"{self.text} is loose" + (" among results: cite the claim that prints it" if self.results else "")
        return self.why if self.standing is Standing.WRONG else f"{self.text} is {self.standing}: {self.why}"


@final
@dataclass(frozen=True)
class Coverage:
    """All numbers of one text."""

    path: str
    found: tuple[Found, ...]

    def count(self, standing: Standing) -> int:
        """How many numbers stand so."""
        return Counter(one.standing for one in self.found)[standing]

    @property
    def share(self) -> float | None:
        """Bound numbers among those that are not set aside; None where there is none."""
        counted = sum(one.standing is not Standing.ASIDE for one in self.found)
        return self.count(Standing.BOUND) / counted if counted else None

    @property
    def summary(self) -> str:
        """One line: what was found in the text."""
        counts = ", ".join(f"{self.count(standing)} {standing}" for standing in Standing)
        return f"{self.path}: {counts}" + ("" if self.share is None else f"; {self.share:.0%} covered")

    @property
    def failing(self) -> tuple[Found, ...]:
        """What fails the text."""
        return tuple(one for one in self.found if one.fails)


@final
class Reader:
    """Knows the claims, the names and constants, and which headings are about results."""

    def __init__(
        self,
        claims: Mapping[str, str],
        *,
        names: Sequence[str] = (),
        constants: Sequence[str] = (),
        results: Sequence[str] = RESULTS_WORDS,
    ) -> None:
        """Read for `claims`, the sentence as displayed by id."""
        self._names = tuple(names)
        self._constants = tuple(constants)
        self._results = tuple(results)
        self.sizes = {claim: len(sentence_spans(display)) for claim, display in claims.items()}
        self._displays = dict(claims)
        self._values: dict[str, tuple[Value, ...]] = {}

    def printed(self, claim: str) -> tuple[Value, ...]:
        """The values that a claim prints, in order."""
        if claim not in self._values:
            self._values[claim] = tuple(self.values(self._displays[claim]))
        return self._values[claim]

    def values(self, text: str) -> Iterator[Value]:
        """Values of a claim's sentence; words with digits and declared names are none."""
        name = named(text, self._names)
        return (one for one in values(text) if not (one.name or reason(name, one.start, one.end)))

    def prose(self, passage: Passage) -> list[Value]:
        """Values of a passage that are neither names nor set aside by its reader."""
        name = named(passage.text, self._names)
        return [one for one, aside in values_of(passage) if not (aside or one.name or reason(name, one.start, one.end))]

    def passages(self, source: str, path: str) -> list[Passage]:
        """The passages of a text; ClaimError for one that is neither Markdown nor LaTeX, or has an unknown mark."""
        suffix = Path(path).suffix.lower()
        if suffix not in (*LATEX, *MARKDOWN):
            raise ConfigError(f"{path}: is neither Markdown (.md) nor LaTeX (.tex)")
        try:
            return (read_latex if suffix in LATEX else read_markdown)(source, results=self._results)
        except ClaimError as error:
            raise ClaimError(f"{path}: {error}") from error

    def cover(self, source: str, path: str) -> Coverage:
        """Sort all numbers of a text."""
        lines = Lines(source)
        found = [one for passage in self.passages(source, path) for one in self._passage(passage, path, lines)]
        return Coverage(path, tuple(sorted(found, key=lambda one: (one.line, one.column))))

    def _passage(self, passage: Passage, path: str, lines: Lines) -> Iterator[Found]:
        rules = asides(passage.text, names=self._names, constants=self._constants)
        found = list(values_of(passage))
        starts = [value.start for value, _ in found]
        for sentence in sentences(passage, self.sizes):
            known = {atom for claim in sentence.claims for value in self.printed(claim) for atom, _ in value.parts}
            inside = found[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)]
            for value, by_reader in inside:
                if not _in(value, sentence.cited + sentence.unknown):
                    rule = reason(rules, value.start, value.end)
                    standing, why = self._standing(sentence, value, known, by_reader, rule)
                    place = lines.place(passage.spans[value.start][0])
                    yield Found(path, *place, value.text, standing, why, sentence.claims, passage.results)
            for cited in sentence.unknown:
                why = f"cites ({cited.claim}): no claim has this id"
                place = lines.place(passage.spans[cited.start][0])
                yield Found(path, *place, cited.claim, Standing.WRONG, why, (), passage.results)

    def _standing(
        self, sentence: Sentence, value: Value, known: Iterable[Atom], by_reader: str, rule: str
    ) -> tuple[Standing, str]:
        if by_reader or value.name:
            return Standing.ASIDE, by_reader or "name"
        if sentence.claims and printed_by(known, value):
            return Standing.BOUND, ", ".join(sentence.claims)
        if rule:
            return Standing.ASIDE, rule
        if not sentence.claims:
            return Standing.LOOSE, ""
        return Standing.WRONG, f"prints {value.text}, and {self._says(sentence.claims, value)}"

    def _says(self, claims: Sequence[str], value: Value) -> str:
        """What the claims print instead: values of the same form, or all of them."""
        said = []
        for claim in claims:
            printed = self.printed(claim)
            form = value.printed.form if value.printed else None
            alike = [one.text for one in printed if one.printed and one.printed.form is form]
            shown = ", ".join(dict.fromkeys(alike or [one.text for one in printed])) or "no number"
            said.append(f"{claim} prints {shown}")
        return "; ".join(said)


def _in(value: Value, cited: Sequence[Cited]) -> bool:
    return any(one.start <= value.start < one.end for one in cited)
