"""One number with its interval: the only form in which an uncertain quantity leaves the science column."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

from assay.errors import EstimateError


@dataclass(frozen=True)
class Estimate:
    """A value with an interval from ``low`` to ``high`` over ``n`` items, in the unit of the value.

    The value may lie outside its interval (bias-corrected intervals do that); ``low`` above ``high`` is an error.
    A number that could not be had is NaN, never 0, and then ``reason`` says why. A reason may also flag a finite
    estimate, for example one from few clusters.

    Raises:
        EstimateError: not numbers, ``low > high``, negative ``n``, or a NaN without a reason.
    """

    value: float
    low: float
    high: float
    n: int
    reason: str = ""

    def __post_init__(self) -> None:
        for name in ("value", "low", "high"):
            object.__setattr__(self, name, _number(name, getattr(self, name)))
        object.__setattr__(self, "n", _count(self.n))
        if not isinstance(self.reason, str):
            raise EstimateError(f"Estimate: the reason must be text, got {self.reason!r}.")
        absent = [name for name in ("value", "low", "high") if math.isnan(getattr(self, name))]
        if absent and not self.reason.strip():
            raise EstimateError(
                f"Estimate: {', '.join(absent)} is NaN without a reason. Give reason= why it is missing."
            )
        if self.low > self.high:
            raise EstimateError(f"Estimate: low {self.low!r} lies above high {self.high!r}. Swap or recompute them.")

    @property
    def known(self) -> bool:
        """Whether value and both ends are numbers (not NaN)."""
        return not any(math.isnan(part) for part in (self.value, self.low, self.high))


def _number(name: str, given: object) -> float:
    if isinstance(given, bool | str | bytes) or not hasattr(given, "__float__"):
        raise EstimateError(f"Estimate: {name} must be a real number, got {given!r}.")
    return float(given)


def _count(given: object) -> int:
    try:
        n = operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        raise EstimateError(f"Estimate: n must be a whole number of items, got {given!r}.") from None
    if isinstance(given, bool) or n < 0:
        raise EstimateError(f"Estimate: n must be a number of items, 0 or more, got {given!r}.")
    return n
