"""Another number in the place of one, in its spelling: separators, minus, power of ten and percent sign stay."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from assay.ledger.numeral import Numeral
from assay.ledger.texts.passage import Passage

_SHAPE = re.compile(
    "(?P<sign>[-+\u2212]?)(?P<whole>[0-9,\u2009\u202f\u00a0]*)(?P<fraction>\\.[0-9]+)?"
    "(?:(?P<base>[eE]|\\s?[\u00d7\u00b7]\\s?10\\^?|\\^)(?P<power>[-+\u2212]?[0-9]+|[\u207b\u207a]?[\u00b2\u00b3\u00b9\u2070\u2074-\u2079]+))?"
    "(?P<percent>\\s?%|(?:\\s+|-)[Pp]er\\s?cent)?"
)
_NEW = re.compile(
    "(?P<sign>[-+\u2212]?)(?P<whole>[0-9,]*)(?P<fraction>\\.[0-9]+)?(?:[eE](?P<power>[-+\u2212]?[0-9]+))?\\s?%?"
)
_RAISED = str.maketrans(
    "0123456789-+\u2212", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b\u207a\u207b"
)


class Edit(NamedTuple):
    """A span of a source and the text that replaces it."""

    start: int
    end: int
    text: str


def respell(source: str, passage: Passage, span: tuple[int, int], new: Numeral, *, thousands: str) -> list[Edit] | None:
    """Edits that print `new` where `span` of a passage prints a number; None where its spelling cannot carry it.

    That is so where the number comes from a macro, markup stands inside of it, or one has a power of ten and the other
    has none. `thousands` separates groups where the old number was too short to show a separator.
    """
    start, end = span
    old, other = _SHAPE.fullmatch(passage.text[start:end]), _NEW.fullmatch(new.text)
    if old is None or other is None or bool(old["power"]) != bool(other["power"]):
        return None
    stop = start + old.end("fraction" if old["fraction"] else "whole")
    place = _place(source, passage, start, stop)
    if place is None or stop == start:
        return None
    edits = [Edit(*place, _mantissa(source, passage, start, old, other, thousands))]
    if old["power"]:
        exponent = _place(source, passage, start + old.start("power"), start + old.end("power"))
        if exponent is None:
            return None
        power = other["power"] or ""
        plain = old["power"].isascii() or "\u2212" in old["power"]
        edits.append(Edit(*exponent, power if plain else power.translate(_RAISED)))
    return [edit for edit in edits if source[edit.start : edit.end] != edit.text]


def _place(source: str, passage: Passage, start: int, end: int) -> tuple[int, int] | None:
    """The stretch of the source behind characters, if they stand there one after the other, each digit as it is."""
    spans = passage.spans[start:end]
    digits = ((one, span) for one, span in zip(passage.text[start:end], spans, strict=True) if one.isdigit())
    if any(source[slice(*span)] != one for one, span in digits):
        return None
    if any(left[1] != right[0] for left, right in pairwise(spans)):
        return None
    return spans[0][0], spans[-1][1]


def _mantissa(source: str, passage: Passage, start: int, old: re.Match[str], new: re.Match[str], thousands: str) -> str:
    sign = new["sign"]
    if sign == "+" and not old["sign"]:
        sign = ""
    elif sign in ("-", "\u2212") and old["sign"] in ("-", "\u2212"):
        sign = old["sign"]
    whole, separator = old["whole"], thousands
    marks = [at for at, character in enumerate(whole) if not character.isdigit()]
    if marks:
        mark = passage.spans[start + old.start("whole") + marks[0]]
        separator = source[mark[0] : mark[1]]
    elif len(whole) > 3:
        separator = ""
    digits = new["whole"].replace(",", "")
    if "," in new["whole"] or marks:
        digits = f"{int(digits):,}".replace(",", separator)
    if not whole and digits == "0":
        digits = ""
    return sign + digits + (new["fraction"] or "")
