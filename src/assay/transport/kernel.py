"""The kernel exp((f + g - C) / epsilon) with absorbed potentials: fast products that neither underflow nor overflow.

Row and column minima are the first potentials, so that every row and column holds a 1 at any epsilon. What the scalings
u, v grow to is moved into f, g; where a sum still underflows, one sweep is done in the log domain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.axes import Float, NDArray
from assay.transport.bounds import blocks
from assay.transport.plan import Potentials
from assay.transport.problem import Problem

__all__ = ["Kernel", "Swept", "absorbed", "log_sweep", "minima", "sweep"]


class _Range(NamedTuple):
    """Entries under ``flush`` are set to 0 (subnormal numbers are slow); scalings stay within 1 / limit and limit."""

    flush: float
    limit: float


_RANGES = {"float32": _Range(1e-30, 1e6), "float64": _Range(1e-250, 1e60)}


class Kernel(NamedTuple):
    """Plan diag(u) matrix diag(v) with matrix_ij = exp((f_i + g_j - C_ij) / epsilon); f, g exact in the cost's type."""

    matrix: Float[NDArray, "n_recipient n_donor"]
    f: Float[NDArray, " n_recipient"]
    g: Float[NDArray, " n_donor"]
    u: Float[NDArray, " n_recipient"]
    v: Float[NDArray, " n_donor"]

    def potentials(self, epsilon: float) -> Potentials:
        """f + epsilon log u and g + epsilon log v, in float64."""
        with np.errstate(divide="ignore"):
            return Potentials(self.f + epsilon * np.log(self.u), self.g + epsilon * np.log(self.v))

    def plan(self) -> Float[NDArray, "n_recipient n_donor"]:
        """The plan, written over the kernel."""
        on_rows, on_columns = (scaling.astype(self.matrix.dtype) for scaling in (self.u, self.v))
        for block in blocks(self.matrix):
            part = self.matrix[block]
            part *= on_columns
            part *= on_rows[block, None]
        return self.matrix


class Swept(NamedTuple):
    """A kernel after a row update; the L1 error of its columns; the column scalings of the next sweep."""

    kernel: Kernel
    error: float
    next_v: Float[NDArray, " n_donor"]


def minima(cost: Float[NDArray, "n_recipient n_donor"]) -> Potentials:
    """f_i = min_j C_ij and g_j = min_i (C_ij - f_i). Subtracting them does not change the plan."""
    rows = np.empty(cost.shape[0], dtype=cost.dtype)
    columns = np.full(cost.shape[1], np.inf, dtype=cost.dtype)
    for block in blocks(cost):
        cost[block].min(axis=1, out=rows[block])
        np.minimum(columns, (cost[block] - rows[block, None]).min(axis=0), out=columns)
    return Potentials(rows.astype(np.float64), columns.astype(np.float64))


def absorbed(problem: Problem, potentials: Potentials, *, out: NDArray | None = None) -> Kernel:
    """The kernel of these potentials; ``out`` is overwritten. What rounding to the cost's type loses stays in u, v."""
    cost, epsilon = problem.cost, problem.epsilon
    f, g = (potential.astype(cost.dtype) for potential in potentials)
    matrix = np.empty_like(cost) if out is None else out
    scale, flush = cost.dtype.type(-1.0 / epsilon), cost.dtype.type(_RANGES[str(cost.dtype)].flush)
    for block in blocks(cost):
        part = matrix[block]
        np.subtract(cost[block], f[block, None], out=part)
        part -= g
        part *= scale
        np.exp(part, out=part)
        part -= flush
        np.maximum(part, 0, out=part)
    f, g = f.astype(np.float64), g.astype(np.float64)
    return Kernel(matrix, f, g, np.exp((potentials.row - f) / epsilon), np.exp((potentials.column - g) / epsilon))


def sweep(kernel: Kernel, problem: Problem) -> Swept:
    """One row and one column update: u = a / (K v), v' = b / (K' u), absorbing where the range would be left."""
    bounds = _RANGES[str(kernel.matrix.dtype)]
    swept = _plain_sweep(kernel, problem)
    if _within(swept.kernel.u, bounds.limit) and _within(swept.next_v, bounds.limit):
        return swept
    potentials = kernel._replace(v=np.clip(kernel.v, 1 / bounds.limit, bounds.limit)).potentials(problem.epsilon)
    return _plain_sweep(absorbed(problem, log_sweep(problem, potentials), out=kernel.matrix), problem)


def log_sweep(problem: Problem, potentials: Potentials) -> Potentials:
    """One row and one column update by stable log-sum-exp in float64: slow, and right at any epsilon."""
    cost, epsilon, g = problem.cost, problem.epsilon, potentials.column
    f = np.empty(len(problem.row))
    for block in blocks(cost):
        exponent = (g - cost[block]) / epsilon
        top = exponent.max(axis=1)
        f[block] = -epsilon * (top + np.log(np.exp(exponent - top[:, None]).sum(axis=1)))
    f += epsilon * np.log(problem.row)
    top, total = np.full(len(g), -np.inf), np.zeros(len(g))
    for block in blocks(cost):
        exponent = (f[block, None] - cost[block]) / epsilon
        high = np.maximum(top, exponent.max(axis=0))
        total = total * np.exp(top - high) + np.exp(exponent - high).sum(axis=0)
        top = high
    return Potentials(f, epsilon * (np.log(problem.column) - top - np.log(total)))


def _plain_sweep(kernel: Kernel, problem: Problem) -> Swept:
    kind = kernel.matrix.dtype
    u = problem.row / (kernel.matrix @ kernel.v.astype(kind))
    reached = u.astype(kind) @ kernel.matrix
    error = float(np.abs(kernel.v * reached - problem.column).sum())
    return Swept(kernel._replace(u=u), error, problem.column / reached)


def _within(scaling: NDArray, limit: float) -> bool:
    """Whether all are finite and inside the range; False for NaN."""
    return bool(scaling.min() >= 1 / limit and scaling.max() <= limit)
