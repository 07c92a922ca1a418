"""Scalings by Newton's method on the semi-dual, its systems solved by conjugate gradients: two kernel products a step.

Near the solution Sinkhorn's error shrinks by a factor a sweep that tends to 1 for small epsilon; the number of
conjugate gradient steps grows only with the square root of that. Far from it, plain sweeps are done instead.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from scipy.sparse import csr_array

from assay.axes import Float, NDArray

__all__ = ["Matrix", "Scalings", "newton"]

_FORCING = 0.1
_LONGEST_STEP = 3.0
_FARTHEST = 12.0
_INNER = 400
_HOLD = 6
_FIRST_DAMPING = 0.02


@runtime_checkable
class Matrix(Protocol):
    """A kernel, dense or sparse, that multiplies vectors of its own type."""

    @property
    def dtype(self) -> Any: ...

    @property
    def T(self) -> Any: ...  # noqa: N802

    def __matmul__(self, other: NDArray, /) -> Any: ...


class Scalings(NamedTuple):
    """u, v after a row update, the L1 error of the columns, K'u, and the sweeps spent."""

    u: Float[NDArray, " n_recipient"]
    v: Float[NDArray, " n_donor"]
    error: float
    reached: Float[NDArray, " n_donor"]
    sweeps: int


class _System(NamedTuple):
    """The kernel, its transpose, the transpose of its squared entries if it is sparse, and the marginals to reach."""

    matrix: Matrix
    transpose: Matrix
    squares: Matrix | None
    row: NDArray
    column: NDArray

    def at(self, v: NDArray, sweeps: int) -> Scalings:
        u = self.row / _product(self.matrix, v)
        reached = _product(self.transpose, u)
        return Scalings(u, v, float(np.abs(v * reached - self.column).sum()), reached, sweeps)

    def diagonal(self, now: Scalings, weight: NDArray) -> NDArray:
        """Of the semi-dual's Hessian: c_j - sum_i P_ij^2 / r_i; of a dense kernel c_j, where the sum is small."""
        columns = np.asarray(now.v * now.reached)
        if self.squares is None:
            return columns
        own = now.v * now.v * _product(self.squares, weight)
        return np.asarray(np.maximum(columns - own, 1e-12 * columns))


def newton(
    matrix: Matrix,
    v: Float[NDArray, " n_donor"],
    *,
    row: Float[NDArray, " n_recipient"],
    column: Float[NDArray, " n_donor"],
    goal: float,
    budget: int,
) -> Scalings:
    """Scalings whose columns miss ``column`` by at most ``goal`` (L1), or the best that ``budget`` sweeps reached.

    Also stops where v has moved by a factor exp(12), because a thinned kernel is then no longer trustworthy. The caller
    must judge the result on the whole kernel.

    Source: Brauer, Clason, Lorenz and Wirth 2017 (arXiv 1710.06635); Tang et al. 2024 (arXiv 2401.12253) for the
    thinned kernel. Both work on the pair of potentials; here the row potentials are eliminated.
    """
    squares = matrix.power(2).T if isinstance(matrix, csr_array) else None
    system = _System(matrix, matrix.T, squares, row, column)
    damping = _FIRST_DAMPING
    with np.errstate(all="ignore"):
        best = now = system.at(v, 1)
        while now.error > goal and now.sweeps < budget:
            for _ in range(_HOLD):
                now = system.at(column / now.reached, now.sweeps + 1)
            accepted = True
            while accepted and now.error > goal and now.sweeps < budget:
                now, accepted = _newton_step(system, now, goal=goal, damping=damping)
                damping = damping / 8 if accepted else min(4 * damping, 1.0)
            if now.error < best.error:
                best = now
            if not (np.isfinite(now.error) and np.abs(np.log(now.v / v)).max() <= _FARTHEST):
                break
    return best._replace(sweeps=now.sweeps)


def _newton_step(system: _System, now: Scalings, *, goal: float, damping: float) -> tuple[Scalings, bool]:
    """The scalings after a full step and True, or the same scalings and False where it is too long or does not pay."""
    step, inner = _direction(system, now, goal=goal, damping=damping)
    spent = now.sweeps + inner
    if not np.abs(step).max() <= _LONGEST_STEP:
        return now._replace(sweeps=spent), False
    tried = system.at(now.v * np.exp(step), spent + 1)
    if tried.error < now.error:
        return tried, True
    return now._replace(sweeps=tried.sweeps), False


def _direction(system: _System, now: Scalings, *, goal: float, damping: float) -> tuple[NDArray, int]:
    """x with (diag(c) - P' diag(1/r) P) x = b - c for P = diag(u) K diag(v), and the conjugate gradient steps spent."""
    columns = now.v * now.reached
    raised = (1 + damping) * columns
    weight = now.u * now.u / system.row
    residual = system.column - columns
    step = np.zeros_like(residual)
    diagonal = system.diagonal(now, weight) + damping * columns
    scaled = residual / diagonal
    along, product = scaled, float(residual @ scaled)
    enough = max(_FORCING * float(np.abs(residual).sum()), 0.3 * goal)
    inner = 0
    while inner < _INNER:
        inner += 1
        image = raised * along - now.v * _product(system.transpose, weight * _product(system.matrix, now.v * along))
        length = product / float(along @ image)
        step = step + length * along
        residual = residual - length * image
        if not np.abs(residual).sum() > enough:
            break
        scaled = residual / diagonal
        product, before = float(residual @ scaled), product
        along = scaled + (product / before) * along
    return step, inner


def _product(matrix: Matrix, vector: NDArray) -> NDArray:
    return np.asarray(matrix @ vector.astype(matrix.dtype, copy=False))
