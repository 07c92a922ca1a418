"""One printed number against one registered value."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ClaimError
from assay.ledger.numeral import NotANumberError, exact, numeral


@pytest.mark.parametrize(
    ("text", "value", "place", "precision"),
    [
        ("14", "14", 0, 0),
        ("0.25", "0.25", -2, 2),
        ("1.0", "1.0", -1, 1),
        ("1.00", "1.00", -2, 2),
        (".25", "0.25", -2, 2),
        ("+0.01", "0.01", -2, 2),
        ("\u22120.5", "-0.5", -1, 1),
        ("3,000", "3000", 0, 0),
        ("1,234,567.8", "1234567.8", -1, 1),
        ("87.5%", "87.5", -1, 1),
        ("87.5 %", "87.5", -1, 1),
        ("1.2e-3", "0.0012", -4, 2),
        ("1.20E+03", "1200", 1, 3),
    ],
)
def test_reads_value_and_precision(text: str, value: str, place: int, precision: int) -> None:
    number = numeral(text)
    assert number.value == Decimal(value)
    assert (number.place, number.precision) == (place, precision)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("\u20130.5", "a dash is not a minus"),
        ("0,85", "the decimal sign is a point"),
        ("3 000", "grouped with a comma"),
        ("5.", "digits must follow"),
        ("1.2\u00d710", "1.2e-3"),
        ("007", "starts with a zero"),
        ("0,850", "starts with a zero"),
        ("12e3", "one digit from 1 to 9"),
        ("0.1e3", "one digit from 1 to 9"),
        ("53.8 percent", "write % in the braces"),
        ("23 of 40", "write a count as 23/40"),
        ("1.65 (0.53-3.00)", "write an interval as 1.65"),
        ("1.65 (0.53, 3.00)", "write an interval as 1.65"),
        ("0.85(2)", "write .*as 0.85 .+- 0.02"),
        ("12 wins", "the forms are 14, 0.25, "),
        ("", "not a printed number"),
        ("1e9999", "not a printed number"),
        ("--1", "not a printed number"),
        ("\u0661", "not a printed number"),
    ],
)
def test_refuses_what_it_cannot_read(text: str, advice: str) -> None:
    with pytest.raises(ClaimError, match=advice):
        numeral(text)


def test_exact_keeps_integers_beyond_doubles_and_shortest_floats() -> None:
    assert exact(2**53 + 1) == 2**53 + 1
    assert exact(0.1) == Decimal("0.1")
    assert exact(np.float64(0.1)) == Decimal("0.1")
    assert exact(np.float32(0.1)) == Decimal("0.1")
    assert exact(np.int64(7)) == 7
    assert exact(10**3000) == Decimal(10**3000)


@pytest.mark.parametrize("value", [True, np.True_, "1", None, Fraction(1, 3), [1]])
def test_what_is_not_one_number_is_refused(value: object) -> None:
    with pytest.raises(NotANumberError):
        exact(value)


def test_an_endless_integer_is_refused() -> None:
    with pytest.raises(NotANumberError, match="longer than a claim can print"):
        exact(10**5000)


def test_a_scientific_power_of_ten_has_a_finer_grid_below() -> None:
    assert numeral("1.0e-3").near(Decimal("0.00096")).holds is False
    assert numeral("1.0e-3").near(Decimal("0.000996")).holds is True
    assert numeral("1.0e-3").near(Decimal("0.000995")).tie is True
    assert numeral("1.0e-3").near(Decimal("0.00105")).tie is True


@pytest.mark.parametrize(
    ("text", "value", "again"),
    [
        ("0.00", "-0.001", "0.00"),
        ("+0.01", "-0.02", "-0.02"),
        ("+0.01", "0", "0.00"),
        ("\u22120.5", "-0.71", "\u22120.7"),
        ("3,000", "12345.6", "12,346"),
        ("87.5 %", "0.5", "50.0 %"),
        (".25", "0.5", ".50"),
        (".25", "1.5", "1.50"),
        ("1.20e+03", "4561", "4.56e+03"),
        ("1.2E-3", "12345", "1.2E4"),
        ("9007199254740992", "9007199254740993", "9007199254740993"),
    ],
)
def test_renders_in_the_same_form(text: str, value: str, again: str) -> None:
    assert numeral(text).render(Decimal(value)) == again


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 12))
def test_python_rounding_of_a_decimal_holds(value: float, digits: int) -> None:
    text = f"{Decimal(repr(value)):.{digits}f}"
    near = numeral(text).near(exact(value))
    assert near.holds is not (text.startswith("-") and not text.strip("-0."))


@given(st.floats(min_value=1e-300, max_value=1e300), st.integers(0, 12))
def test_scientific_rounding_of_a_decimal_holds(value: float, digits: int) -> None:
    assert numeral(f"{Decimal(repr(value)):.{digits}e}").near(exact(value)).holds


@given(st.integers(-(10**30), 10**30), st.integers(1, 10**6))
def test_a_whole_number_holds_for_itself_alone(value: int, off: int) -> None:
    assert numeral(f"{value:,}").near(Decimal(value)).holds
    assert not numeral(str(value)).near(Decimal(value + off)).holds


@given(st.decimals(-1000, 1000, places=6), st.integers(0, 4))
def test_what_is_rendered_holds(value: Decimal, digits: int) -> None:
    for form in (f"{1:.{digits}f}", f"+{1:.{digits}f}", f"{1:.{digits}f}%", f"{1:.{digits}e}"):
        if "e" in form and not value:
            continue  # a scientific numeral has no zero
        assert numeral(numeral(form).render(value)).near(value).holds, form
