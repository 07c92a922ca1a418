"""The price of pairing a recipient neuron with a donor neuron: how little their activations correlate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, final

import numpy as np

from assay.axes import Bool, Float, Int, NDArray
from assay.choices import checked_choice
from assay.errors import EstimateError, ShapeError

__all__ = ["CorrelationCost", "CostKind", "correlation_cost"]

CostKind = Literal["one_minus_corr", "one_minus_abs_corr"]
Storage = Literal["float32", "float64"]

_DEAD = 1e-12


@final
@dataclass(frozen=True, eq=False)
class CorrelationCost:
    """Costs (n_recipient, n_donor) with what one must know to read them.

    ``dead_recipient`` and ``dead_donor`` are neurons that do not vary; they cost 1 with everyone. ``null_sd`` =
    1 / sqrt(n_rows - 1) is the sampling error of a correlation that is 0: costs of different numbers of rows, or of
    different widths, must not be compared.
    """

    matrix: Float[NDArray, "n_recipient n_donor"] = field(repr=False)
    kind: CostKind
    n_rows: int
    mean: float
    sd: float
    low: float
    high: float
    dead_recipient: Int[NDArray, " _"]
    dead_donor: Int[NDArray, " _"]

    @property
    def null_sd(self) -> float:
        return 1.0 / math.sqrt(self.n_rows - 1)


def correlation_cost(
    recipient: Float[NDArray, "row n_recipient"],
    donor: Float[NDArray, "row n_donor"],
    *,
    kind: CostKind = "one_minus_corr",
    storage: Storage = "float32",
) -> CorrelationCost:
    """C_ij = 1 - r_ij, in [0, 2], or 1 - |r_ij|, in [0, 1], with Pearson's r over rows of the same texts.

    Centred and summed in float64. A neuron is dead if its variance is below 1e-12 of the median variance of its side,
    or is rounding noise next to its mean.

    Raises:
        ShapeError: different numbers of rows, or not two matrices.
        EstimateError: fewer than 3 rows, a row that is not finite, a side of dead neurons, an unknown kind or storage.
    """
    sides = [np.asarray(side) for side in (recipient, donor)]
    if any(side.ndim != 2 or 0 in side.shape for side in sides) or len(sides[0]) != len(sides[1]):
        raise ShapeError(
            f"correlation_cost: recipient rows {sides[0].shape}, donor rows {sides[1].shape}; the same texts in the "
            "same order are needed on both sides. Align them by id."
        )
    checked_choice(storage, Storage, what="correlation_cost: storage")
    if len(sides[0]) < 3 or kind not in ("one_minus_corr", "one_minus_abs_corr"):
        raise EstimateError(
            f"correlation_cost: {len(sides[0])} rows, kind {kind!r}; at least 3 rows, and 'one_minus_corr' or "
            "'one_minus_abs_corr'."
        )
    left, right = _standardised(sides[0], "recipient"), _standardised(sides[1], "donor")
    correlation = np.clip(left.values.T @ right.values, -1.0, 1.0)
    matrix = 1.0 - (np.abs(correlation) if kind == "one_minus_abs_corr" else correlation)
    matrix[left.dead], matrix[:, right.dead] = 1.0, 1.0
    return CorrelationCost(
        matrix=matrix.astype(storage),
        kind=kind,
        n_rows=len(sides[0]),
        mean=float(matrix.mean()),
        sd=float(matrix.std()),
        low=float(matrix.min()),
        high=float(matrix.max()),
        dead_recipient=np.flatnonzero(left.dead),
        dead_donor=np.flatnonzero(right.dead),
    )


class _Side(NamedTuple):
    """Centred columns of length 1, except where dead."""

    values: Float[NDArray, "row width"]
    dead: Bool[NDArray, " width"]


def _standardised(rows: NDArray, side: str) -> _Side:
    values = rows.astype(np.float64)
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        raise EstimateError(
            f"correlation_cost: {side} row {int(np.argmin(finite))} holds NaN or infinity ({int((~finite).sum())} of "
            f"{len(values)} rows do). One of them would poison the whole cost."
        )
    mean = values.mean(axis=0)
    values -= mean
    variance = (values * values).mean(axis=0)
    noise = (np.finfo(np.float64).eps * np.abs(mean)) ** 2
    dead = np.asarray(variance <= np.maximum(_DEAD * np.median(variance), noise))
    if dead.all():
        raise EstimateError(f"correlation_cost: none of the {dead.size} {side} neurons varies over {len(rows)} rows.")
    length = np.sqrt(np.where(dead, 1.0, variance) * len(values))
    return _Side(values / length, dead)
