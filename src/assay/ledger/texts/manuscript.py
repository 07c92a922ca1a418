"""A text with all the files that belong to it, read: its passages, and what of it cannot be read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, final

from assay.ledger.texts.fragment import Span
from assay.ledger.texts.passage import Lines, Passage


class Place(NamedTuple):
    """File, line and column (both from 1)."""

    path: str
    line: int
    column: int


class Unread(NamedTuple):
    """What stands in a text and is not read: where, what, and why; `fails` if a number could be missed by it."""

    offset: int
    text: str
    why: str
    fails: bool


class Macro(NamedTuple):
    """A command that a text defines.

    `arguments` has the default of each argument, None where it is in braces. `odd` says why its text is not read, and
    `condition` names the conditional within which it is defined; both are empty as a rule.
    """

    name: str
    arguments: tuple[str | None, ...]
    body: str
    place: int
    odd: str = ""
    condition: str = ""


class Registered(NamedTuple):
    """A number that a text prints from the file of numbers that `assay report` writes."""

    experiment: str
    key: str
    text: str


class Part(NamedTuple):
    """A file of a text; `shown` if its numbers are those of the text, and not only definitions for it."""

    path: str
    text: str
    start: int
    lines: Lines
    file: Path | None
    shown: bool


@final
class Sources:
    """The files of a text laid one behind the other, so that every place in them is one offset."""

    def __init__(self) -> None:
        """Begin without a file."""
        self.parts: list[Part] = []
        self._starts: list[int] = []

    def add(self, path: str, text: str, *, file: Path | None = None, shown: bool = True) -> int:
        """Lay a file behind the others; the offset of its first character."""
        start = self.parts[-1].start + len(self.parts[-1].text) + 1 if self.parts else 0
        self.parts.append(Part(path, text, start, Lines(text), file, shown))
        self._starts.append(start)
        return start

    @property
    def text(self) -> str:
        """All files as one text."""
        return "\n".join(part.text for part in self.parts)

    def part(self, offset: int) -> Part:
        """The file in which a character stands."""
        return self.parts[bisect_right(self._starts, offset) - 1]

    def place(self, offset: int) -> Place:
        """File, line and column of a character."""
        part = self.part(offset)
        return Place(part.path, *part.lines.place(offset - part.start))


@final
@dataclass(frozen=True)
class Manuscript:
    """A text, read. `macros` says which macro stands behind a span, `uses` how often each was used."""

    sources: Sources
    passages: Sequence[Passage]
    unread: Sequence[Unread] = ()
    macros: dict[Span, Macro] = field(default_factory=dict)
    uses: dict[str, int] = field(default_factory=dict)
    registered: dict[Span, list[Registered]] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The path of the file that was named."""
        return self.sources.parts[0].path
