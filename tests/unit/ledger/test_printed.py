"""Printed values in all their forms."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from assay.errors import ClaimError
from assay.ledger.printed import Form, finite, matches, parse, shown
from assay.runs import Count
from assay.stats.estimate import Estimate

# An independent oracle: integer arithmetic on fractions, without the code under test.


def shortest(value: float) -> Fraction:
    """The fraction that a reader of `repr(value)` sees."""
    return Fraction(repr(value))


def rounds_to(value: Fraction, shown: Fraction, unit: Fraction) -> bool:
    """Whether `shown` is one of the multiples of `unit` nearest to `value`."""
    steps = value / unit
    below = Fraction(steps.numerator // steps.denominator)
    nearest = min(abs(steps - below), abs(steps - below - 1))
    return abs(steps - shown / unit) == nearest and (shown / unit).denominator == 1


def fixed(steps: int, digits: int) -> str:
    """`steps` units of 10**-digits in figures."""
    whole, rest = divmod(abs(steps), 10**digits)
    return ("-" if steps < 0 else "") + str(whole) + (f".{rest:0{digits}d}" if digits else "")


def pairs(count: int) -> list[tuple[float, str, bool]]:
    """Values, printed texts near them, and whether each holds."""
    rng = random.Random(20261130)
    found: list[tuple[float, str, bool]] = []
    while len(found) < count:
        digits = rng.randrange(5)
        unit = Fraction(1, 10**digits)
        form = rng.choice(("plain", "signed", "percent", "tie"))
        value = round(rng.uniform(-30, 30), rng.randrange(1, 9))
        if form == "tie":  # half a unit off a printed number
            value = float(f"{rng.randrange(-5000, 5000) * 10 + 5}e-{digits + 1}")
        scale = 100 if form == "percent" else 1
        seen = shortest(value) * scale
        steps = int(seen / unit) + rng.choice((-1, 0, 0, 1))
        holds = rounds_to(seen, steps * unit, unit)
        text = fixed(steps, digits)
        if form == "signed" and steps >= 0:
            text = f"+{text}"
            holds = holds and seen > 0
        found.append((value, text + ("%" if form == "percent" else ""), holds))
    return found


TABLE = pairs(500)
NAN, INF = math.nan, math.inf
BETWEEN = Estimate(0.85, 0.83, 0.87, 100)


@pytest.mark.parametrize(("value", "text", "holds"), TABLE, ids=map(str, range(500)))
def test_table_of_five_hundred(value: float, text: str, *, holds: bool) -> None:
    assert matches(parse(text), value).holds is holds


def test_the_table_has_both_verdicts_and_ties() -> None:
    assert 100 < sum(holds for _, _, holds in TABLE) < 400
    assert sum(matches(parse(text), value).tie for value, text, _ in TABLE) > 30


@pytest.mark.parametrize(
    ("text", "value", "holds", "tie"),
    [
        ("0.875", 0.8745, True, True),
        ("0.874", 0.8745, True, True),
        ("0.873", 0.8745, False, False),
        ("2.68", 2.675, True, True),
        ("2.67", 2.675, True, True),
        ("0.182", 0.1815, True, True),
        ("-0.000", -0.0004, False, False),
        ("-0.000", 0.0, False, False),
        ("0.000", -0.0004, True, False),
        ("0.0", -0.0, True, False),
        ("+0.00", 0.003, True, False),
        ("+0.00", -0.003, False, False),
        ("+0.01", -0.01, False, False),
        ("0.01", -0.01, False, False),
        ("3,000", 3000, True, False),
        ("3,000", 2999.6, True, False),
        ("3,000", 3001, False, False),
        ("14", 14.0, True, False),
        ("3.0", 3, True, False),
        ("9007199254740993", 2**53 + 1, True, False),
        ("9007199254740992", 2**53 + 1, False, False),
        ("87.5%", 0.875, True, False),
        ("87.5%", 87.5, False, False),
        ("88%", 0.875, True, True),
        ("100%", 1, True, False),
        ("1.2e-3", 0.00123, True, False),
        ("1.2e-3", 0.00126, False, False),
        ("14/20", Count(14, 20), True, False),
        ("14 / 20", Count(14, 20), True, False),
        ("13/20", Count(14, 20), False, False),
        ("14/21", Count(14, 20), False, False),
        ("14/520 (2.7%)", Count(14, 520), True, False),
        ("14/520 (2.8%)", Count(14, 520), False, False),
        ("14/20 (0.70)", Count(14, 20), True, False),
        ("70%", Count(14, 20), True, False),
        ("0.70", Count(14, 20), True, False),
        ("14", Count(14, 20), False, False),
        ("14/20", 14, False, False),
        ("14/20", 0.7, False, False),
        ("0.85", BETWEEN, True, False),
        ("[0.83, 0.87]", BETWEEN, True, False),
        ("[0.83, 0.88]", BETWEEN, False, False),
        ("[0.8, 0.9]", BETWEEN, True, False),
        ("[83%, 87%]", BETWEEN, True, False),
        ("[83, 87]%", BETWEEN, True, False),
        ("[0.83, 0.87]", 0.85, False, False),
        ("0.85 [0.83, 0.87]", BETWEEN, True, False),
        ("0.86 [0.83, 0.87]", BETWEEN, False, False),
        ("0.85 +- 0.02", BETWEEN, True, False),
        ("0.85 +/- 0.02", BETWEEN, True, False),
        ("0.85\u00b10.02", BETWEEN, True, False),
        ("0.85 +- 0.03", BETWEEN, False, False),
        ("85% +- 2%", BETWEEN, True, False),
        ("0.85 +- 0.03", Estimate(0.85, 0.80, 0.86, 9), False, False),
        ("< 0.001", 0.0009, True, False),
        ("< 0.001", 0.001, False, False),
        ("> 0.25", 0.25000000001, True, False),
        ("> 25%", 0.3, True, False),
        ("<= 3", 3, True, False),
        ("\u2265 4", 3, False, False),
        ("> -0.0", 1.0, False, False),
        ("supported", True, True, False),
        ("Supported", True, True, False),
        ("not supported", False, True, False),
        ("not\n  supported", False, True, False),
        ("yes", False, False, False),
        ("true", 1, False, False),
        ("yes", np.True_, True, False),
        ("supported", np.False_, False, False),
        ("1", np.True_, False, False),
        ("100%", np.True_, False, False),
        ("1", True, False, False),
        ("0", False, False, False),
        ("SmolLM2-135M", "SmolLM2-135M", True, False),
        ("SmolLM2-136M", "SmolLM2-135M", False, False),
        ("SmolLM2-135M", 135.0, False, False),
        ("14", "14", True, False),
    ],
)
def test_forms(text: str, value: object, *, holds: bool, tie: bool) -> None:
    match = matches(parse(text), value)
    assert (match.holds, match.tie) == (holds, tie), match
    assert match.finite
    assert holds is (match.why == "")


@pytest.mark.parametrize("value", [NAN, INF, -INF, Estimate(NAN, 0.1, 0.2, 3, reason="none")])
@pytest.mark.parametrize("text", ["0", "nan", "NaN", "Infinity", "< 1", "> 0", "1.0e3", "5%", "true"])
def test_what_is_not_finite_never_holds(value: object, text: str) -> None:
    match = matches(parse(text), value)
    assert not match.holds
    assert not match.finite
    assert not finite(value)


@pytest.mark.parametrize("text", ["[0.1, 0.2]", "0.1 +- 0.1", "0.1 [0.1, 0.2]"])
def test_an_interval_without_ends_never_holds(text: str) -> None:
    match = matches(parse(text), Estimate(0.1, NAN, NAN, 1, reason="one cluster"))
    assert not match.holds
    assert not match.finite


def test_nothing_out_of_nothing_has_no_share() -> None:
    assert not matches(parse("0/0 (0%)"), Count(0, 0)).holds
    assert matches(parse("0/0"), Count(0, 0)).holds


@pytest.mark.parametrize(
    ("text", "form", "precision"),
    [
        ("14", Form.INTEGER, (0,)),
        ("1.0", Form.DECIMAL, (1,)),
        ("1.00", Form.DECIMAL, (2,)),
        ("+0.10", Form.SIGNED, (2,)),
        ("3,000", Form.THOUSANDS, (0,)),
        ("87.5%", Form.PERCENT, (1,)),
        ("1.20e-3", Form.SCIENTIFIC, (3,)),
        ("14/20", Form.COUNT, (0, 0)),
        ("14/520 (2.7%)", Form.COUNT_SHARE, (0, 0, 1)),
        ("[0.1, 0.20]", Form.INTERVAL, (1, 2)),
        ("0.15 [0.1, 0.20]", Form.VALUE_INTERVAL, (2, 1, 2)),
        ("0.85 +- 0.02", Form.PLUS_MINUS, (2, 2)),
        ("< 0.001", Form.RELATION, (3,)),
        ("yes", Form.WORD, ()),
        ("SmolLM2-135M", Form.TEXT, ()),
    ],
)
def test_form_and_precision(text: str, form: Form, precision: tuple[int, ...]) -> None:
    assert (parse(text).form, parse(text).precision) == (form, precision)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[0.1,0.2]",
        "[0.1; 0.2]",
        "[80%, 90%]%",
        "[10%, 0.5]",
        "0.3 [10%, 0.5]",
        "0.85 +- -0.02",
        "85% +- 0.02",
        "1/2/3",
    ],
)
def test_what_has_no_form_is_refused(text: str) -> None:
    with pytest.raises(ClaimError):
        parse(text)


@pytest.mark.parametrize(
    ("text", "value", "seen"),
    [
        ("13/20", Count(14, 20), "14/20"),
        ("+0.0119", 0.0123, "+0.0123"),
        ("3,000", 12345.6, "12,346"),
        ("[0.80, 0.87]", BETWEEN, "[0.83, 0.87]"),
        ("0.80 \u00b1 0.01", BETWEEN, "0.85 \u00b1 0.02"),
        ("13/520 (2.5%)", Count(14, 520), "14/520 (2.7%)"),
        ("Yes", False, "No"),
        ("< 0.001", 0.004, "0.004"),
        ("< 1%", 0.3, "30%"),
    ],
)
def test_registered_as_printed(text: str, value: object, seen: str) -> None:
    assert matches(parse(text), value).registered_as_printed == seen


def test_shown_is_unrounded() -> None:
    assert shown(0.1 + 0.2) == "0.30000000000000004"
    assert shown(Count(1, 3)) == "1/3"
    assert shown(BETWEEN) == "0.85 [0.83, 0.87]"
