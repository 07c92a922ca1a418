"""Where values are moved to: past the printed precision, and not an inch less; far away where nothing is printed."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from assay.ledger.moves import moved, moved_part, non_finite
from assay.ledger.printed import finite, matches, parse
from assay.runs.values import Count
from assay.stats.estimate import Estimate

PAIRS: list[tuple[Any, str]] = [
    (0.0123, "+0.0123"),
    (0.01234, "0.0123"),
    (-0.5, "-0.5"),
    (14, "14"),
    (0, "0"),
    (0.0, "0.00"),
    (3000, "3,000"),
    (0.875, "87.5%"),
    (0.875, "88 %"),
    (0.0012, "1.2e-3"),
    (0.001, "1.0e-3"),
    (1234, "1.2e3"),
    (0.0004, "< 0.001"),
    (0.4, "> 0.25"),
    (0.25, ">= 0.25"),
    (3, "<= 3"),
    (0.0004, "< 1%"),
    (True, "supported"),
    (False, "no"),
    ("SmolLM2-135M", "SmolLM2-135M"),
    (Count(14, 20), "14/20"),
    (Count(0, 20), "0/20"),
    (Count(20, 20), "20/20"),
    (Count(16, 580), "16/580 (2.8%)"),
    (Count(14, 20), "70%"),
    (Count(1, 1), "100%"),
    (Count(700_000, 1_000_000), "0.7"),
    (Estimate(0.85, 0.83, 0.87, 100), "0.85"),
    (Estimate(0.85, 0.83, 0.87, 100), "[0.83, 0.87]"),
    (Estimate(0.85, 0.83, 0.87, 100), "0.85 [0.83, 0.87]"),
    (Estimate(0.85, 0.83, 0.87, 100), "85% [83%, 87%]"),
    (Estimate(0.85, 0.83, 0.87, 100), "0.85 +- 0.02"),
    (Estimate(0.85, 0.85, 0.85, 1), "[0.85, 0.85]"),
    (np.float64(0.5), "0.5"),
    (np.int64(5), "5"),
    (Decimal("0.25"), "0.25"),
]


@pytest.mark.parametrize(("value", "text"), PAIRS, ids=[f"{value}-{text}" for value, text in PAIRS])
def test_every_move_leaves_the_printed_text(value: Any, text: str) -> None:
    printed = parse(text)
    assert matches(printed, value).holds
    found = moved(value, [printed])
    assert found
    for other in found:
        assert finite(other)
        assert not matches(printed, other).holds, other


@pytest.mark.parametrize("text", ["0.0123", "+0.0123", "12.3", "1.23%", "1.23e-2"])
def test_a_move_is_hardly_more_than_half_a_printed_place(text: str) -> None:
    number = parse(text).numerals[0]
    value = float(number.value.scaleb(-2 if number.percent else 0))
    place = 10.0 ** (number.place - (2 if number.percent else 0))
    assert [abs(other - value) / place for other in moved(value, [parse(text)])] == pytest.approx([0.55, 0.55])


@pytest.mark.parametrize(
    ("value", "others"),
    [
        (0.5, [-0.5, 500.0, 0.0005, 0.5005]),
        (0.0, [1.0, -1.0]),
        (7, [-7, 7000, 0, 8, 6]),
        (0, [1, -1]),
        (1e306, [-1e306, 1e303, 1e306 * 1.001]),
        (True, [False]),
        ("a", ["(moved)"]),
        (None, ["(moved)"]),
        ([1, "a"], [[-1, "a"], [1000, "a"], [0, "a"], [2, "a"], [1, "(moved)"], [1, "a", "a"]]),
        ([], [[1]]),
        ({"a": True}, [{"a": False}]),
        (Count(14, 20), [Count(0, 20), Count(20, 20), Count(15, 20), Count(14, 20001)]),
        (Count(0, 0), [Count(0, 1)]),
    ],
    ids=repr,
)
def test_a_value_that_nobody_prints_goes_far(value: Any, others: list[Any]) -> None:
    assert moved(value) == others


def test_an_estimate_moves_in_every_part() -> None:
    estimate = Estimate(0.5, 0.25, 0.75, 8)
    found = moved(estimate)
    for part in ("value", "low", "high", "n"):
        assert any(getattr(other, part) != getattr(estimate, part) for other in found)
    assert Estimate(-0.5, -0.75, -0.25, 8) in found
    assert any(other.low < 0 < other.high for other in found)


@pytest.mark.parametrize(
    ("whole", "part", "text"),
    [
        (Estimate(0.85, 0.83, 0.87, 100), "low", "0.83"),
        (Estimate(0.85, 0.83, 0.87, 100), "n", "100"),
        (Count(14, 20), "count", "14"),
        (Count(14, 20), "of", "20"),
        (Count(14, 20, 1), "missing", "1"),
        (Count(14, 20), "share", "70%"),
        (Count(14, 20), "share", "0.7"),
    ],
)
def test_a_part_moves_with_its_whole(whole: Any, part: str, text: str) -> None:
    for found in (moved_part(whole, part, [parse(text)]), moved_part(whole, part)):
        assert found
        assert {type(other) for other in found} == {type(whole)}
        assert any(not matches(parse(text), getattr(other, part)).holds for other in found)


def test_what_can_be_nan_is() -> None:
    assert math.isnan(non_finite(0.5))
    assert math.isnan(non_finite(3))
    assert not finite(non_finite(Estimate(0.5, 0.25, 0.75, 8)))
    assert math.isnan(non_finite(Estimate(0.5, 0.25, 0.75, 8), "low").low)
    assert [non_finite(value) for value in (True, "a", Count(1, 2), [1], None)] == [None] * 5
    assert non_finite(Estimate(0.5, 0.25, 0.75, 8), "n") is None
