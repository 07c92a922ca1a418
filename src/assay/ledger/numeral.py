"""One number as it is printed, and the exact comparison with a registered value.

A numeral holds when rounding the registered value at the printed precision gives it back. The registered value is taken
at its shortest decimal representation (`repr`): 0.8745 is the tie that a reader sees, not the binary number just below
it. A tie holds for both neighbours and is flagged. All arithmetic is exact, so integers beyond 2**53 are too.
"""

from __future__ import annotations

import functools
import re
from decimal import ROUND_HALF_EVEN, Context, Decimal, Inexact, localcontext
from numbers import Integral, Real
from typing import NamedTuple

from assay.errors import ClaimError

EXACT = Context(prec=6_000, Emax=999_999, Emin=-999_999, traps=[Inexact])
_ROUND = Context(prec=6_000, Emax=999_999, Emin=-999_999, rounding=ROUND_HALF_EVEN, traps=[])
_LONGEST_INTEGER = 4_000  # decimal digits
_SMALL = 2**64
_MINUS = "\u2212"
_NUMERAL = re.compile(
    r"(?P<sign>[-+\u2212]?)(?P<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)?(?P<fraction>\.[0-9]+)?"
    r"(?:(?P<e>[eE])(?P<power>[-+\u2212]?[0-9]{1,3}))?(?P<suffix> ?%)?"
)
_ADVICE = (
    (re.compile("[\u2010-\u2015]"), "a dash is not a minus: write - or \u2212"),
    (re.compile("[\u00d7\u00b7]|10\\^"), "write powers of ten as 1.2e-3"),
    (re.compile(r"^[-+\u2212]?[0-9]+,[0-9]+"), "the decimal sign is a point, and thousands are groups of three digits"),
    (re.compile(r"[0-9]\s?per\s?cent"), "write % in the braces: 53.8%"),
    (re.compile(r"[0-9] of [0-9]"), "write a count as 23/40"),
    (re.compile(r"[0-9]\s?\([^)]*[0-9][-,;\u2013][^)]*\)"), "write an interval as 1.65 [0.53, 3.00]"),
    (re.compile(r"[0-9]\([0-9]+\)"), "write 0.85(2) as 0.85 +- 0.02"),
    (re.compile(r"[0-9] [0-9]"), "thousands are grouped with a comma: 3,000"),
    (re.compile(r"[0-9]\.%?$"), "digits must follow the decimal point"),
)
_FORMS = (
    "the forms are 14, 0.25, +0.01, 3,000, 87.5%, 1.2e-3, 14/20, [0.1, 0.2], 0.85 +- 0.02, < 0.001, or a word alone"
)


class NotANumberError(TypeError):
    """A registered value is not one real number (a truth value, a text, a table)."""


class Nearness(NamedTuple):
    """Whether a value rounds to a numeral; `why` says why not, and is empty when it does."""

    holds: bool
    tie: bool
    why: str


_NEAR = Nearness(holds=True, tie=False, why="")


