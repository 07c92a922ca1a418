"""Entropic plans, ours beside POT's, at one L1 marginal error: OMP_NUM_THREADS=1 python benchmarks/entropic_plan.py.

Every method of POT gets the fewest iterations after which its plan has the error asked for, found beforehand and not
counted. Runs alternate, so that a busy machine is busy for all. sinkhorn_stabilized is run with a larger tau than
its own, with which its plan has mass 1 / (n m) at these sizes; float32 sinkhorn on the bare cost crawls through
subnormal numbers and is left out.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import ot

from assay.axes import NDArray
from assay.seeds import stream
from assay.transport.plan import assess
from assay.transport.problem import checked_problem
from assay.transport.sinkhorn import entropic_plan

EPSILON, ERROR = 0.01, 1e-4
SHAPES = ((2048, 2048), (1536, 2048))
ROWS, FACTORS, NOISE = 2000, 64, 0.5


class Method(NamedTuple):
    """``run(k)``: the plan after k iterations; k is one of ``tries``, the smallest that is good enough is timed."""

    name: str
    run: Callable[[int], NDArray]
    tries: tuple[int, ...]


def factor_cost(n: int, m: int) -> NDArray:
    """1 - correlation of two models that see the same factors: mean 1, standard deviation .1, as real activations."""
    rng = stream(0, "benchmark", "entropic_plan", n, m)
    shared = rng.standard_normal((ROWS, FACTORS)) / np.sqrt(FACTORS)
    sides = []
    for width in (n, m):
        rows = shared @ rng.standard_normal((FACTORS, width)) + NOISE * rng.standard_normal((ROWS, width))
        rows -= rows.mean(axis=0)
        sides.append(rows / np.linalg.norm(rows, axis=0))
    return np.asarray(1 - sides[0].T @ sides[1])


def methods(cost: NDArray) -> list[Method]:
    """POT's ways to this plan, those with a chance: in both precisions, as called and on a cost without its minima."""
    found = []
    bare = cost - cost.min(axis=1, keepdims=True)
    bare -= bare.min(axis=0)
    every_10, every_20 = tuple(range(21, 300, 10)), tuple(range(21, 300, 20))
    for kind in (np.float32, np.float64):
        row, column = (np.full(size, 1 / size, dtype=kind) for size in cost.shape)
        given, shifted = cost.astype(kind), bare.astype(kind)

        def sinkhorn(
            k: int, *, matrix: NDArray, name: str, row: NDArray = row, column: NDArray = column, **more: float
        ):
            return ot.sinkhorn(row, column, matrix, EPSILON, method=name, numItermax=k, stopThr=0, warn=False, **more)

        def call(name: str, matrix: NDArray, run: Callable[..., NDArray] = sinkhorn, **more: float):
            return lambda k: run(k, matrix=matrix, name=name, **more)

        label = kind.__name__
        found += [
            Method(f"sinkhorn, minima subtracted by the caller, {label}", call("sinkhorn", shifted), every_10),
            Method(f"sinkhorn_stabilized, tau 1e8, {label}", call("sinkhorn_stabilized", given, tau=1e8), every_20),
        ]
        if kind is np.float32:
            found.append(Method("sinkhorn_log, float32", call("sinkhorn_log", given), every_10))
    found.append(Method("sinkhorn, float64", call("sinkhorn", cost), every_10))
    return found


def good(plan: NDArray, cost: NDArray) -> bool:
    """Whether both marginals of the plan are within the error."""
    problem = checked_problem(cost, epsilon=EPSILON, row_marginal=None, column_marginal=None, caller="benchmark")
    verdict = assess(plan, problem._replace(cost=cost.astype(plan.dtype)), tolerance=ERROR, sweeps=0)
    return str(verdict.status) == "converged"


def fewest(method: Method, cost: NDArray) -> int | None:
    """Bisection over the iteration counts at which the method looks at its error."""
    low, high = 0, len(method.tries) - 1
    if not good(method.run(method.tries[high]), cost):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if good(method.run(method.tries[middle]), cost) else (middle + 1, high)
    return method.tries[low]


def seconds(function: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - wall, time.process_time() - cpu


def compare(cost: NDArray, *, repeats: int, slow: bool) -> None:
    """Print one line a method: medians over alternating runs, and how many times longer than ours."""
    own = cost.astype(np.float32)
    runs: dict[str, Callable[[], object]] = {"ours, float32": lambda: entropic_plan(own, epsilon=EPSILON)}
    plan = entropic_plan(own, epsilon=EPSILON)
    plan.checked()
    print(f"   ours: {plan.status}, L1 errors {plan.row_error:.1e} {plan.column_error:.1e}, {plan.sweeps} sweeps")
    steps: dict[str, int] = {}
    for method in methods(cost):
        if "sinkhorn_log" in method.name:
            if not slow:
                continue
            count = steps["sinkhorn, minima subtracted by the caller, float32"]
        else:
            found = fewest(method, cost)
            if found is None:
                print(f"   no right plan within {method.tries[-1]} iterations: {method.name}")
                continue
            count = found
        steps[method.name] = count
        runs[f"{method.name}, {count} iterations"] = lambda run=method.run, k=count: run(k)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for repeat in range(repeats):
        for name, run in runs.items():
            if repeat == 0 or "sinkhorn_log" not in name:
                times[name].append(seconds(run))
    ours = [statistics.median(column) for column in zip(*times["ours, float32"], strict=True)]
    for name, taken in times.items():
        wall, cpu = (statistics.median(column) for column in zip(*taken, strict=True))
        print(
            f"{wall:8.3f} s wall {cpu:8.3f} s cpu   {wall / ours[0]:6.1f} x {cpu / ours[1]:6.1f} x   {name}", flush=True
        )


def main() -> None:
    """`--quick`: three repeats and no log domain, which takes up to a minute and is run once."""
    quick = "--quick" in sys.argv
    warnings.simplefilter("ignore")
    for shape in SHAPES:
        cost = factor_cost(*shape)
        print(
            f"{shape[0]} x {shape[1]}, epsilon {EPSILON}, L1 error {ERROR}, mean {cost.mean():.3f}, sd {cost.std():.3f}"
        )
        compare(cost, repeats=3 if quick else 7, slow=not quick)


if __name__ == "__main__":
    main()
