"""Values that a text prints, in every printed form one value each, and what a text says of a claim's values.

A value is compared through its atoms: `0.37 [0.35, 0.39]` is a number and an interval, `14/520 (2.7%)` a count and a
number. Two atoms are equal when their numbers and their printed digits are: `1.0` is not `1.00`, `3,000` is `3000`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple

from assay.errors import ClaimError
from assay.ledger.numeral import Numeral
from assay.ledger.printed import Form, Printed, parse
from assay.ledger.sentence import STUCK
from assay.ledger.texts.passage import Passage

_DIGITS = r"\d\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089\u00bc-\u00be\u2150-\u218b\u2460-\u249b"
_SIGN = "(?:(?<![-\\w.)\\]%])[-+\u2212])?"
_WHOLE = "(?:[0-9]{1,3}(?:[,\u2009\u202f\u00a0][0-9]{3})+(?![0-9])|[0-9]+)"
_POWER = (
    "(?:[eE][-+\u2212]?[0-9]{1,3}|\\s?[\u00d7\u00b7]\\s?10"
    "(?:\\^[-+\u2212]?[0-9]{1,3}|[\u207b\u207a]?[\u00b2\u00b3\u00b9\u2070\u2074-\u2079]{1,3}))"
)
_PERCENT = r"(?:\s?%|(?:\s+|-)[Pp]er\s?cent(?![^\W_]))"
_NUMBER = (
    f"(?:{_SIGN}(?:10\\^[-+\u2212]?[0-9]{{1,3}}|(?:{_WHOLE}(?:\\.[0-9]+)?|\\.[0-9]+){_POWER}?)"
    f"(?:{_PERCENT}|(?![^\\W_]|[{_DIGITS}]|[.:][{_DIGITS}]|,[0-9]{{3}}(?![0-9])|\\^)))"
)
_PLUS_MINUS = "\\s?(?:\u00b1|\\+/?-)\\s?"
_VALUE = re.compile(
    rf"(?P<stuck>{STUCK})|(?P<name>(?![{_DIGITS}])[^\W_]\w*(?:[-.@]\w+)*)"
    rf"|(?P<relation>(?<![-=<>])(?:<=|>=|<|>|\u2264|\u2265))\s?(?P<bound>{_NUMBER})"
    rf"|(?P<count>(?<![0-9_.,/]){_WHOLE})(?:\s?/\s?|(?P<spelled>\sof\s))(?P<of>{_WHOLE})(?![\w/]|[.,]\d)(?:\s\((?P<share>{_NUMBER})\))?"
    rf"|(?P<middle>{_NUMBER}){_PLUS_MINUS}(?P<half>{_NUMBER})"
    rf"|(?P<short>{_SIGN}(?:{_WHOLE})?\.[0-9]+)\((?P<digits>[0-9]{{1,3}})\)(?P<exponent>{_POWER})?(?!\w)"
    rf"|(?:(?P<value>{_NUMBER})\s)?\[\s?(?P<low>{_NUMBER})[,;]\s?(?P<high>{_NUMBER})\s?\](?P<percent>{_PERCENT})?"
    rf"|(?P<number>{_NUMBER})"
    rf"|(?P<other>{_SIGN}\.?[{_DIGITS}](?:[^\W_]|[{_DIGITS}.,/:^-])*)"
)
_NUMERALS = ("bound", "count", "of", "share", "middle", "half", "value", "low", "high", "number")
_RELATIONS = {"\u2264": "<=", "\u2265": ">="}
_SUPERSCRIPT = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b\u207a", "0123456789-+")


class Atom(NamedTuple):
    """One thing that is compared: what it is (a relation included), and its numbers with their printed digits."""

    kind: str
    numbers: tuple[tuple[Decimal, int, bool], ...]


class Value(NamedTuple):
    """A value in a text, from `start` to `end`; `printed` is None where it has no form that a claim could print.

    `numerals` are the spans of its single numbers. A word with digits is a value too, and `name` says so. A count is
    `spelled` in words, `16 of 585`.
    """

    text: str
    start: int
    end: int
    printed: Printed | None
    numerals: tuple[tuple[int, int], ...]
    name: bool = False
    spelled: bool = False

    def moved(self, by: int) -> Value:
        """The same value, further on."""
        numerals = tuple((start + by, end + by) for start, end in self.numerals)
        return self._replace(start=self.start + by, end=self.end + by, numerals=numerals)

    @property
    def atoms(self) -> tuple[tuple[Atom, tuple[int, ...]], ...]:
        """What is compared, each with the places of its numbers among `numerals`."""
        if self.printed is None:
            return ((Atom(self.text, ()), ()),)
        number = [_key(numeral) for numeral in self.printed.numerals]
        form = self.printed.form
        if form is Form.RELATION:
            sign = self.printed.literals[0].strip()
            return ((Atom(_RELATIONS.get(sign, sign), (number[0],)), (0,)),)
        if form in (Form.COUNT, Form.COUNT_SHARE):
            return ((Atom("count", (*number[:2],)), (0, 1)), *((Atom("number", (one,)), (2,)) for one in number[2:]))
        if form is Form.INTERVAL:
            return ((Atom("interval", (*number,)), (0, 1)),)
        if form is Form.VALUE_INTERVAL:
            return (Atom("number", (number[0],)), (0,)), (Atom("interval", (*number[1:],)), (1, 2))
        if form is Form.PLUS_MINUS:
            return ((Atom("plus-minus", (*number,)), (0, 1)),)
        return ((Atom("number", (number[0],)), (0,)),)

    @property
    def singles(self) -> tuple[tuple[Atom, tuple[int, ...]], ...]:
        """Each number alone; of a relation none, since it says something else without it."""
        if self.printed is None or self.printed.form is Form.RELATION:
            return ()
        return tuple((Atom("number", (_key(one),)), (at,)) for at, one in enumerate(self.printed.numerals))

    @property
    def parts(self) -> tuple[tuple[Atom, tuple[int, ...]], ...]:
        """Atoms and single numbers: `16 of 585` prints what `16/585` does."""
        return (*self.atoms, *self.singles)


def values_of(passage: Passage) -> Iterator[tuple[Value, str]]:
    """Every value of a passage with the reason why it is set aside by its reader; none reaches over into prose."""
    found = [(value, "") for value in values(passage.masked)]
    for why, run in groupby(range(len(passage.text)), key=lambda at: passage.asides[at]):
        if why:
            start, *_ = places = list(run)
            apart = values(passage.text[start : places[-1] + 1])
            found += [(value.moved(start), why) for value in apart]
    return iter(sorted(found, key=lambda one: one[0].start))


def values(text: str) -> Iterator[Value]:
    """Every value in a text, words with digits included, in order."""
    for found in _VALUE.finditer(text):
        if found["stuck"]:
            continue
        if found["name"]:
            if re.search(rf"[{_DIGITS}]", found[0]):
                yield Value(found[0], found.start(), found.end(), None, (), name=True)
        elif found["other"]:
            raw = found[0].rstrip(".,/:^-")
            yield Value(raw, found.start(), found.start() + len(raw), None, ())
        else:
            yield _value(found)


def _value(found: re.Match[str]) -> Value:
    spans = sorted(found.span(name) for name in _NUMERALS if found[name] is not None)
    text = canonical(found)
    try:
        printed = parse(text)
    except ClaimError:
        return Value(" ".join(found[0].split()), found.start(), found.end(), None, ())
    if found["spelled"]:
        text = " ".join(found[0].split())
    return Value(text, found.start(), found.end(), printed, tuple(spans), spelled=bool(found["spelled"]))


def canonical(found: re.Match[str]) -> str:
    """A value as a claim would print it."""
    part = {name: plain_number(found[name]) for name in _NUMERALS if found[name] is not None}
    if "bound" in part:
        return f"{found['relation']} {part['bound']}"
    if "count" in part:
        return f"{part['count']}/{part['of']}" + (f" ({part['share']})" if "share" in part else "")
    if "middle" in part:
        middle, half = part["middle"], part["half"]
        percent = "%" if "%" in middle + half else ""  # of one of the two it is one of both
        return f"{middle.rstrip('%')}{percent} +- {half.rstrip('%')}{percent}"
    if found["short"]:
        middle = plain_number(found["short"])
        places = len(middle.partition(".")[2])
        return f"{middle} +- {Decimal(found['digits']).scaleb(-places):f}{found['exponent'] or ''}"
    if "low" in part:
        value = part.get("value", "")
        percent = "%" if found["percent"] or (value.endswith("%") and "%" not in part["low"] + part["high"]) else ""
        missing = "%" if percent and not value.endswith("%") else ""
        return (f"{value}{missing} " if value else "") + f"[{part['low']}, {part['high']}]{percent}"
    return part["number"]


def plain_number(text: str) -> str:
    """A number in the spelling of claims: thousands with a comma, powers of ten with e, no space."""
    text = re.sub(r"(?:\s+|-)[Pp]er\s?cent$", "%", text)
    text = re.sub("[\u2009\u202f\u00a0](?=[0-9]{3})", ",", text)
    text = re.sub(r"^([-+\u2212]?)10\^", r"\g<1>1e", text)
    found = re.fullmatch(r"(.*?)\s?[\u00d7\u00b7]\s?10\^?(.*?)(\s?%)?", text)
    if found:
        text = f"{found[1]}e{found[2].translate(_SUPERSCRIPT)}{found[3] or ''}"
    return "".join(text.split())


def printed_by(printed: Iterable[Value], value: Value) -> bool:
    """Whether claims that print these values print each atom of a value.

    `16 of 585` is the count `16/585`, or two numbers that are printed each on its own, and not as parts of counts.
    """
    values = list(printed)
    known = {atom for one in values for atom, _ in one.parts}
    if all(atom in known for atom, _ in value.atoms):
        return True
    apart = {atom for one in values for atom, _ in one.atoms}
    return value.spelled and all(atom in apart for atom, _ in value.singles)


def _key(numeral: Numeral) -> tuple[Decimal, int, bool]:
    return numeral.value, numeral.place, numeral.percent
