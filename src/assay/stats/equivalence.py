"""Decisions about a smallest effect of interest (SESOI): supported, not supported or inconclusive, nothing else.

An interval decides. "Not rejected" is never "no difference": equivalence has a margin of its own and must be shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, final

import numpy as np
from statsmodels.stats.weightstats import DescrStatsW

from assay.axes import Float, Int, NDArray
from assay.errors import EstimateError
from assay.stats.estimate import Estimate

Outcome: TypeAlias = Literal["supported", "not supported", "inconclusive"]


@final
@dataclass(frozen=True)
class Decision:
    """An outcome with the statement that was tested, the interval's level and why.

    "not supported" means that the data speak against the statement; too little data is "inconclusive".
    """

    outcome: Outcome
    statement: str
    level: float
    reason: str

    @property
    def alpha(self) -> float:
        """Level of the one-sided test behind the interval: (1 - level) / 2."""
        return (1 - self.level) / 2


class Tost(NamedTuple):
    """Two one-sided tests: effect > -margin, effect < margin, and the larger p, which decides."""

    p_above: float
    p_below: float
    p: float


def superiority(effect: Estimate, *, sesoi: float, level: float) -> Decision:
    """Is the effect above the SESOI? Supported if low > sesoi, not supported if high <= sesoi, else inconclusive.

    ``level`` is that of the interval given: 0.95 tests at .025. A SESOI of 0 is the plain claim of an effect.

    Raises:
        EstimateError: a SESOI that is not finite or negative, a level outside (0, 1).

    Source: minimum-effect tests, Riesthuis 2024 (doi 10.1177/25152459241240722).
    """
    if not (np.isfinite(sesoi) and sesoi >= 0):
        raise EstimateError(f"superiority: sesoi {sesoi}; a finite number, 0 or more. Swap the arms for a decrease.")
    _check_level(level)
    statement = f"effect > {sesoi:g}"
    if not effect.known:
        return Decision("inconclusive", statement, level, f"no interval: {effect.reason}")
    if effect.low > sesoi:
        return Decision("supported", statement, level, f"low {effect.low:g} > {sesoi:g}")
    if effect.high <= sesoi:
        return Decision("not supported", statement, level, f"high {effect.high:g} <= {sesoi:g}")
    return Decision(
        "inconclusive", statement, level, f"[{effect.low:g}, {effect.high:g}] has values on both sides of {sesoi:g}"
    )


def equivalence(effect: Estimate, *, margin: float, level: float) -> Decision:
    """Is the effect within (-margin, margin)? Supported if all of the interval is, not supported if none of it is.

    An interval that holds 0 and leaves the margin is inconclusive, however large the p of "no difference" is. A level
    of 0.90 is the two one-sided tests (TOST) at .05.

    Raises:
        EstimateError: a margin that is not finite and positive, a level outside (0, 1).

    Source: Schuirmann 1987 (doi 10.1007/BF01068419).
    """
    _check_margin(margin)
    _check_level(level)
    statement = f"|effect| < {margin:g}"
    if not effect.known:
        return Decision("inconclusive", statement, level, f"no interval: {effect.reason}")
    ends = f"[{effect.low:g}, {effect.high:g}]"
    if -margin < effect.low and effect.high < margin:
        return Decision("supported", statement, level, f"{ends} within the margin")
    if effect.low >= margin or effect.high <= -margin:
        return Decision("not supported", statement, level, f"{ends} outside the margin")
    return Decision("inconclusive", statement, level, f"{ends} crosses the margin")


def conjunction(decisions: Sequence[Decision], *, statement: str) -> Decision:
    """All of them (intersection-union): supported if each is, not supported if one is not, else inconclusive.

    Each part is tested at its own level, so the whole needs no correction for multiplicity.

    Raises:
        EstimateError: no parts, or parts of different levels.

    Source: Berger 1982 (doi 10.1080/00401706.1982.10487790).
    """
    levels = sorted({one.level for one in decisions})
    if len(levels) != 1:
        raise EstimateError(f"conjunction: {len(decisions)} parts with levels {levels}; parts of one level are needed.")
    outcomes = [one.outcome for one in decisions]
    supported = f"{outcomes.count('supported')} of {len(outcomes)} supported"
    if all(outcome == "supported" for outcome in outcomes):
        return Decision("supported", statement, levels[0], supported)
    if "not supported" in outcomes:
        against = f"{supported}, {outcomes.count('not supported')} not supported"
        return Decision("not supported", statement, levels[0], against)
    return Decision("inconclusive", statement, levels[0], supported)


def bootstrap_p(resampled: Float[NDArray, " draw"], *, above: float) -> float:
    """One-sided p of "effect > above": (1 + #{resampled <= above}) / (1 + draws); never 0.

    Raises:
        EstimateError: no draws, or values that are not finite.
    """
    values = np.asarray(resampled, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all() or not np.isfinite(above):
        raise EstimateError(
            f"bootstrap_p: resampled values of shape {values.shape}, {int((~np.isfinite(values)).sum())} not finite, "
            f"above {above}; a list of at least one finite value is needed."
        )
    return float((1 + int((values <= above).sum())) / (1 + values.size))


def bootstrap_tost(resampled: Float[NDArray, " draw"], *, margin: float) -> Tost:
    """TOST from the resamples of an effect: `bootstrap_p` against -margin, and of the negative against -margin.

    Raises:
        EstimateError: as for `bootstrap_p`; a margin that is not finite and positive.
    """
    _check_margin(margin)
    p_above, p_below = bootstrap_p(resampled, above=-margin), bootstrap_p(-np.asarray(resampled), above=-margin)
    return Tost(p_above, p_below, max(p_above, p_below))


def paired_tost(
    first: Float[NDArray, " item"] | Int[NDArray, " item"],
    second: Float[NDArray, " item"] | Int[NDArray, " item"],
    *,
    margin: float,
) -> Tost:
    """TOST of the mean of first - second by t tests (statsmodels); for independent items only, not for clusters.

    Raises:
        EstimateError: lengths that differ, fewer than 2 items, values not finite, all differences equal, no margin.
    """
    _check_margin(margin)
    if np.ndim(first) != 1 or np.shape(first) != np.shape(second):
        raise EstimateError(f"paired_tost: shapes {np.shape(first)} and {np.shape(second)}; one value an item and arm.")
    difference = np.subtract(first, second, dtype=np.float64)
    if difference.size < 2 or not np.isfinite(difference).all() or np.ptp(difference) == 0:
        raise EstimateError(
            f"paired_tost: {difference.size} differences, {int((~np.isfinite(difference)).sum())} not finite; "
            "at least 2 that are finite and not all equal."
        )
    p, (_, p_above, _), (_, p_below, _) = DescrStatsW(difference).ttost_mean(-margin, margin)
    return Tost(float(p_above), float(p_below), float(p))


def _check_margin(margin: float) -> None:
    if not (np.isfinite(margin) and margin > 0):
        raise EstimateError(f"equivalence: margin {margin}; a finite number above 0, fixed before the data are seen.")


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise EstimateError(f"decision: level {level}; it lies between 0 and 1, for example 0.95.")
