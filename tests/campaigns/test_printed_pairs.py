"""500 pairs of a registered value and a printed text, each right or wrong by decimal arithmetic of this file's own.

The oracle rounds the decimal that Python prints for the value: up and down at a tie, which both hold; one unit of the
last printed place further on never holds. The pairs that no arithmetic decides were written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Any, NamedTuple

from assay.ledger.printed import matches, parse
from assay.runs.values import Count
from assay.seeds import stream
from assay.stats.estimate import Estimate

WANTED = 500


class Pair(NamedTuple):
    """A registered value, what is printed, and whether that holds."""

    value: Any
    printed: str
    holds: bool


BY_HAND = [
    *(Pair(0.8745, text, holds) for text, holds in (("0.874", True), ("0.875", True), ("0.873", False))),
    *(Pair(2.675, text, holds) for text, holds in (("2.67", True), ("2.68", True), ("2.66", False), ("2.675", True))),
    *(Pair(0.1815, text, holds) for text, holds in (("0.181", True), ("0.182", True), ("0.183", False))),
    *(Pair(0.1 + 0.2, text, holds) for text, holds in (("0.3", True), ("0.30000000000000004", True), ("0.31", False))),
    *(Pair(-0.0004, text, holds) for text, holds in (("-0.000", False), ("0.000", True), ("-0.0004", True))),
    *(Pair(0.0, text, holds) for text, holds in (("0", True), ("-0", False), ("+0.0", False), ("0.0", True))),
    *(Pair(1.0, text, holds) for text, holds in (("1", True), ("1.00", True), ("1.01", False), ("+1", True))),
    *(Pair(0.995, text, holds) for text, holds in (("1.00", True), ("0.99", True), ("1.0", True), ("0.995", True))),
    *(Pair(-2.5, text, holds) for text, holds in (("-2", True), ("-3", True), ("-2.5", True), ("+2.5", False))),
    *(Pair(14, text, holds) for text, holds in (("14", True), ("15", False), ("14.0", True), ("1.4e1", True))),
    *(Pair(2**53 + 1, text, holds) for text, holds in ((f"{2**53 + 1}", True), (f"{2**53}", False))),
    *(Pair(3000, text, holds) for text, holds in (("3,000", True), ("3000", True), ("3,001", False))),
    *(Pair(0.0273, text, holds) for text, holds in (("2.7%", True), ("2.73 %", True), ("2.8%", False), ("3%", True))),
    *(Pair(9.5e-4, text, holds) for text, holds in (("9.5e-4", True), ("1e-3", True), ("9e-4", True), ("8e-4", False))),
    *(Pair(0.001, text, holds) for text, holds in (("< 0.001", False), ("<= 0.001", True), (">= 0.001", True))),
    *(Pair(0.0004, text, holds) for text, holds in (("< 0.001", True), ("> 0.001", False), ("< 0.04%", False))),
    *(Pair(Count(14, 20), text, holds) for text, holds in (("14/20", True), ("14/21", False), ("13/20", False))),
    *(Pair(Count(16, 580), text, holds) for text, holds in (("16/585 (2.7%)", False), ("16/580 (2.8%)", True))),
    *(Pair(Count(1, 8), text, holds) for text, holds in (("12.5%", True), ("0.12", True), ("0.13", True))),
    *(
        Pair(Count(14, 20), text, holds)
        for text, holds in (("70%", True), ("0.7", True), ("14", False), ("71%", False))
    ),
    *(Pair(True, text, holds) for text, holds in (("supported", True), ("not supported", False), ("1", False))),
    *(Pair(False, text, holds) for text, holds in (("no", True), ("yes", False), ("False", True), ("0", False))),
    *(Pair(float("nan"), text, False) for text in ("0", "0.5", "< 1", "> 1", "nan", "yes")),
    *(Pair(float("inf"), text, False) for text in ("1e9", "> 1", "inf")),
    *(Pair("SmolLM2-135M", text, holds) for text, holds in (("SmolLM2-135M", True), ("SmolLM2-136M", False))),
]
INTERVALS = [
    Pair(Estimate(0.851, 0.829, 0.871, 9), text, holds)
    for text, holds in (
        ("0.85", True),
        ("0.86", False),
        ("[0.83, 0.87]", True),
        ("[0.82, 0.87]", False),
        ("0.85 [0.83, 0.87]", True),
        ("0.85 [0.83, 0.88]", False),
        ("85% [83%, 87%]", True),
        ("[82.9, 87.1] %", True),
        ("0.85 +- 0.02", True),
        ("0.85 \u00b1 0.03", False),
        ("0.851 +/- 0.021", False),  # lopsided at this precision: the middle is 0.850
    )
]


def rounded(value: Decimal, unit: Decimal) -> set[Decimal]:
    """What `value` rounds to at a unit: one number, or both neighbours at a tie."""
    return {value.quantize(unit, rounding=way) for way in (ROUND_HALF_UP, ROUND_HALF_DOWN)}


def fixed(rng: Any) -> Iterator[Pair]:
    """Decimals, plain, signed, in thousands and in percent, the right ones and their neighbours."""
    while True:
        value = float(repr(round(float(rng.normal()) * 10.0 ** int(rng.integers(-3, 5)), int(rng.integers(0, 9)))))
        places = int(rng.integers(0, 6))
        percent, signed, grouped = (bool(rng.integers(0, 4) == 0) for _ in range(3))
        seen = Decimal(repr(value)) * (100 if percent else 1)
        unit = Decimal(1).scaleb(-places)
        right = rounded(seen, unit)
        for goal in (*right, min(right) - unit, max(right) + unit):
            if not goal or (signed and seen <= 0):
                continue  # signs of zero are settled by hand
            text = f"{goal:{'+' if signed else ''}{',' if grouped else ''}.{places}f}"
            yield Pair(value, text + "%" * percent, goal in right)


def scientific(rng: Any) -> Iterator[Pair]:
    """Powers of ten: as many significant digits as are printed; neighbours on the grid of what is printed."""
    while True:
        value = float(repr(float(rng.uniform(1, 10)) * 10.0 ** int(rng.integers(-12, 12))))
        digits = int(rng.integers(1, 7))
        seen = Decimal(repr(value))
        low, high = (Context(prec=digits, rounding=way).create_decimal(seen) for way in (ROUND_FLOOR, ROUND_CEILING))
        near = {goal for goal in (low, high) if abs(goal - seen) == min(abs(low - seen), abs(high - seen))}
        grid = Context(prec=digits)
        for goal in (low, high, low.next_minus(grid), high.next_plus(grid)):
            yield Pair(value, f"{goal:.{digits - 1}e}".replace("e+", "e"), goal in near)


def pairs() -> list[Pair]:
    """The table: by hand, then drawn, without repetition."""
    table = dict.fromkeys([*BY_HAND, *INTERVALS])
    drawn = [fixed(stream(2_026, "fixed")), scientific(stream(2_026, "scientific"))]
    while len(table) < WANTED:
        table |= dict.fromkeys(next(source) for source in drawn)
    return list(table)


def test_every_pair_of_the_table_is_judged_right() -> None:
    table = pairs()
    wrong = [pair for pair in table if matches(parse(pair.printed), pair.value).holds is not pair.holds]
    assert wrong == []
    assert len(table) >= WANTED
    assert min(sum(pair.holds for pair in table), sum(not pair.holds for pair in table)) > WANTED / 4


def test_a_judge_that_rounds_as_python_formats_would_be_seen() -> None:
    def formats(pair: Pair) -> bool:
        return f"{pair.value:.{len(pair.printed.partition('.')[2])}f}" == pair.printed

    plain = [pair for pair in pairs() if isinstance(pair.value, float) and pair.printed.replace(".", "").isdigit()]
    assert any(formats(pair) is not pair.holds for pair in plain)
