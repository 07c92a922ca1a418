"""Mathematics of LaTeX (and of Markdown between dollars): values stand, coefficients and indices are set aside.

A formula falls into sides at its relations and outer commas. On a side that is nothing but values (`p < 0.001`,
`n = 20`, `0.85 \\pm 0.02`, `1.2\\times10^{-3}`, `87.5\\,\\%`, `14/20`), perhaps with a sign of multiplication
(`2.4\\times`) or a unit in words (`2.4\\text{ m}^2`), they are printed numbers; on any other side (`2\\sigma`,
`x_{12}`, `N(0, 1)`, `n - 1`) they belong to the formula.
"""

from __future__ import annotations

import re
from itertools import pairwise

from assay.ledger.texts.fragment import Fragment
from assay.ledger.texts.passage import Setter
from assay.ledger.texts.values import values

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
    ";": "\u2009",
    ":": "\u2009",
    " ": " ",
    "quad": "\t",
    "qquad": "\t",
    ">": " ",
    "=": " ",
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
    "\\": "\t",
    "newline": "\t",
    "{": "{",
    "}": "}",
    "S": "\u00a7",
    "nonumber": "",
    "notag": "",
    "hline": "",
}
"""Commands that stand for characters, in mathematics and in text."""

_SILENT = re.compile(r"(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits)$")
_WORDS = {"text", "mathrm", "textrm", "textnormal", "operatorname", "mbox", "textbf", "textit", "textsf", "unit", "si"}
_STYLES = {"mathbf", "boldsymbol", "bm", "mathit", "mathsf", "mathtt", "ensuremath", "num", "underline", "boxed", "pmb"}
_BESIDE = {
    **dict.fromkeys(("label", "ref", "eqref", "cref", "tag", "cite", "citep", "citet"), "reference"),
    **dict.fromkeys(
        ("color", "textcolor", "mathcolor", "colorbox", "hspace", "vspace", "phantom", "hphantom"), "layout"
    ),
}
_MARKS = re.compile(
    r"(?:[*,\s{}\u2020\u2021]|\\(?:ast|star|bigstar|d?dagger|ddag|dag|circ|prime|S|P|text[a-z]*|mathrm)(?![A-Za-z])"
    r"|(?<![A-Za-z])[a-z]{1,2}(?![A-Za-z]))+"
)
_DEVIATION = re.compile(
    r"\s*(?:(?:\\pm(?![A-Za-z])\s*|\u00b1\s*|[-+(])?[0-9]*\.[0-9]+(?:\\?%)?\)?"
    r"|[\[(]\s*[-+]?[0-9]*\.?[0-9]+\s*(?:,|;|-|--|\u2013)\s*[-+]?[0-9]*\.?[0-9]+\s*[\])])\s*"
)
_APART = re.compile(r"(?P<sign>[-+])\s+(?=[0-9.])")
_FRACTION = re.compile(r"[dt]?frac\s*\{\s*([0-9]+)\s*\}\s*\{\s*([0-9]+)\s*\}")
_COMMAND = re.compile(r"\\(?P<name>[A-Za-z]+|[\s\S])")
_SIDE = re.compile("[\t=\u2248\u223c\u2208\u2192\u2260&:]|[<>\u2264\u2265]")
_LETTER = "\ufffc"  # a symbol without a spelling of its own
_BETWEEN = re.compile(r"(?:\s|%[^\r\n]*)*")  # what may stand before an argument: spaces and comments
_BRACES = re.compile(r"[{}]|\\[\s\S]|%[^\r\n]*")
_HARMLESS = re.compile(r"[\s()\[\]{}.,;|~%\u2026]*")
_SIGNS = re.compile("[-+\u2212\u00b1\u2213\u00d7\u00b7/\u2191\u2193]*")


def group(source: str, start: int, end: int, *, comments: bool = True) -> tuple[int, int, int]:
    """The argument that begins at `start`: where its inside begins and ends, and where reading goes on.

    Without braces the argument is one character or command. Braces in comments do not count; an address has none.
    """
    between = _BETWEEN.match(source, start, end)
    at = between.end() if between else start
    if at >= end or source[at] != "{":
        command = _COMMAND.match(source, at, end)
        stop = command.end() if command else min(at + 1, end)
        return at, stop, stop
    depth = 0
    for found in _BRACES.finditer(source, at, end):
        mark = found[0]
        if mark in "{}":
            depth += 1 if mark == "{" else -1
            if depth == 0:
                return at + 1, found.start(), found.end()
        elif mark[0] == "%" and not comments and "}" in mark:
            depth -= mark.count("}") - mark.count("{")
            if depth <= 0:
                stop = found.start() + mark.index("}")
                return at + 1, stop, stop + 1
    return at + 1, end, end


def formula(setter: Setter, inside: Fragment) -> None:
    """Set the inside of a formula, in which no macro of the text is left."""
    first = len(setter)
    _Formula(setter, inside).read(0, len(inside.text))
    _judge(setter, first)


