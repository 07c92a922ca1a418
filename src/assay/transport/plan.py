"""Plan: the coupling of a cost that a solver found, with its status. No plan is returned without one."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, final

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import ConvergenceError, ShapeError
from assay.transport.bounds import blocks, dual_bound, rounded_cost
from assay.transport.coupling import Coupling
from assay.transport.problem import Problem

__all__ = ["Plan", "PlanStatus", "Potentials", "assess"]

_MASS_TOLERANCE = 1e-3


class PlanStatus(StrEnum):
    """``converged``: both marginals within the tolerance. ``max_sweeps``: not yet. ``failed``: no plan at all."""

    CONVERGED = "converged"
    MAX_SWEEPS = "max_sweeps"
    FAILED = "failed"


class Potentials(NamedTuple):
    """Dual potentials in units of the cost: Q_ij = exp((row_i + column_j - C_ij) / epsilon).

    n + m numbers from which the plan is rebuilt; a new problem or a new epsilon may start from them.
    """

    row: Float[NDArray, " n_recipient"]
    column: Float[NDArray, " n_donor"]

    def matrix(
        self, cost: Float[NDArray, "n_recipient n_donor"], *, epsilon: float
    ) -> Float[NDArray, "n_recipient n_donor"]:
        """The plan of these potentials, in float64. Errors: ShapeError when the cost is of another size."""
        if np.shape(cost) != (len(self.row), len(self.column)):
            raise ShapeError(
                f"Potentials: {len(self.row)} x {len(self.column)} potentials, a cost of shape {np.shape(cost)}. "
                "Give the cost they were solved for."
            )
        exponent = (self.row[:, None] - np.asarray(cost, dtype=np.float64) + self.column) / epsilon
        return np.asarray(np.exp(exponent))


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """What a solver found, and how far it is from what was asked. Look at the status: `checked`.

    ``row_error`` and ``column_error`` are L1 distances of the marginals, as fractions of the mass 1. ``cost`` is
    <C, Q>, without entropy; the exact optimum lies in [``dual_bound``, ``rounded_cost``]. ``regularised_gap`` is primal
    minus dual of the entropic problem, f.(r - a) + g.(c - b), NaN without potentials. ``sweeps`` counts products with a
    kernel and its transpose. ``epsilon`` 0: an exact plan.
    """

    status: PlanStatus
    epsilon: float
    tolerance: float
    row_error: float
    column_error: float
    mass: float
    cost: float
    rounded_cost: float
    dual_bound: float
    regularised_gap: float
    sweeps: int
    dtype: str
    potentials: Potentials | None
    row_marginal: Float[NDArray, " n_recipient"] = field(repr=False)
    column_marginal: Float[NDArray, " n_donor"] = field(repr=False)
    matrix: Float[NDArray, "n_recipient n_donor"] = field(repr=False)

    @property
    def marginal_error(self) -> float:
        """The larger of the two L1 marginal errors; NaN if one is."""
        return float(np.maximum(self.row_error, self.column_error))

    @property
    def duality_gap(self) -> float:
        """``rounded_cost`` - ``dual_bound``: how far the exact cost may be from either. In units of the cost."""
        return self.rounded_cost - self.dual_bound

    def checked(self) -> Coupling:
        """The coupling, if the plan converged.

        Raises:
            ConvergenceError: any other status; says the marginal errors and what to raise.
        """
        if self.status is PlanStatus.CONVERGED:
            return Coupling(self.matrix, self.row_marginal, self.column_marginal, tolerance=self.tolerance)
        found = (
            f"plan: status {self.status} after {self.sweeps} sweeps at epsilon {self.epsilon:g} in {self.dtype}: L1 "
            f"marginal errors {self.row_error:.2e} (rows) and {self.column_error:.2e} (columns), tolerance "
            f"{self.tolerance:.0e}, mass {self.mass:.6g}"
        )
        if self.status is PlanStatus.MAX_SWEEPS:
            raise ConvergenceError(f"{found}. Raise max_sweeps, epsilon or the tolerance, or solve in float64.")
        raise ConvergenceError(f"{found}. The numbers broke down: raise epsilon, or solve in float64.")


def assess(
    matrix: Float[NDArray, "n_recipient n_donor"],
    problem: Problem,
    *,
    tolerance: float,
    sweeps: int,
    potentials: Potentials | None = None,
) -> Plan:
    """Plan of any candidate matrix, ours or a peer's, judged from the matrix itself and never from a solver's word.

    Failed: a value that is negative or not finite, or a mass off 1 by more than 1e-3 (so an all-zero plan fails).

    Raises:
        ShapeError: a matrix that is not of the cost's shape.
    """
    if matrix.shape != problem.cost.shape:
        raise ShapeError(f"assess: a plan of shape {matrix.shape} for a cost of shape {problem.cost.shape}.")
    a, b = problem.row, problem.column
    sums, over_rows, total, lowest = np.empty(len(a)), np.zeros(len(b)), 0.0, np.inf
    for block in blocks(matrix):
        matrix[block].sum(axis=1, out=sums[block])
        lowest = np.minimum(lowest, matrix[block].min())
        over_rows += matrix[block].sum(axis=0)
        total += float(np.vdot(matrix[block], problem.cost[block]))
    mass = float(sums.sum())
    errors = float(np.abs(sums - a).sum()), float(np.abs(over_rows - b).sum())
    sound = bool(abs(mass - 1) <= _MASS_TOLERANCE and lowest >= 0)
    converged = sound and max(errors) <= tolerance
    gap = np.nan
    if potentials is not None and sound:
        gap = float(potentials.row @ (sums - a) + potentials.column @ (over_rows - b))
    start = np.zeros(len(b)) if potentials is None or not sound else potentials.column
    return Plan(
        status=PlanStatus.CONVERGED if converged else PlanStatus.MAX_SWEEPS if sound else PlanStatus.FAILED,
        epsilon=problem.epsilon,
        tolerance=tolerance,
        row_error=errors[0],
        column_error=errors[1],
        mass=mass,
        cost=total,
        rounded_cost=rounded_cost(matrix, problem.cost, row=a, column=b, row_sums=sums) if sound else np.nan,
        dual_bound=dual_bound(problem.cost, start, row=a, column=b),
        regularised_gap=gap,
        sweeps=sweeps,
        dtype=str(matrix.dtype),
        potentials=potentials,
        row_marginal=a,
        column_marginal=b,
        matrix=matrix,
    )