class Numeral(NamedTuple):
    """A printed number: its value as read (87.5 for 87.5%), and the power of ten of its last printed digit."""

    text: str
    value: Decimal
    place: int
    sign: str
    percent: bool
    thousands: bool
    scientific: bool

    @property
    def precision(self) -> int:
        """Printed digits: significant ones of a scientific numeral, those behind the point of any other."""
        return len(self.value.as_tuple().digits) if self.scientific else -self.place

    @property
    def negative_zero(self) -> bool:
        """Whether a minus stands before nothing but zeros."""
        return self.sign == "-" and not self.value

    def near(self, value: Decimal) -> Nearness:
        """Compare with a finite registered value in its own unit; a percent compares 100 times it."""
        if self.negative_zero:
            return Nearness(holds=False, tie=False, why=f"{self.text} is a negative zero; print 0 or more digits")
        if self.percent:
            value = value.scaleb(2, EXACT)
        if self.sign == "+" and value <= 0:
            return Nearness(holds=False, tie=False, why=f"{self.text} says positive, the registered value is not")
        if value == self.value:
            return _NEAR
        distance = EXACT.abs(EXACT.subtract(value, self.value))
        half = self._half_unit(value)
        if distance < half:
            return _NEAR
        if distance == half:
            return Nearness(holds=True, tie=True, why="")
        return Nearness(holds=False, tie=False, why="the registered value does not round to the printed one")

    def _half_unit(self, value: Decimal) -> Decimal:
        """Half of the last printed place; a tenth of it below a scientific power of ten, where the grid is finer."""
        place = self.place - 1
        if not self.scientific:
            return _five_at(place)
        digits = self.value.as_tuple().digits
        finer = digits[0] == 1 and not any(digits[1:]) and abs(value) < abs(self.value)
        return _five_at(place - 1 if finer else place)

    def render(self, value: Decimal) -> str:
        """Print another finite value in this form: same precision, sign rule, grouping and percent."""
        if self.percent:
            value = value.scaleb(2, EXACT)
        digits = self._scientific(abs(value)) if self.scientific else self._fixed(abs(value))
        zero = not any(character in "123456789" for character in digits.lower().partition("e")[0])
        if value < 0 and not zero:
            sign = _MINUS if _MINUS in self.text else "-"
        else:
            sign = "+" if self.sign == "+" and value > 0 else ""
        return sign + digits + self._suffix()

    def _suffix(self) -> str:
        return self.text[len(self.text.rstrip("% ")) :]

    def _fixed(self, value: Decimal) -> str:
        rounded = value.quantize(Decimal((0, (1,), self.place)), context=_ROUND)
        text = f"{rounded:,f}" if self.thousands else f"{rounded:f}"
        return text[1:] if text.startswith("0.") and re.match(r"[-+\u2212]?\.", self.text) else text

    def _scientific(self, value: Decimal) -> str:
        with localcontext(_ROUND):
            mantissa, _, power = f"{value:.{self.precision - 1}e}".partition("e")
        printed = re.search(r"([eE])([-+\u2212]?)([0-9]+)", self.text)
        letter, sign, width = printed.groups() if printed else ("e", "", "0")
        exponent = int(power)
        lead = (_MINUS if sign == _MINUS else "-") if exponent < 0 else ("+" if sign == "+" else "")
        padded = str(abs(exponent)).zfill(len(width) if width.startswith("0") else 1)
        return f"{mantissa}{letter}{lead}{padded}"


@functools.cache
def _five_at(place: int) -> Decimal:
    return Decimal((0, (5,), place))


def numeral(text: str) -> Numeral:
    """Read one printed number.

    Accepted: `14`, `0.25`, `.25`, `+0.01`, `3,000`, `87.5%`, `87.5 %`, `1.2e-3`; a minus may be `-` or U+2212.
    Raises ClaimError, naming what is wrong, for anything else.
    """
    found = _NUMERAL.fullmatch(text)
    if not found or not (found["whole"] or found["fraction"]):
        advice = next((advice for pattern, advice in _ADVICE if pattern.search(text)), _FORMS)
        raise ClaimError(f"{text!r} is not a printed number: {advice}")
    whole = found["whole"] or ""
    if len(whole) > 1 and whole.startswith("0"):
        raise ClaimError(f"{text!r} starts with a zero that is not a digit of it: remove it")
    sign = found["sign"].replace(_MINUS, "-")
    power = (found["power"] or "0").replace(_MINUS, "-")
    value = Decimal(f"{sign}{whole.replace(',', '') or '0'}{found['fraction'] or ''}e{power}")
    scientific = found["e"] is not None
    if scientific and (len(whole) != 1 or whole == "0"):
        raise ClaimError(f"{text!r} needs one digit from 1 to 9 before the point, as in 1.2e-3")
    place = value.as_tuple().exponent
    return Numeral(
        text=text,
        value=value,
        place=int(place),
        sign=sign,
        percent=found["suffix"] is not None,
        thousands="," in whole,
        scientific=scientific,
    )


def is_truth(value: object) -> bool:
    """Whether a value is a truth value: Python's own, or NumPy's (`bool_` before NumPy 2, `bool` since)."""
    kind = type(value)
    return kind is bool or (kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"))


def exact(value: object) -> Decimal:
    """A registered number as the decimal that a reader sees: integers exactly, floats at their shortest representation.

    Raises NotANumberError for a truth value and for anything that is not one real number.
    """
    if type(value) is float:  # most values are a float or a small whole number: asked first
        return Decimal(float.__repr__(value))
    if type(value) is int and -_SMALL < value < _SMALL:
        return Decimal(value)
    if is_truth(value):
        raise NotANumberError(f"{value} is a truth value, not a number")
    if isinstance(value, float):
        return Decimal(float.__repr__(value))
    if type(value) is int or isinstance(value, Integral):
        whole = int(value)
        if whole.bit_length() > _LONGEST_INTEGER * 3:
            raise NotANumberError(f"an integer of {whole.bit_length()} bits is longer than a claim can print")
        return Decimal(whole)
    if isinstance(value, Decimal):
        return value
    if isinstance(value, Real) and not hasattr(value, "numerator"):
        return Decimal(str(value))
    raise NotANumberError(f"{value!r} is not a number")
