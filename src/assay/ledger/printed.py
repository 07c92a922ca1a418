"""A printed value in a sentence: read its form, know its precision, compare it with what a run registered.

Forms: integer, decimal, signed decimal, thousands (`3,000`), percent (`87.5%`, compared with 100 times the value),
scientific (`1.2e-3`), `N/M` (both parts against a Count) and `N/M (2.7%)`, `[low, high]` and `value [low, high]` (an
Estimate), `0.85 +- 0.02` (value and half width of an Estimate), relations (`< 0.001`), words for truth values, and a
text that starts with a letter (compared letter by letter with a registered text).
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from numbers import Integral
from typing import Any, NamedTuple

from assay.errors import ClaimError
from assay.ledger.numeral import EXACT, NotANumberError, Numeral, exact, is_truth, numeral

_COUNT = re.compile(r"(?P<count>[0-9][0-9,]*)(?P<slash> ?/ ?)(?P<of>[0-9][0-9,]*)(?: \((?P<share>[^()]+)\))?")
_INTERVAL = re.compile(r"(?:(?P<value>[^\[\]]+?) )?\[(?P<low>[^\[\]]+?), (?P<high>[^\[\]]+)\](?P<percent> ?%)?")
_PLUS_MINUS = re.compile("(?P<value>.+?)(?P<between> ?(?:\\+-|\\+/-|\u00b1) ?)(?P<half>.+)")
_RELATION = re.compile("(?P<relation><=|>=|<|>|\u2264|\u2265)(?P<space> ?)(?P<bound>.+)")
_RELATIONS = "<>\u2264\u2265"
_OPPOSITE = {"supported": "not supported", "yes": "no", "true": "false"}
_TRUTH = dict.fromkeys(_OPPOSITE, True) | dict.fromkeys(_OPPOSITE.values(), False)


class Form(StrEnum):
    """How a value is printed."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    SIGNED = "signed decimal"
    THOUSANDS = "thousands"
    PERCENT = "percent"
    SCIENTIFIC = "scientific"
    COUNT = "N/M"
    COUNT_SHARE = "N/M (share)"
    INTERVAL = "[low, high]"
    VALUE_INTERVAL = "value [low, high]"
    PLUS_MINUS = "value +- half width"
    RELATION = "relation"
    WORD = "word"
    TEXT = "text"


class Match(NamedTuple):
    """Outcome of one comparison; `registered_as_printed` is the registered value in the printed form."""

    holds: bool
    tie: bool
    registered_as_printed: str
    why: str
    finite: bool = True


class Printed(NamedTuple):
    """A value as a sentence prints it: its form, its numerals, and the literal text around them."""

    text: str
    form: Form
    numerals: tuple[Numeral, ...] = ()
    literals: tuple[str, ...] = ()

    @property
    def precision(self) -> tuple[int, ...]:
        """Printed digits of each numeral, so that 1.0 and 1.00 differ."""
        return tuple(number.precision for number in self.numerals)

    def render(self, values: tuple[Decimal, ...]) -> str:
        """Print other values in this form, one for each numeral."""
        parts = [self.literals[0]]
        for number, value, literal in zip(self.numerals, values, self.literals[1:], strict=True):
            parts += [number.render(value) if value.is_finite() else str(value), literal]
        return "".join(parts)


@lru_cache(maxsize=4096)
def parse(text: str) -> Printed:
    """Read a printed value; ClaimError says what is wrong with one that has no form."""
    text = " ".join(text.split())
    if not text:
        raise ClaimError("nothing is printed: write {key: printed}")
    if text.lower() in _TRUTH:
        return Printed(text, Form.WORD)
    if "/" in text and (found := _COUNT.fullmatch(text)):
        return _count(text, found)
    if text[0] in _RELATIONS and (found := _RELATION.fullmatch(text)):
        return Printed(text, Form.RELATION, (numeral(found["bound"]),), (found["relation"] + found["space"], ""))
    if "[" in text and (found := _INTERVAL.fullmatch(text)):
        return _interval(text, found)
    if text[0].isalpha():
        return Printed(text, Form.TEXT)
    if found := _PLUS_MINUS.fullmatch(text):
        numerals = numeral(found["value"]), numeral(found["half"])
        if numerals[1].sign or numerals[0].percent != numerals[1].percent:
            raise ClaimError(f"{text!r}: the half width has no sign, and is in percent exactly when the value is")
        return Printed(text, Form.PLUS_MINUS, numerals, ("", found["between"], ""))
    number = numeral(text)
    return Printed(text, _form(number), (number,), ("", ""))