class _Formula:
    """Sets the characters of one formula; what can never be a value is set aside as it is met."""

    def __init__(self, setter: Setter, fragment: Fragment) -> None:
        self._setter = setter
        self._first = len(setter)
        self._fragment = fragment
        self._source = fragment.text

    def _put(self, text: str, start: int, end: int, why: str = "") -> None:
        self._fragment.put(self._setter, text, start, end, aside=why)

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
                inner, stop, after = group(self._source, at + 1, end)
                if not self._deviation(at, inner, stop, why):
                    self._put("_", inner, inner, "formula")
                    self.read(inner, stop, "formula")
                at = after
            elif self._source.startswith("--", at):
                self._put("\u2013", at, at + 2, why)
                at += 2
            elif (apart := _APART.match(self._source, at, end)) and self._opens():
                self._put(apart["sign"], at, at + 1, why)
                at = apart.end()
            else:
                if character == "~":
                    self._put(" ", at, at + 1, why)
                elif character not in "{}":
                    self._put(character, at, at + 1, why)
                at += 1

    def _opens(self) -> bool:
        """Whether a number may begin here, so that a sign is one of it."""
        before = "".join(self._setter.tail(self._first).split())[-1:]
        return not before or before in "([{,;|" or _SIDE.match(before) is not None

    def _deviation(self, at: int, inner: int, stop: int, why: str) -> bool:
        """Set what stands above or below a number as a number of its own, `87.5_{\\pm 0.3}`; False if it is none."""
        inside = self._source[inner:stop]
        found = _DEVIATION.fullmatch(inside)
        marked = found and re.match(r"\s*(?:\\pm|\u00b1)", inside)
        if not found or not (marked or re.search(r"[0-9)%]\s?$", self._setter.tail(-2))):
            return False
        self._put(" ", at, inner, why)
        self.read(inner, stop, why)
        return True

    def _raised(self, at: int, end: int, why: str) -> int:
        inner, stop, after = group(self._source, at + 1, end)
        if _MARKS.fullmatch(self._source, inner, stop) and self._setter.tail(-1).strip(" )%").isdigit():
            self._put(self._source[at:stop], at, stop, "mark")
            return after
        signed = re.match(r"\s*(?:[-+\u00b1]|\\pm)", self._source[inner:stop]) is not None
        decimal = re.search(r"\.[0-9]+$", self._setter.tail(self._first)) is not None
        if signed and decimal and self._deviation(at, inner, stop, why):
            return after
        if self._setter.reasons(-1) == ["word"]:  # the power of a unit
            self.read(inner, stop, "word")
            return after
        power = re.sub(r"[\s{}]", "", self._source[inner:stop]).replace("\u2212", "-")
        ten = re.search(r"(?<![0-9.])10$", self._setter.tail(-3))
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
        if name in ("begin", "end"):
            return self._environment(name, at, after, end)
        if name in SYMBOLS:
            self._put(SYMBOLS[name], at, after, why)
        elif name in _BESIDE:
            inner, stop, after = group(self._source, after, end)
            self._put(self._source[at:stop], at, stop, _BESIDE[name])
        elif name in _WORDS:
            inner, stop, after = group(self._source, after, end)
            self._put(" ", at, inner, why or "word")
            self.read(inner, stop, why or "word")
        elif name in ("frac", "dfrac", "tfrac", "sqrt", "binom"):
            self._put(_LETTER, at, after, "formula")
        elif not (_SILENT.match(name) or name in _STYLES):
            self._put(_LETTER, at, after, why)
        return after

    def _environment(self, edge: str, at: int, after: int, end: int) -> int:
        """Pass the edge of an environment within the formula; a matrix is no number whatever stands in it."""
        inner, stop, after = group(self._source, after, end)
        name = self._source[inner:stop]
        closing = self._source.find(f"\\end{{{name}}}", after, end) if edge == "begin" and "matrix" in name else -1
        if closing >= 0:
            self.read(after, closing, "formula")
            return closing + len(f"\\end{{{name}}}")
        if name == "array" and edge == "begin":
            after = group(self._source, after, end)[2]
        self._put(self._source[at:after], at, after, "layout")
        return after


def _judge(setter: Setter, first: int) -> None:
    """Set aside the numbers of sides that are more than values; words beside a value are prose again."""
    text, asides = setter.tail(first), setter.reasons(first)
    plain = "".join(
        " " if why in ("word", "mark", "reference", "layout") else _LETTER if why else one
        for one, why in zip(text, asides, strict=True)
    )
    found = [value for value in values(plain) if not value.name]
    inside = {at for value in found for at in range(value.start, value.end)}
    cuts = [0, *_cuts(plain, inside), len(plain)]
    for start, end in pairwise(cuts):
        rest = "".join(" " if at in inside else plain[at] for at in range(start, end))
        rest = rest[1:] if _SIDE.match(rest) else rest
        if sum(start <= value.start < end for value in found) == 1:
            rest = rest.replace("\u00d7", " ", 1)
        rest = re.sub("^\\s*[\u00b1\u2213]|[-+\u2212]", "", rest)  # of a number before the formula, or between two
        if not _HARMLESS.fullmatch(rest) and not _SIGNS.fullmatch("".join(plain[start:end].split())):
            setter.set_aside(first + start, first + end, "formula")
    setter.to_prose(first, "word")


def _cuts(plain: str, inside: set[int]) -> list[int]:
    """Where sides begin: at relations, at brackets before them, and at commas outside of brackets and values."""
    cuts: list[int] = []
    opened: list[int] = []
    for at, character in enumerate(plain):
        if character in "([{":
            opened.append(at)
        elif character in ")]}" and opened:
            opened.pop()
        if _SIDE.match(character):
            cuts += [*opened[-1:], at]  # what a bracket opens with is the other side of this relation
        elif not opened and character in ",;" and at not in inside:
            cuts.append(at + 1)
    return sorted(set(cuts))
