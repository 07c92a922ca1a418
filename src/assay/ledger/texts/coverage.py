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
from assay.ledger.citations import LATEX
from assay.ledger.texts.asides import asides, named, reason
from assay.ledger.texts.citing import Cited, Sentence, sentence_spans, sentences
from assay.ledger.texts.latex import read_latex, read_manuscript
from assay.ledger.texts.latex_files import Folders
from assay.ledger.texts.manuscript import Manuscript, Place, Registered, Sources
from assay.ledger.texts.markdown import read_markdown
from assay.ledger.texts.passage import RESULTS_WORDS, Passage
from assay.ledger.texts.values import Value, printed_by, values, values_of

MARKDOWN = (".md", ".markdown", ".mdown")


class Standing(StrEnum):
    """Where a number of a text comes from."""

    BOUND = "bound"
    ASIDE = "set aside"
    LOOSE = "loose"
    WRONG = "wrong"
    UNREAD = "not read"


class Found(NamedTuple):
    """A number in a text, an id that no claim has, or what is not read: where, how it stands, and why.

    It fails the text if it is wrong anywhere, loose among results, or not read where a number could be missed by it.
    """

    path: str
    line: int
    column: int
    text: str
    standing: Standing
    why: str
    claims: tuple[str, ...]
    results: bool
    fails: bool

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
    """All numbers of one file."""

    path: str
    found: tuple[Found, ...]

    def count(self, standing: Standing) -> int:
        """How many numbers stand so."""
        return Counter(one.standing for one in self.found)[standing]

    @property
    def share(self) -> float | None:
        """Bound numbers among those that are not set aside; None where there is none."""
        counted = sum(one.standing not in (Standing.ASIDE, Standing.UNREAD) for one in self.found)
        return self.count(Standing.BOUND) / counted if counted else None

    @property
    def summary(self) -> str:
        """One line: what was found in the text."""
        shown = [one for one in Standing if one is not Standing.UNREAD or self.count(one)]
        counts = ", ".join(f"{self.count(standing)} {standing}" for standing in shown)
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
        experiments: Mapping[str, str] | None = None,
    ) -> None:
        """Read for `claims`, the sentence as displayed by id; `experiments` are those of which they speak, by id."""
        self._experiments = dict(experiments or {})
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

    def read(self, source: str, path: str, folders: Folders | None = None) -> Manuscript:
        """Read a text, in LaTeX with the files that it names if there are `folders` to find them in.

        ConfigError for one that is neither Markdown nor LaTeX, ClaimError for one that has an unknown mark.
        """
        suffix = Path(path).suffix.lower()
        if suffix in LATEX:
            return read_manuscript(source, path, folders, results=self._results)
        if suffix not in MARKDOWN:
            raise ConfigError(f"{path}: is neither Markdown (.md) nor LaTeX (.tex)")
        sources = Sources()
        sources.add(path, source, file=folders.main if folders else None)
        try:
            return Manuscript(sources, *read_markdown(source, results=self._results))
        except ClaimError as error:
            raise ClaimError(f"{path}: {error}") from error

    def cover(self, source: str, path: str) -> Coverage:
        """Sort all numbers of a text by itself."""
        return self.covers(self.read(source, path))[0]

    def covers(self, manuscript: Manuscript) -> list[Coverage]:
        """Sort all numbers of a text, for each of its files."""
        found = [one for passage in manuscript.passages for one in self._passage(passage, manuscript)]
        for unread in manuscript.unread:
            place = manuscript.sources.place(unread.offset)
            found.append(Found(*place, unread.text, Standing.UNREAD, unread.why, (), results=False, fails=unread.fails))
        files: dict[str, list[Found]] = {part.path: [] for part in manuscript.sources.parts if part.shown}
        for one in found:
            files.setdefault(one.path, []).append(one)
        return [Coverage(path, once(inside)) for path, inside in files.items()]

    def _passage(self, passage: Passage, manuscript: Manuscript) -> Iterator[Found]:
        rules = asides(passage.text, passage.masked, names=self._names, constants=self._constants)
        found = list(values_of(passage))
        starts = [value.start for value, _ in found]
        place = manuscript.sources.place
        for sentence in sentences(passage, self.sizes):
            known = [value for claim in sentence.claims for value in self.printed(claim)]
            inside = found[bisect_left(starts, sentence.start) : bisect_left(starts, sentence.end)]
            for value, by_reader in inside:
                if not _in(value, sentence.cited + sentence.unknown):
                    rule = reason(rules, value.start, value.end)
                    span = passage.spans[value.start]
                    standing, why = self._registered(value, manuscript.registered.get(span, ())) or self._standing(
                        sentence, value, known, by_reader, rule
                    )
                    yield _found(place(span[0]), value.text, standing, why, sentence.claims, results=passage.results)
            for cited in sentence.unknown:
                why = f"cites ({cited.claim}): no claim has this id"
                where = place(passage.spans[cited.start][0])
                yield _found(where, cited.claim, Standing.WRONG, why, (), results=passage.results)

    def _registered(self, value: Value, numbers: Sequence[Registered]) -> tuple[Standing, str] | None:
        """How a number stands that `assay report` printed; None for any other one."""
        for one in numbers:
            own = [other for passage in read_latex(one.text) for other in self.prose(passage)]
            if not printed_by(own, value):
                continue
            result = f"{one.key} of {one.experiment}"
            for claim in self._displays:
                if self._experiments.get(claim, one.experiment) == one.experiment and printed_by(
                    self.printed(claim), value
                ):
                    return Standing.BOUND, f"{result}, by \\assay ({claim})"
            return Standing.WRONG, f"prints {value.text} as {result}, and no claim prints it: run assay report again"
        return None

    def _standing(
        self, sentence: Sentence, value: Value, known: Iterable[Value], by_reader: str, rule: str
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


def _found(place: Place, text: str, standing: Standing, why: str, claims: tuple[str, ...], *, results: bool) -> Found:
    fails = standing is Standing.WRONG or (standing is Standing.LOOSE and results)
    return Found(*place, text, standing, why, claims, results, fails)


def once(found: Iterable[Found]) -> tuple[Found, ...]:
    """Findings in the order of their places, each place and text once: the gravest of them."""
    gravity = (Standing.BOUND, Standing.ASIDE, Standing.LOOSE, Standing.UNREAD, Standing.WRONG)
    worst: dict[tuple[int, int, str], Found] = {}
    for one in found:
        key = one.line, one.column, one.text
        worst[key] = max(worst.get(key, one), one, key=lambda two: (two.fails, gravity.index(two.standing)))
    return tuple(sorted(worst.values(), key=lambda one: (one.line, one.column)))