def _form(number: Numeral) -> Form:
    if number.percent:
        return Form.PERCENT
    if number.scientific:
        return Form.SCIENTIFIC
    if number.thousands:
        return Form.THOUSANDS
    if number.sign == "+":
        return Form.SIGNED
    return Form.DECIMAL if number.place < 0 else Form.INTEGER


def _count(text: str, found: re.Match[str]) -> Printed:
    count, of = numeral(found["count"]), numeral(found["of"])
    if found["share"] is None:
        return Printed(text, Form.COUNT, (count, of), ("", found["slash"], ""))
    return Printed(text, Form.COUNT_SHARE, (count, of, numeral(found["share"])), ("", found["slash"], " (", ")"))


def _interval(text: str, found: re.Match[str]) -> Printed:
    ends = numeral(found["low"]), numeral(found["high"])
    tail = "]"
    if found["percent"]:
        if any(end.percent for end in ends):
            raise ClaimError(f"{text!r} has percent signs inside and outside the brackets: keep one kind")
        ends = ends[0]._replace(percent=True), ends[1]._replace(percent=True)
        tail += found["percent"]
    value = numeral(found["value"]) if found["value"] is not None else ends[0]
    if len({number.percent for number in (value, *ends)}) > 1:
        raise ClaimError(f"{text!r} mixes percent and plain numbers: print all of them in one unit")
    if found["value"] is None:
        return Printed(text, Form.INTERVAL, ends, ("[", ", ", tail))
    return Printed(text, Form.VALUE_INTERVAL, (value, *ends), ("", " [", ", ", tail))


def matches(printed: Printed, value: object) -> Match:
    """Compare a printed value with a registered number, Count, Estimate, truth value or text.

    `0.85 +- 0.02` holds when the value and the half width (high - low) / 2 round to the printed numbers and the middle
    of the interval is within half a printed place of the value: an interval that is visibly lopsided must be printed
    as `[low, high]`. NaN and infinity never hold; `-0.000` never holds.
    """
    if printed.form is Form.WORD or printed.form is Form.TEXT or isinstance(value, str):
        return _match_word(printed, value)
    try:
        values = _parts(printed, value)
    except NotANumberError as error:
        return Match(holds=False, tie=False, registered_as_printed=shown(value), why=str(error))
    for part in values:
        if not part.is_finite():
            why = "the registered value is not finite"
            return Match(holds=False, tie=False, registered_as_printed=shown(value), why=why, finite=False)
    if printed.form is Form.RELATION:
        return _match_relation(printed, values[0])
    tie = False
    why = _lopsided(printed, value) if printed.form is Form.PLUS_MINUS else ""
    for number, part in zip(printed.numerals, values, strict=True):
        near = number.near(part)
        tie = tie or near.tie
        why = why or near.why
    if not why and not tie:  # rounding gives the printed text back
        return Match(holds=True, tie=False, registered_as_printed=printed.text, why="")
    return Match(holds=not why, tie=tie and not why, registered_as_printed=printed.render(values), why=why)


def shown(value: object) -> str:
    """A registered value unrounded, as a reader would write it."""
    kind: Any = value
    if _is_count(value):
        return f"{kind.count}/{kind.of}"
    if _is_estimate(value):
        return f"{shown(kind.value)} [{shown(kind.low)}, {shown(kind.high)}]"
    if isinstance(value, float):
        return float.__repr__(value)
    return str(value)


def finite(value: object) -> bool:
    """Whether no number in a registered value is NaN or infinite; truth values and texts are finite.

    A count of nothing out of nothing is not: its share is NaN, and it says that nothing was looked at.
    """
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int | str):
        return True
    kind: Any = value
    if _is_count(value):
        return bool(kind.of)
    parts = (kind.value, kind.low, kind.high) if _is_estimate(value) else (kind,)
    try:
        return all(exact(part).is_finite() for part in parts)
    except NotANumberError:
        return True


def _is_count(value: object) -> bool:
    return isinstance(getattr(value, "of", None), Integral) and hasattr(value, "count")


