"""Numbers of a report have few digits, and the same number of them down a column."""

from __future__ import annotations

import math

import pytest

from assay.report.digits import column, decimals, duration, fixed, size


@pytest.mark.parametrize(
    ("values", "places"),
    [
        ([12345.6], 0),
        ([123.4], 0),
        ([12.3], 1),
        ([1.23, 0.001], 2),
        ([0.5], 3),
        ([-0.0002], 6),
        ([1e-9], None),
        ([], 1),
    ],
)
def test_the_largest_value_has_three_significant_digits(values: list[float], places: int | None) -> None:
    assert decimals(values) == places


def test_non_finite_values_do_not_choose_the_digits() -> None:
    assert decimals([math.nan, math.inf, 0.0, 2.5]) == 2


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (-0.0001, 2, "0.00"),
        (-0.006, 2, "-0.01"),
        (1234.5, 0, "1,234"),
        (math.nan, 2, "NaN"),
        (-math.inf, 2, "-∞"),
        (1.2345e-9, None, "1.23e-09"),
        (0.0, None, "0"),
    ],
)
def test_a_float_is_printed_in_full_and_never_as_minus_zero(value: float, places: int | None, text: str) -> None:
    assert fixed(value, places) == text


def test_each_declared_type_has_its_form() -> None:
    assert column([0.5, -0.25], "float64") == ["0.500", "-0.250"]
    assert column([0.5, -0.25], "float64", places=1) == ["0.5", "-0.2"]
    assert column([1000, 2], "int64") == ["1,000", "2"]
    assert column([True, False], "bool") == ["yes", "no"]
    assert column(["a"], "string") == ["a"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (4.21, "4.2 s"),
        (59.99, "60.0 s"),
        (987.5, "16 min 28 s"),
        (3599.9, "1 h 0 min"),
        (11100, "3 h 5 min"),
    ],
)
def test_durations_as_people_say_them(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [(None, "–"), (940, "940 B"), (33_113, "33.1 kB"), (999_900, "1 MB"), (1_951_371_264, "1.95 GB")],
)
def test_sizes_in_powers_of_a_thousand(n_bytes: int | None, text: str) -> None:
    assert size(n_bytes) == text
