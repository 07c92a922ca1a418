"""Text as its reader sees it, each character with the place in the source from which it came.

Readers of Markdown and LaTeX put a text down as passages: a paragraph, a list item, a heading, a row of a table. What
is no prose (code, links, references, formulas) stays in the passage, marked with the reason why its numbers are set
aside.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from assay.errors import ClaimError

CLAIMREF = "claimref"
"""The reason of characters that cite a claim by a command made for it, whether or not a claim has that id."""

RESULTS_WORDS = ("abstract", "result")
"""Headings with a word that starts so are about results, unless pyproject.toml says `claims_results`."""

_MARK = re.compile(r"\s*claims:\s*(?P<word>\S.*?)\s*")
_NEWLINE = re.compile(r"\r\n?|\n")
_NEWLINES = re.compile(r"[\r\n]")


@final
@dataclass(frozen=True, slots=True)
class Passage:
    """Characters, for each the span of the source behind it and the reason why it is no prose (empty where it is)."""

    text: str
    spans: tuple[tuple[int, int], ...]
    asides: tuple[str, ...]
    results: bool
    row: bool = False

    @property
    def prose(self) -> str:
        """The text with a letter in the place of every character that is set aside; citations of claims stay."""
        if not any(self.asides):
            return self.text
        pairs = zip(self.text, self.asides, strict=True)
        return "".join("x" if aside and aside != CLAIMREF else character for character, aside in pairs)

    @property
    def masked(self) -> str:
        """The text with NUL in the place of every character that is set aside: no letter, so that no word goes on."""
        if not any(self.asides):
            return self.text
        return "".join("\0" if aside else character for character, aside in zip(self.text, self.asides, strict=True))


@final
class Sections:
    """Whether what is read now is about results: by the heading above it, or between two marks."""

    def __init__(self, words: Sequence[str] = RESULTS_WORDS) -> None:
        """A heading with a word that starts with one of `words` opens results, up to a heading of the same level."""
        self._words = tuple(word.casefold() for word in words)
        self._level: int | None = None
        self._marked = False

    @property
    def about_results(self) -> bool:
        """Whether no number may be loose here."""
        return self._marked or self._level is not None

    def heading(self, level: int, title: str) -> None:
        """Pass a heading; 1 is the highest level."""
        if self._level is not None and level <= self._level:
            self._level = None
        words = re.findall(r"\w+", title.casefold())
        if self._level is None and any(word.startswith(self._words) for word in words):
            self._level = level

    def mark(self, comment: str, line: int) -> None:
        """Pass a comment: `claims: results` opens results, `claims: end` closes them; ClaimError for another word."""
        found = _MARK.fullmatch(comment)
        if found is None:
            return
        if found["word"] not in ("results", "end"):
            raise ClaimError(f"line {line}: claims: {found['word']} is no mark; known are claims: results, claims: end")
        self._marked = found["word"] == "results"


@final
class Setter:
    """Sets passages: takes characters with their places, and breaks."""

    def __init__(self, sections: Sections) -> None:
        """Ask `sections` at each break what the passage is about."""
        self.sections = sections
        self.passages: list[Passage] = []
        self._text: list[str] = []
        self._spans: list[tuple[int, int]] = []
        self._asides: list[str] = []

    def __len__(self) -> int:
        return len(self._text)

    def put(self, text: str, start: int, end: int, *, aside: str = "") -> None:
        """Set `text`, which stands in the source from `start` to `end`; line ends become spaces."""
        if len(text) == end - start:
            self._spans.extend(zip(range(start, end), range(start + 1, end + 1), strict=True))
        else:
            self._spans.extend([(start, end)] * len(text))
        self._text.extend(_NEWLINES.sub(" ", text) if "\n" in text or "\r" in text else text)
        self._asides.extend([aside] * len(text))

    def tail(self, start: int) -> str:
        """What was set since the `start`-th character of this passage."""
        return "".join(self._text[start:])

    def reasons(self, start: int) -> list[str]:
        """Why each character since the `start`-th one of this passage is set aside."""
        return self._asides[start:]

    def to_prose(self, start: int, reason: str) -> None:
        """Take characters that were set aside for `reason` back into the prose."""
        self._asides[start:] = ["" if aside == reason else aside for aside in self._asides[start:]]

    def set_aside(self, start: int, end: int, reason: str) -> None:
        """Set characters of this passage aside after all."""
        self._asides[start:end] = [aside or reason for aside in self._asides[start:end]]

    def end(self, *, row: bool = False) -> None:
        """End the passage; one without letters or digits is dropped."""
        if any(character.isalnum() for character in self._text):
            results = self.sections.about_results
            self.passages.append(
                Passage("".join(self._text), tuple(self._spans), tuple(self._asides), results=results, row=row)
            )
        self._text, self._spans, self._asides = [], [], []

    def apart(self) -> Setter:
        """Another setter of the same sections, for a passage inside of this one; `join` takes its passages."""
        return Setter(self.sections)

    def join(self, other: Setter) -> None:
        """Take the passages of a setter that stood apart."""
        other.end()
        self.passages += other.passages


@final
class Lines:
    """Lines and columns (both from 1) of the places in a source."""

    def __init__(self, source: str) -> None:
        """Count the lines of `source`, whatever ends them."""
        self.starts = [0, *(found.end() for found in _NEWLINE.finditer(source))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1