def _is_estimate(value: object) -> bool:
    return hasattr(value, "low") and hasattr(value, "high") and hasattr(value, "value")


def _parts(printed: Printed, value: Any) -> tuple[Decimal, ...]:
    """The registered numbers that stand against the printed numerals."""
    form = printed.form
    if type(value) is float and len(printed.numerals) == 1:  # most values are: asked first
        return (exact(value),)
    if form in (Form.COUNT, Form.COUNT_SHARE):
        if not _is_count(value):
            raise NotANumberError(f"{printed.text} prints a count with its denominator; {shown(value)} is not a Count")
        share = (_share(value),) if form is Form.COUNT_SHARE else ()
        return (exact(value.count), exact(value.of), *share)
    if form in (Form.INTERVAL, Form.VALUE_INTERVAL, Form.PLUS_MINUS):
        if not _is_estimate(value):
            raise NotANumberError(f"{printed.text} prints an interval; {shown(value)} is not an Estimate")
        ends = exact(value.low), exact(value.high)
        if form is Form.PLUS_MINUS:
            return exact(value.value), _half_width(*ends)
        return ends if form is Form.INTERVAL else (exact(value.value), *ends)
    if _is_count(value):
        if not (printed.numerals[0].percent or printed.numerals[0].place < 0):
            raise NotANumberError(f"{shown(value)} is a Count: print N/M, a share, or bind .count")
        return (_share(value),)
    return (exact(value.value if _is_estimate(value) else value),)


def _share(value: Any) -> Decimal:
    return exact(value.count / value.of) if value.of else Decimal("NaN")


def _half_width(low: Decimal, high: Decimal) -> Decimal:
    if not (low.is_finite() and high.is_finite()):
        return Decimal("NaN")
    return EXACT.multiply(EXACT.subtract(high, low), Decimal("0.5"))


def _lopsided(printed: Printed, value: Any) -> str:
    middle = EXACT.multiply(EXACT.add(exact(value.low), exact(value.high)), Decimal("0.5"))
    off = EXACT.subtract(middle, exact(value.value))
    near = printed.numerals[0]._replace(sign="", value=Decimal(0), scientific=False).near(off)
    return "" if near.holds else f"the interval {shown(value)} is lopsided: print [low, high]"


def _match_relation(printed: Printed, value: Decimal) -> Match:
    bound = printed.numerals[0]
    scaled = value.scaleb(2, EXACT) if bound.percent else value
    sign = printed.literals[0].strip()
    holds = {
        "<": scaled < bound.value,
        ">": scaled > bound.value,
        "<=": scaled <= bound.value,
        ">=": scaled >= bound.value,
        "\u2264": scaled <= bound.value,
        "\u2265": scaled >= bound.value,
    }[sign]
    seen = f"{scaled:f}%" if bound.percent else str(value)
    if bound.negative_zero:
        why = f"{bound.text} is a negative zero; print 0"
        return Match(holds=False, tie=False, registered_as_printed=seen, why=why)
    why = "" if holds else f"{seen} is not {printed.text}"
    return Match(holds=holds, tie=False, registered_as_printed=seen, why=why)


def _match_word(printed: Printed, value: object) -> Match:
    word = printed.text.lower()
    truth = bool(value) if is_truth(value) else None
    if printed.form is Form.WORD and truth is not None:
        holds = _TRUTH[word] is truth
        seen = printed.text if holds else _other_word(printed.text)
        return Match(holds=holds, tie=False, registered_as_printed=seen, why="" if holds else f"registered {value}")
    if isinstance(value, str):
        holds = " ".join(value.split()) == printed.text
        return Match(holds=holds, tie=False, registered_as_printed=value, why="" if holds else "the texts differ")
    if not finite(value):
        why = "the registered value is not finite"
        return Match(holds=False, tie=False, registered_as_printed=shown(value), why=why, finite=False)
    why = f"{printed.text!r} is a word; {shown(value)} is not"
    return Match(holds=False, tie=False, registered_as_printed=shown(value), why=why)


def _other_word(text: str) -> str:
    word = text.lower()
    other = _OPPOSITE.get(word) or next(yes for yes, no in _OPPOSITE.items() if no == word)
    return other.capitalize() if text[0].isupper() else other
