"""Entropic plans: fast and safe at small epsilon, always with a status that is measured on the finished plan.

Shifted exponent domain with absorbed potentials; once the plan is sparse enough, Newton steps on its few large entries;
then always sweeps and the verdict on the whole kernel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import EstimateError, ShapeError
from assay.transport.kernel import Kernel, Swept, absorbed, minima, sweep
from assay.transport.newton import newton
from assay.transport.plan import Plan, Potentials, assess
from assay.transport.problem import Problem, checked_problem, checked_tolerance
from assay.transport.thinning import thinned

__all__ = ["entropic_plan"]

_BURST = 6
_NEARLY = 12
_LOOSE = 1e-2
_MARGIN = 0.9
_COLDEST = 0.08


class _Reached(NamedTuple):
    """A kernel after a row update, the L1 error of its columns, and the sweeps spent."""

    kernel: Kernel
    error: float
    sweeps: int


def entropic_plan(
    cost: Float[NDArray, "n_recipient n_donor"],
    *,
    epsilon: float,
    row_marginal: Float[NDArray, " n_recipient"] | None = None,
    column_marginal: Float[NDArray, " n_donor"] | None = None,
    tolerance: float | None = None,
    max_sweeps: int = 20_000,
    start: Potentials | None = None,
) -> Plan:
    """argmin <C, Q> + epsilon sum Q (log Q - 1) over couplings of the two marginals (uniform where not given).

    ``epsilon`` is in units of the cost, and says something only next to the spread of the costs. ``tolerance`` is the
    L1 error allowed for each marginal, as a fraction of the mass: 1e-4 for float32 costs, 1e-8 for float64. The plan
    has the type of the cost. ``start``: potentials of a similar problem or a larger epsilon. ``max_sweeps`` is kept to
    within one Newton step and one sweep for each larger epsilon on the way.

    Raises:
        ShapeError, EstimateError: costs that are not a finite matrix, marginals that are not positive and sum to 1, an
            epsilon that is not above 0, no sweeps, a tolerance outside (0, 1), potentials of another size.

    Source: Schmitzer 2019 (arXiv 1610.06519) for absorption and thinned kernels. Unlike POT, the status is judged from
    the plan, and both marginals count, in L1.
    """
    problem = checked_problem(
        cost,
        epsilon=epsilon,
        row_marginal=row_marginal,
        column_marginal=column_marginal,
        caller="entropic_plan",
    )
    if not epsilon > 0 or max_sweeps < 1:
        raise EstimateError(
            f"entropic_plan: epsilon {epsilon}, {max_sweeps} sweeps; both above 0. For epsilon 0 take exact_plan."
        )
    if start is not None and (len(start.row), len(start.column)) != problem.cost.shape:
        raise ShapeError(
            f"entropic_plan: start has {len(start.row)} x {len(start.column)} potentials, the cost has shape "
            f"{problem.cost.shape}. Start from a plan of a cost of this size."
        )
    wanted = checked_tolerance(tolerance, problem.cost.dtype, caller="entropic_plan")
    with np.errstate(all="ignore"):
        reached = _reach(problem, start, tolerance=wanted, max_sweeps=max_sweeps)
        potentials = reached.kernel.potentials(epsilon)
        return assess(reached.kernel.plan(), problem, tolerance=wanted, sweeps=reached.sweeps, potentials=potentials)


def _reach(problem: Problem, start: Potentials | None, *, tolerance: float, max_sweeps: int) -> _Reached:
    """Solve for falling epsilons, each from the potentials of the one before; only the last to the tolerance."""
    potentials = minima(problem.cost) if start is None else start
    epsilons = [problem.epsilon]
    if start is None:
        warmest = _COLDEST * float(problem.cost[:: 1 + len(problem.cost) // 64].std(dtype=np.float64))
        while epsilons[0] < warmest / 2:
            epsilons.insert(0, 2 * epsilons[0])
    kernel, sweeps = None, 0
    for epsilon in epsilons:
        now = problem._replace(epsilon=epsilon)
        kernel = absorbed(now, potentials, out=None if kernel is None else kernel.matrix)
        last = epsilon == problem.epsilon
        aim = _MARGIN * (tolerance if last else max(_LOOSE, tolerance))
        budget = max_sweeps - sweeps if last else (max_sweeps - sweeps) // 2
        reached = _converge(kernel, now, tolerance=aim, budget=max(1, budget))
        kernel, sweeps, potentials = reached.kernel, sweeps + reached.sweeps, reached.kernel.potentials(epsilon)
    return _Reached(reached.kernel, reached.error, sweeps)


def _converge(kernel: Kernel, problem: Problem, *, tolerance: float, budget: int) -> _Reached:
    """Bursts of sweeps on the whole kernel, with Newton steps in between; longer bursts where they do not pay."""
    spent, burst = 0, _BURST
    while True:
        errors: list[float] = []
        while len(errors) < min(burst, budget - spent) and not (errors and errors[-1] <= tolerance):
            swept = sweep(kernel, problem)
            errors.append(swept.error)
            done = swept.kernel
            kernel = done._replace(v=swept.next_v)
        spent += len(errors)
        if errors[-1] <= tolerance or spent >= budget:
            return _Reached(done, errors[-1], spent)
        if _nearly(errors, tolerance):
            burst = max(burst, _NEARLY)
            continue
        landed = _jump(done, problem, error=errors[-1], tolerance=tolerance, budget=budget - spent)
        spent += landed.sweeps
        kernel, burst = landed.kernel, burst if landed.error < 0.5 * errors[-1] else 2 * burst
        if landed.error <= tolerance or spent >= budget:
            return landed._replace(sweeps=spent)


def _jump(kernel: Kernel, problem: Problem, *, error: float, tolerance: float, budget: int) -> _Reached:
    """Newton on the thinned kernel, judged by a sweep on the whole one; back to where it started if that is worse."""
    before = kernel.potentials(problem.epsilon)
    thin = thinned(kernel, problem, below=0.1 * tolerance)
    found = newton(thin.matrix, kernel.v, row=thin.row, column=thin.column, goal=tolerance / 3, budget=budget)
    after = kernel._replace(u=found.u, v=found.v).potentials(problem.epsilon)
    swept: Swept | None = None
    if all(np.isfinite(potential).all() for potential in after):
        swept = sweep(absorbed(problem, after, out=kernel.matrix), problem)
    if swept is None or not swept.error < error:
        swept = sweep(absorbed(problem, before, out=kernel.matrix), problem)
    return _Reached(swept.kernel, swept.error, found.sweeps + 1)


def _nearly(errors: list[float], tolerance: float) -> bool:
    """Whether a dozen more sweeps will do, if the error goes on falling as in the last one."""
    rate = errors[-1] / errors[-2] if len(errors) > 1 else 1.0
    return 0 < rate < 1 and math.log(tolerance / errors[-1]) / math.log(rate) <= _NEARLY
