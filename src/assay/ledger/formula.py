"""Mathematics of LaTeX (and of Markdown between dollars): values stand, coefficients and indices are set aside.

A formula falls into sides at its relations and outer commas. On a side that is nothing but values (`p < 0.001`,
`n = 20`, `0.85 \\pm 0.02`, `1.2\\times10^{-3}`, `87.5\\,\\%`, `14/20`), perhaps with a sign of multiplication
(`2.4\\times`) or a unit in words (`2.4\\text{ m}^2`), they are printed numbers; on any other side (`2\\sigma`,
`x_{12}`, `N(0, 1)`, `n - 1`) they belong to the formula.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from assay.ledger.passage import Setter
from assay.ledger.values import values

SYMBOLS = {
    "times": "\u00d7",
    "cdot": "\u00b7",
    "pm": "\u00b1",
    "mp": "\u2213",
    "%": "%",
    "$": "$",
    "#": "#",
    "_": "_",
    "le": "\u2264",
    "leq": "\u2264",
    "leqslant": "\u2264",
    "ge": "\u2265",
    "geq": "\u2265",
    "geqslant": "\u2265",
    "lt": "<",
    "gt": ">",
    "textless": "<",
    "textgreater": ">",
    "approx": "\u2248",
    "sim": "\u223c",
    "simeq": "\u2248",
    "in": "\u2208",
    "to": "\u2192",
    "rightarrow": "\u2192",
    "neq": "\u2260",
    "ne": "\u2260",
    "equiv": "=",
    ",": "\u2009",
    "thinspace": "\u2009",
    ";": " ",
    ":": " ",
    " ": " ",
    "quad": " ",
    "qquad": " ",
    "!": "",
    "/": "",
    "textpm": "\u00b1",
    "texttimes": "\u00d7",
    "textpercent": "%",
    "ldots": "\u2026",
    "dots": "\u2026",
    "&": "&",
    "textminus": "\u2212",
    "slash": "/",
    "lbrack": "[",
    "rbrack": "]",
    "\\": " ",
}
"""Commands that stand for characters, in mathematics and in text."""

_SILENT = re.compile(r"(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits)$")
_WORDS = {"text", "mathrm", "textrm", "textnormal", "operatorname", "mbox", "textbf", "textit", "textsf", "unit", "si"}
_STYLES = {"mathbf", "boldsymbol", "bm", "mathit", "mathsf", "ensuremath", "num"}
_FRACTION = re.compile(r"[dt]?frac\s*\{\s*([0-9]+)\s*\}\s*\{\s*([0-9]+)\s*\}")
_COMMAND = re.compile(r"\\(?P<name>[A-Za-z]+|[\s\S])")
_SIDE = re.compile("[=\u2248\u223c\u2208\u2192\u2260&:]|[<>\u2264\u2265]")
_LETTER = "\ufffc"  # a symbol without a spelling of its own
_HARMLESS = re.compile(r"[\s()\[\].,;|~%\u2026]*")


def group(source: str, start: int, end: int) -> tuple[int, int, int]:
    """The argument that begins at `start`: where its inside begins and ends, and where reading goes on.

    Without braces the argument is one character or command.
    """
    at = start
    while at < end and source[at].isspace():
        at += 1
    if at >= end or source[at] != "{":
        command = _COMMAND.match(source, at, end)
        stop = command.end() if command else min(at + 1, end)
        return at, stop, stop
    depth, place = 0, at
    while place < end:
        if source[place] == "\\":
            place += 1
        elif source[place] in "{}":
            depth += 1 if source[place] == "{" else -1
            if depth == 0:
                return at + 1, place, place + 1
        place += 1
    return at + 1, end, end


def formula(setter: Setter, inside: str, offset: int, *, macros: Mapping[str, str] | None = None) -> None:
    """Set the inside of a formula, which begins at `offset` in the source; macros without arguments are written out."""
    first = len(setter)
    _Formula(setter, inside, offset, dict(macros or {})).read(0, len(inside))
    _judge(setter, first)


class _Formula:
    """Sets the characters of one formula; what can never be a value is set aside as it is met."""

    def __init__(self, setter: Setter, source: str, offset: int, macros: dict[str, str]) -> None:
        self._macros = macros
        self._setter = setter
        self._source = source
        self._offset = offset

    def _put(self, text: str, start: int, end: int, why: str = "") -> None:
        self._setter.put(text, self._offset + start, self._offset + end, aside=why)

    def read(self, start: int, end: int, why: str = "") -> None:
        """Set the source from `start` to `end`, all of it set aside if `why` says so."""
        at = start
        while at < end:
            character = self._source[at]
            if character == "\\":
                at = self._command(at, end, why)
            elif self._source.startswith(("{,}", "{.}", "{:}"), at):
                self._put(self._source[at + 1], at, at + 3, why)
                at += 3
            elif character == "^":
                at = self._raised(at, end, why)
            elif character == "_":
                inner, stop, at = group(self._source, at + 1, end)
                self._put("_", inner, inner, "formula")
                self.read(inner, stop, "formula")
            else:
                if character == "~":
                    self._put(" ", at, at + 1, why)
                elif character not in "{}":
                    self._put(character, at, at + 1, why)
                at += 1

    def _raised(self, at: int, end: int, why: str) -> int:
        inner, stop, after = group(self._source, at + 1, end)
        if self._setter.reasons(0)[-1:] == ["word"]:  # the power of a unit
            self.read(inner, stop, "word")
            return after
        power = re.sub(r"[\s{}]", "", self._source[inner:stop]).replace("\u2212", "-")
        ten = re.search(r"(?<![0-9.])10$", self._setter.tail(0))
        if ten and re.fullmatch(r"[-+]?[0-9]{1,3}", power):
            self._put("^", at, at + 1, why)
            self.read(inner, stop, why)
        else:
            self._put(_LETTER, at, at + 1, "formula")
            self.read(inner, stop, "formula")
        return after

    def _command(self, at: int, end: int, why: str) -> int:
        found = _COMMAND.match(self._source, at, end)
        if found is None:
            return end
        name, after = found["name"], found.end()
        fraction = _FRACTION.match(self._source, at + 1, end)
        if fraction:
            for place, text in ((1, fraction[1]), (2, fraction[2])):
                self._put(text, *fraction.span(place), why)
                self._put("/" if place == 1 else "", fraction.end(1), fraction.end(1) + 1, why)
            return fraction.end()
        if name in self._macros:
            others = {macro: text for macro, text in self._macros.items() if macro != name}
            written = _Formula(self._setter.apart(), self._macros[name], 0, others)
            written.read(0, len(self._macros[name]), why)
            self._setter.absorb(written._setter, self._offset + at, self._offset + after)
        elif name in SYMBOLS:
            self._put(SYMBOLS[name], at, after, why)
        elif name in _WORDS:
            inner, stop, after = group(self._source, after, end)
            self._put(" ", at, inner, "word")
            self.read(inner, stop, "word")
        elif name in ("frac", "dfrac", "tfrac", "sqrt", "binom"):
            self._put(_LETTER, at, after, "formula")
        elif not (_SILENT.match(name) or name in _STYLES):
            self._put(_LETTER, at, after, why)
        return after


def _judge(setter: Setter, first: int) -> None:
    """Set aside the numbers of sides that are more than values; words beside a value are prose again."""
    text, asides = setter.tail(first), setter.reasons(first)
    plain = "".join(" " if why == "word" else "x" if why else one for one, why in zip(text, asides, strict=True))
    found = [value for value in values(plain) if not value.name]
    inside = {at for value in found for at in range(value.start, value.end)}
    cuts = [0, *_cuts(plain, inside), len(plain)]
    for start, end in pairwise(cuts):
        rest = "".join(" " if at in inside else plain[at] for at in range(start, end))
        rest = rest[1:] if _SIDE.match(rest) else rest
        if sum(start <= value.start < end for value in found) == 1:
            rest = rest.replace("\u00d7", " ", 1)
        if not _HARMLESS.fullmatch(rest):
            setter.set_aside(first + start, first + end, "formula")
    setter.to_prose(first, "word")


def _cuts(plain: str, inside: set[int]) -> list[int]:
    """Where sides begin: at relations, and at commas outside of brackets and values."""
    cuts, depth = [], 0
    for at, character in enumerate(plain):
        depth += (character in "([") - (character in ")]")
        if _SIDE.match(character):
            cuts.append(at)
        elif depth == 0 and character in ",;" and at not in inside:
            cuts.append(at + 1)
    return cuts
