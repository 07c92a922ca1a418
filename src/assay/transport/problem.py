"""What a transport problem must be before anything is solved: a finite cost, two positive marginals, an epsilon."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import EstimateError, ShapeError

__all__ = ["Problem", "checked_marginal", "checked_problem", "checked_tolerance"]

_SUM_TOLERANCE = 1e-6


class Problem(NamedTuple):
    """A checked problem: cost in float32 or float64, marginals in float64 that sum to 1 exactly as given."""

    cost: Float[NDArray, "n_recipient n_donor"]
    row: Float[NDArray, " n_recipient"]
    column: Float[NDArray, " n_donor"]
    epsilon: float


def checked_problem(
    cost: NDArray, *, epsilon: float, row_marginal: NDArray | None, column_marginal: NDArray | None, caller: str
) -> Problem:
    """The problem with uniform marginals where none are given; integer costs become float64, float16 float32.

    Raises:
        ShapeError: a cost that is not a matrix, or marginals that do not fit it.
        EstimateError: a cost that is not finite, a marginal that is not positive or does not sum to 1 within 1e-6, an
            epsilon that is negative or not finite.
    """
    given = np.asarray(cost)
    if given.ndim != 2 or 0 in given.shape:
        raise ShapeError(f"{caller}: a cost of shape {given.shape}; (n_recipient, n_donor) is needed, both at least 1.")
    if given.dtype.kind not in "fiu":
        raise ShapeError(f"{caller}: a cost of type {given.dtype}; real numbers are needed.")
    kind = np.float32 if given.dtype in (np.float16, np.float32) else np.float64
    checked = np.ascontiguousarray(given, dtype=kind)
    if not (math.isfinite(checked.min()) and math.isfinite(checked.max())):
        bad = np.argwhere(~np.isfinite(checked))
        raise EstimateError(
            f"{caller}: {len(bad)} of {checked.size} costs are not finite, the first at recipient {bad[0][0]}, donor "
            f"{bad[0][1]}. One of them would poison the whole plan; compute the cost from finite rows."
        )
    if not (math.isfinite(epsilon) and epsilon >= 0):
        raise EstimateError(f"{caller}: epsilon {epsilon}; a finite number in units of the cost is needed.")
    n, m = checked.shape
    row = checked_marginal(row_marginal, n, side="row", caller=caller)
    return Problem(checked, row, checked_marginal(column_marginal, m, side="column", caller=caller), float(epsilon))


def checked_marginal(given: NDArray | None, size: int, *, side: str, caller: str) -> Float[NDArray, " size"]:
    """``given`` in float64, or the uniform marginal. Errors as `checked_problem`."""
    if given is None:
        return np.full(size, 1.0 / size)
    marginal = np.asarray(given, dtype=np.float64)
    if marginal.shape != (size,):
        raise ShapeError(f"{caller}: the {side} marginal has shape {marginal.shape}; ({size},) is needed.")
    if not (np.isfinite(marginal).all() and (marginal > 0).all()):
        place = int(np.argmin(np.where(np.isfinite(marginal), marginal, -np.inf)))
        raise EstimateError(
            f"{caller}: weight {marginal[place]} at {side} {place}; every weight must be finite and above 0. "
            "Leave neurons without weight out of the cost."
        )
    if abs(marginal.sum() - 1) > _SUM_TOLERANCE:
        raise EstimateError(f"{caller}: the {side} marginal sums to {marginal.sum():.9g}, not to 1. Divide by its sum.")
    return marginal


def checked_tolerance(tolerance: float | None, dtype: np.dtype, *, caller: str) -> float:
    """L1 violation of each marginal, as a fraction of the mass 1: by default 1e-4 for float32 costs, 1e-8 for float64.

    Raises:
        EstimateError: a tolerance outside (0, 1).
    """
    if tolerance is None:
        return 1e-4 if dtype == np.float32 else 1e-8
    if not 0 < tolerance < 1:
        raise EstimateError(f"{caller}: tolerance {tolerance}; a share of the mass, in (0, 1), such as 1e-4.")
    return tolerance
