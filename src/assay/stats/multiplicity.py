"""Holm and Benjamini-Hochberg adjusted p values of a family whose size was fixed beforehand.

A test without a p (NaN) stays NaN and is never rejected, and it still counts: m is the number of tests planned, not of
those that survived. statsmodels returns NaN for all or counts it in silence, scipy refuses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np
from scipy.stats import false_discovery_control

from assay.axes import Bool, Float, NDArray
from assay.errors import EstimateError

Method: TypeAlias = Literal["holm", "benjamini-hochberg"]


@final
@dataclass(frozen=True, eq=False)
class Adjusted:
    """Adjusted p values in the order given; ``undefined`` of the ``planned`` tests have none."""

    p: Float[NDArray, " test"]
    method: Method
    planned: int
    undefined: int

    def rejected(self, alpha: float) -> Bool[NDArray, " test"]:
        """Tests whose adjusted p is at most ``alpha``; NaN is never among them.

        Raises:
            EstimateError: an alpha outside (0, 1].
        """
        _checked_alpha(alpha)
        return np.asarray(self.p <= alpha)


def holm(p_values: Float[NDArray, " test"], *, planned: int) -> Adjusted:
    """Holm: the i-th smallest becomes max_{j<=i} (m - j + 1) p_(j), at most 1; familywise error for any dependence.

    Raises:
        EstimateError: no tests, a p outside [0, 1], or fewer planned than given.

    Source: Holm 1979 (Scandinavian Journal of Statistics 6:65).
    """
    family = _family(p_values, planned)
    order = np.argsort(family)
    stepped = np.maximum.accumulate(np.arange(planned, 0, -1) * family[order])
    return _adjusted(np.minimum(stepped, 1.0)[np.argsort(order)], p_values, "holm", planned)


def benjamini_hochberg(p_values: Float[NDArray, " test"], *, planned: int) -> Adjusted:
    """Benjamini-Hochberg: the i-th smallest becomes min_{j>=i} m p_(j) / j; share of false discoveries.

    Raises:
        EstimateError: as for `holm`.

    Source: Benjamini and Hochberg 1995 (doi 10.1111/j.2517-6161.1995.tb02031.x).
    """
    family = _family(p_values, planned)
    return _adjusted(false_discovery_control(family, method="bh"), p_values, "benjamini-hochberg", planned)


def lone_discovery_possible(smallest_p: float, *, planned: int, alpha: float) -> bool:
    """Whether one test could pass both adjustments with all others at 1: planned x smallest p <= alpha.

    With five models there are 120 label orders: 55 x 1/120 > .05, so no cell of 55 can, and q says nothing about it.

    Raises:
        EstimateError: a smallest p outside (0, 1], no test planned, or an alpha outside (0, 1].
    """
    _checked_alpha(alpha)
    if not 0 < smallest_p <= 1 or planned < 1:
        raise EstimateError(
            f"lone_discovery_possible: smallest p {smallest_p}, {planned} tests; p in (0, 1], 1 test or more."
        )
    return planned * smallest_p <= alpha


def _checked_alpha(alpha: float) -> None:
    if not 0 < alpha <= 1:
        raise EstimateError(f"multiplicity: alpha {alpha}; it lies in (0, 1].")


def _family(p_values: Float[NDArray, " test"], planned: int) -> Float[NDArray, " planned"]:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or p.size == 0:
        raise EstimateError(f"multiplicity: p values of shape {p.shape}; a list of at least one is needed.")
    bad = np.flatnonzero((p < 0) | (p > 1))
    if bad.size:
        raise EstimateError(f"multiplicity: p value {p[bad[0]]} at place {bad[0]}; p lies between 0 and 1.")
    if planned < p.size:
        raise EstimateError(
            f"multiplicity: {p.size} p values for {planned} planned tests. Count every test that was planned."
        )
    return np.concatenate([np.where(np.isnan(p), 1.0, p), np.ones(planned - p.size)])


def _adjusted(all_p: NDArray, p_values: NDArray, method: Method, planned: int) -> Adjusted:
    given = np.asarray(p_values, dtype=np.float64)
    known = ~np.isnan(given)
    return Adjusted(
        np.where(known, all_p[: given.size], np.nan), method, planned, planned - int(np.count_nonzero(known))
    )
