"""Where a registered value is moved to, to see whether a claim notices: just past its printed precision, or far away.

A printed number goes 0.55 of its last printed place to either side of what is printed: far enough that no rounding
gives the printed text back. A number that no brace prints has no precision; it changes its sign, grows and shrinks a
thousandfold, and moves by a thousandth. Truth values flip, texts become another text, and every number is once NaN.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from assay.errors import AssayError
from assay.ledger.numeral import EXACT, Numeral
from assay.ledger.printed import Form, Printed

_PAST = Decimal("0.55")  # of the last printed place; half of it still rounds to what is printed
_FAR = 1000
_ENDS = {
    Form.INTERVAL: ("low", "high"),
    Form.VALUE_INTERVAL: ("value", "low", "high"),
}
OTHER_WORD = "(moved)"
"""What a text is moved to."""

PARTS = ("count", "of", "missing", "share", "value", "low", "high", "n")
"""Names under which the parts of a Count or an Estimate are read."""


def is_count(value: Any) -> bool:
    """Whether a value is a count with its denominator."""
    return hasattr(value, "count") and hasattr(value, "of")


def is_estimate(value: Any) -> bool:
    """Whether a value is an estimate with its interval."""
    return hasattr(value, "value") and hasattr(value, "low") and hasattr(value, "high")


def moved(value: Any, printed: Sequence[Printed] = ()) -> list[Any]:
    """Other values than `value`, finite and each once: past the precision of the forms that print it, else far away."""
    value = _plain(value)
    found = [one for form in printed for one in _past(value, form)] or list(_far(value))
    return _distinct(found, value)


def moved_part(whole: Any, part: str, printed: Sequence[Printed] = ()) -> list[Any]:
    """Counts or estimates that differ from `whole` in one part; a share moves with the count."""
    if part == "share":
        return moved(whole, printed)
    return _distinct(_with(whole, [{part: other} for other in moved(getattr(whole, part), printed)]), whole)


def non_finite(value: Any, part: str = "") -> Any:
    """`value` with NaN in it (of an estimate in one part); None where nothing can be NaN (counts, words)."""
    value = _plain(value)
    if is_estimate(value):
        if part == "n":
            return None
        return dataclasses.replace(
            value, **{part or "value": math.nan}, reason="moved to see whether the claim notices"
        )
    return math.nan if isinstance(value, int | float) and not isinstance(value, bool) else None


def _plain(value: Any) -> Any:
    """A Python number for a NumPy one or an exact decimal."""
    if isinstance(value, Decimal):
        return float(value)
    return value.item() if hasattr(value, "item") and not isinstance(value, list | dict | str) else value


def _distinct(values: Iterable[Any], original: Any) -> list[Any]:
    found: dict[str, Any] = {repr(value): value for value in values}
    found.pop(repr(original), None)
    return list(found.values())


def _with(whole: Any, changes: Iterable[dict[str, Any]]) -> Iterator[Any]:
    """Changed copies of a count or an estimate; a change that it refuses (count > of, low > high) is no value of it."""
    for change in changes:
        try:
            yield dataclasses.replace(whole, **change)
        except AssayError:
            continue


def _past(value: Any, printed: Printed) -> Iterator[Any]:
    """Values that do not round to what is printed any more."""
    if isinstance(value, bool | str):
        yield from _far(value)
    elif is_count(value):
        yield from _past_count(value, printed)
    elif is_estimate(value):
        yield from _past_estimate(value, printed)
    elif isinstance(value, int | float) and printed.numerals:
        yield from _past_number(value, printed)


def _past_number(value: float, printed: Printed) -> Iterator[float]:
    number = printed.numerals[0]
    step = _step(number)
    ways = [step, -step]
    if printed.form is Form.RELATION:  # only one way leaves it
        ways = [step] if printed.literals[0].strip() in ("<", "<=", "\u2264") else [-step]
    for way in ways:
        goal = _unscaled(number, number.value + way)
        whole = math.ceil(goal) if way > 0 else math.floor(goal)
        yield whole if isinstance(value, int) else float(goal)


def _step(number: Numeral) -> Decimal:
    return _PAST.scaleb(number.place, EXACT)


def _unscaled(number: Numeral, value: Decimal) -> Decimal:
    return value.scaleb(-2, EXACT) if number.percent else value


def _past_count(value: Any, printed: Printed) -> Iterator[Any]:
    if printed.form in (Form.COUNT, Form.COUNT_SHARE):
        steps = [{"count": value.count + 1}, {"count": value.count - 1}, {"of": value.of + 1}, {"of": value.of - 1}]
        yield from _with(value, steps)
        return
    for goal in _past_number(value.share, printed):
        near = goal * value.of
        yield from _with(value, [{"count": math.ceil(near) if goal > value.share else math.floor(near)}])


def _past_estimate(value: Any, printed: Printed) -> Iterator[Any]:
    for number, part in zip(printed.numerals, _ENDS.get(printed.form, ("value",)), strict=False):
        single = Printed(number.text, Form.RELATION if printed.form is Form.RELATION else Form.DECIMAL, (number,))
        single = single._replace(literals=printed.literals)
        yield from _with(value, [{part: goal} for goal in _past_number(float(getattr(value, part)), single)])
    if printed.form is Form.PLUS_MINUS:
        wider = float(_unscaled(printed.numerals[1], 2 * _step(printed.numerals[1])))
        steps = [{"low": value.low - way, "high": value.high + way} for way in (wider, -wider)]
        yield from _with(value, steps)


def _far(value: Any) -> Iterator[Any]:
    """Values far from one whose precision nobody printed."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (-value, value * _FAR, int(value / _FAR), value + 1, value - 1)
    elif isinstance(value, float):
        goals = (-value, value * _FAR, value / _FAR, value * (1 + 1 / _FAR)) if value else (1.0, -1.0)
        yield from (goal for goal in goals if math.isfinite(goal))
    elif is_count(value):
        yield from _with(value, [{"count": count} for count in (0, value.of, value.count + 1)])
        yield from _with(value, [{"of": value.of * _FAR + 1}])
    elif is_estimate(value):
        yield from _far_estimates(value)
    elif isinstance(value, list):
        yield from ([*value[:at], other, *value[at + 1 :]] for at, one in enumerate(value) for other in _far(one))
        yield [*value, *(value[-1:] or [1])]
    elif isinstance(value, dict):
        yield from ({**value, name: other} for name, one in value.items() for other in _far(one))
    else:
        yield OTHER_WORD


def _far_estimates(value: Any) -> Iterator[Any]:
    whole = [{"value": -value.value, "low": -value.high, "high": -value.low}]
    whole += [{part: getattr(value, part) * by for part in ("value", "low", "high")} for by in (_FAR, 1 / _FAR)]
    parts = [{part: goal} for part in ("value", "low", "high") for goal in _far(getattr(value, part))]
    yield from _with(value, [*whole, *parts, {"n": value.n + 1}])
