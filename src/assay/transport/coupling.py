"""Coupling and BarycentricMap: two matrices that differ by a factor, and therefore two types.

A coupling of n recipient and m donor neurons has rows that sum to 1/n. Used as if it were a map it makes everything it
carries about n times too small, which looks like a merge and is a shrink. Conversion is by name only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import ConvergenceError, EstimateError, ShapeError
from assay.transport.problem import checked_marginal

__all__ = ["BarycentricMap", "Coupling"]


@final
@dataclass(frozen=True, eq=False)
class Coupling:
    """A joint distribution of recipient and donor neurons: nonnegative, sums to 1, with the given marginals.

    ``tolerance`` is the L1 distance by which each marginal may be missed.

    Errors: ShapeError for a shape that does not fit, EstimateError for a negative or not finite entry, ConvergenceError
    for marginals missed by more than the tolerance.
    """

    matrix: Float[NDArray, "n_recipient n_donor"] = field(repr=False)
    row_marginal: Float[NDArray, " n_recipient"] = field(repr=False)
    column_marginal: Float[NDArray, " n_donor"] = field(repr=False)
    tolerance: float = field(default=1e-6, kw_only=True)

    def __post_init__(self) -> None:
        _nonnegative(self.matrix, "Coupling")
        n, m = self.matrix.shape
        row = checked_marginal(self.row_marginal, n, side="row", caller="Coupling")
        column = checked_marginal(self.column_marginal, m, side="column", caller="Coupling")
        errors = [
            float(np.abs(self.matrix.sum(axis=axis, dtype=np.float64) - wanted).sum())
            for axis, wanted in ((1, row), (0, column))
        ]
        if not max(errors) <= self.tolerance:
            raise ConvergenceError(
                f"Coupling: L1 marginal errors {errors[0]:.2e} (rows) and {errors[1]:.2e} (columns), tolerance "
                f"{self.tolerance:.0e}. Solve further, or round the plan to its marginals."
            )
        object.__setattr__(self, "row_marginal", row)
        object.__setattr__(self, "column_marginal", column)

    @classmethod
    def independent(cls, n_recipient: int, n_donor: int) -> Coupling:
        """Every pair alike, 1/(n m): the coupling that knows nothing; the limit of large epsilon."""
        matrix = np.full((n_recipient, n_donor), 1.0 / (n_recipient * n_donor))
        return cls(matrix, np.full(n_recipient, 1.0 / n_recipient), np.full(n_donor, 1.0 / n_donor))

    @property
    def reversed(self) -> Coupling:
        """The same pairs seen from the donor: transposed, marginals exchanged."""
        return Coupling(self.matrix.T, self.column_marginal, self.row_marginal, tolerance=self.tolerance)

    def barycentric(self) -> BarycentricMap:
        """Donor values to recipient neurons, Phi = Q / row sums: a weighted mean of donor neurons each.

        The map in the other direction is ``coupling.reversed.barycentric()``; it is not the transpose of this one,
        but n_donor / n_recipient times it for uniform marginals.
        """
        sums = self.matrix.sum(axis=1, dtype=np.float64)
        return BarycentricMap(self.matrix / sums[:, None])


@final
@dataclass(frozen=True, eq=False)
class BarycentricMap:
    """A row-stochastic matrix: each row weighs the neurons of the side it reads from, and sums to 1.

    Errors: ShapeError, EstimateError for a shape that does not fit, a negative or not finite entry, or a row that does
    not sum to 1 within 1e-6 (a coupling passed for a map is refused here).
    """

    matrix: Float[NDArray, "n_to n_from"] = field(repr=False)

    def __post_init__(self) -> None:
        _nonnegative(self.matrix, "BarycentricMap")
        sums = self.matrix.sum(axis=1, dtype=np.float64)
        worst = int(np.argmax(np.abs(sums - 1)))
        if not abs(sums[worst] - 1) <= 1e-6:
            raise EstimateError(
                f"BarycentricMap: row {worst} sums to {sums[worst]:.6g}, not to 1. Of a coupling (rows sum to 1/n) "
                "take `coupling.barycentric()`."
            )

    def coupling(self, row_marginal: Float[NDArray, " n_to"] | None = None) -> Coupling:
        """The coupling whose rows are these, weighed by ``row_marginal`` (uniform); its columns follow from that.

        Raises:
            EstimateError: a column that no row reads, which no positive marginal can have.
        """
        row = checked_marginal(row_marginal, self.matrix.shape[0], side="row", caller="BarycentricMap.coupling")
        joint = self.matrix * row[:, None]
        return Coupling(joint, row, joint.sum(axis=0))

    def applied(self, values: Float[NDArray, "n_from ..."]) -> Float[NDArray, "n_to ..."]:
        """Weighted means of ``values`` along its first axis. Errors: ShapeError when the widths differ."""
        if np.shape(values)[:1] != self.matrix.shape[1:]:
            raise ShapeError(
                f"BarycentricMap: the map reads {self.matrix.shape[1]} neurons, the values have shape "
                f"{np.shape(values)}. Fit it on the layer you carry."
            )
        return np.asarray(np.tensordot(self.matrix, values, axes=1))

    @property
    def concentration(self) -> float:
        """|Phi|_F^2 / n_to: 1 for one partner a row, 1/n_from for all partners alike.

        The norm of a carried Gaussian weight follows it, whatever the correspondence; report it with the plan.
        """
        return float(np.vdot(self.matrix, self.matrix) / self.matrix.shape[0])


def _nonnegative(matrix: NDArray, caller: str) -> None:
    if not isinstance(matrix, np.ndarray) or matrix.ndim != 2 or 0 in matrix.shape or matrix.dtype.kind != "f":
        shape, kind = np.shape(matrix), getattr(matrix, "dtype", type(matrix).__name__)
        raise ShapeError(f"{caller}: shape {shape} of {kind}; a matrix of floats is needed.")
    low, high = float(matrix.min()), float(matrix.max())
    if not (low >= 0 and np.isfinite(high)):
        raise EstimateError(f"{caller}: entries from {low:g} to {high:g}; all must be finite and at least 0.")
