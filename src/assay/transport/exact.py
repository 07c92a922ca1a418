"""Plans by POT: exact ones by the network simplex, and entropic ones in the log domain as a reference."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import EstimateError
from assay.transport.plan import Plan, PlanStatus, Potentials, assess
from assay.transport.problem import checked_problem, checked_tolerance

__all__ = ["exact_plan", "log_domain_plan"]

_EXACT_TOLERANCE = 1e-8


def exact_plan(
    cost: Float[NDArray, "n_recipient n_donor"],
    *,
    row_marginal: Float[NDArray, " n_recipient"] | None = None,
    column_marginal: Float[NDArray, " n_donor"] | None = None,
    max_pivots: int = 1_000_000,
) -> Plan:
    """argmin <C, Q> over couplings, by `ot.emd` in float64; ``epsilon`` 0, at most n + m - 1 entries above 0.

    Status ``max_sweeps`` where the duality gap is above 1e-7 of the largest cost, so a plan that is feasible but not
    yet optimal is not called converged. ``sweeps`` is 0: POT does not say how many pivots it made.

    Raises:
        ShapeError, EstimateError: as `assay.transport.sinkhorn.entropic_plan`.
    """
    import ot

    problem = checked_problem(
        cost, epsilon=0.0, row_marginal=row_marginal, column_marginal=column_marginal, caller="exact_plan"
    )
    problem = problem._replace(cost=problem.cost.astype(np.float64))
    row = problem.row / problem.row.sum()
    column = problem.column / problem.column.sum()
    low = float(problem.cost.min())  # POT calls a single negative cost infeasible
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix, log = ot.emd(row, column, problem.cost - low, numItermax=max_pivots, log=True)
    plan = assess(
        np.asarray(matrix),
        problem._replace(row=row, column=column),
        tolerance=_EXACT_TOLERANCE,
        sweeps=0,
        potentials=Potentials(np.asarray(log["u"]) + low, np.asarray(log["v"])),
    )
    optimal = plan.duality_gap <= 1e-7 * float(np.abs(problem.cost).max())
    if plan.status is PlanStatus.CONVERGED and not optimal:
        return replace(plan, status=PlanStatus.MAX_SWEEPS)
    return plan


def log_domain_plan(
    cost: Float[NDArray, "n_recipient n_donor"],
    *,
    epsilon: float,
    row_marginal: Float[NDArray, " n_recipient"] | None = None,
    column_marginal: Float[NDArray, " n_donor"] | None = None,
    tolerance: float | None = None,
    max_sweeps: int = 10_000,
) -> Plan:
    """The plan of `assay.transport.sinkhorn.entropic_plan` by `ot.bregman.sinkhorn_log`: the slow reference.

    POT stops on an L2 norm; it is given tolerance / sqrt(n_donor), which bounds the L1 error. The status is ours.

    Raises:
        ShapeError, EstimateError: as `assay.transport.sinkhorn.entropic_plan`.
    """
    from ot.bregman import sinkhorn_log

    problem = checked_problem(
        cost, epsilon=epsilon, row_marginal=row_marginal, column_marginal=column_marginal, caller="log_domain_plan"
    )
    if not epsilon > 0 or max_sweeps < 1:
        raise EstimateError(f"log_domain_plan: epsilon {epsilon}, {max_sweeps} sweeps; both above 0.")
    wanted = checked_tolerance(tolerance, problem.cost.dtype, caller="log_domain_plan")
    kind = problem.cost.dtype
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix, log = sinkhorn_log(
            problem.row.astype(kind),
            problem.column.astype(kind),
            problem.cost,
            epsilon,
            numItermax=max_sweeps,
            stopThr=wanted / np.sqrt(problem.cost.shape[1]),
            log=True,
        )
    logs = (np.asarray(log[name], dtype=np.float64) for name in ("log_u", "log_v"))
    potentials = Potentials(*(epsilon * part for part in logs))
    return assess(np.asarray(matrix), problem, tolerance=wanted, sweeps=int(log["niter"]) + 1, potentials=potentials)
