"""Shares of successes with exact intervals, and the sign test: what to report where a bootstrap has zero width.

scipy does the arithmetic. A bootstrap of 0 of n or n of n has no width; the exact interval has.
"""

from __future__ import annotations

import math
import operator
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import binomtest

from assay.axes import Float, Int, NDArray
from assay.errors import EstimateError
from assay.stats.estimate import Estimate


def proportion(successes: int, *, n: int, level: float = 0.95, kind: Literal["exact", "wilson"] = "exact") -> Estimate:
    """Share of successes with the Clopper-Pearson ("exact") or Wilson score interval; for independent trials.

    Raises:
        EstimateError: not whole numbers with 0 <= successes <= n and n >= 1, another kind, a level outside (0, 1).
    """
    if kind not in ("exact", "wilson") or not 0 < level < 1:
        raise EstimateError(f"proportion: kind {kind!r}, level {level}; 'exact' or 'wilson', and a level in (0, 1).")
    successes, n = _trials(successes, n)
    ends = binomtest(successes, n).proportion_ci(level, method=kind)
    return Estimate(successes / n, ends.low, ends.high, n)


def binomial_p(
    successes: int, *, n: int, chance: float, alternative: Literal["two-sided", "greater", "less"] = "two-sided"
) -> float:
    """Exact binomial p of so many successes in ``n`` independent trials at the given chance.

    "two-sided" adds all outcomes that are at most as likely as the one observed.

    Raises:
        EstimateError: as for `proportion`; a chance outside [0, 1], another alternative.
    """
    if alternative not in ("two-sided", "greater", "less") or not 0 <= chance <= 1:
        raise EstimateError(f"binomial_p: alternative {alternative!r}, chance {chance}; a chance lies in [0, 1].")
    successes, n = _trials(successes, n)
    return float(binomtest(successes, n, chance, alternative=alternative).pvalue)


class SignTest(NamedTuple):
    """Directions of differences: how many are positive, negative and exactly zero; p and share leave zeros out."""

    positive: int
    negative: int
    zeros: int
    p: float
    share: Estimate


def sign_test(differences: Float[NDArray, " item"] | Int[NDArray, " item"], *, level: float = 0.95) -> SignTest:
    """Exact two-sided sign test of independent differences; exact zeros are dropped and reported.

    For directions that share models or documents use `sign_flip_p` beside it. All zero: p and share are NaN.

    Raises:
        EstimateError: no differences, or one that is not finite.
    """
    values = _finite("sign_test", differences)
    positive, negative = int((values > 0).sum()), int((values < 0).sum())
    zeros = values.size - positive - negative
    if not positive + negative:
        nothing = Estimate(math.nan, math.nan, math.nan, 0, f"all {zeros} differences are exactly zero")
        return SignTest(0, 0, zeros, math.nan, nothing)
    n = positive + negative
    share = proportion(positive, n=n, level=level)
    return SignTest(positive, negative, zeros, binomial_p(positive, n=n, chance=0.5), share)


def _finite(name: str, given: NDArray) -> NDArray:
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise EstimateError(
            f"{name}: values of shape {values.shape}, {int((~np.isfinite(values)).sum())} not finite; "
            "a list of at least one finite value."
        )
    return values


class _Trials(NamedTuple):
    successes: int
    n: int


def _trials(successes: object, n: object) -> _Trials:
    try:
        trials = _Trials(operator.index(successes), operator.index(n))  # type: ignore[arg-type]
    except TypeError:
        raise EstimateError(f"proportion: {successes!r} of {n!r}; whole numbers of trials.") from None
    if not 0 <= trials.successes <= trials.n or trials.n < 1:
        raise EstimateError(f"proportion: {trials.successes} of {trials.n}; 0 <= successes <= n and n >= 1.")
    return trials
