"""The few entries of a kernel that carry the plan: at small epsilon a few dozen a row instead of all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from assay.axes import Float, NDArray
from assay.transport.bounds import blocks
from assay.transport.kernel import Kernel
from assay.transport.newton import Matrix
from assay.transport.problem import Problem

__all__ = ["Thinned", "thinned"]


class Thinned(NamedTuple):
    """A kernel to work on and the marginals that its part of the plan has to reach."""

    matrix: Matrix
    row: Float[NDArray, " n_recipient"]
    column: Float[NDArray, " n_donor"]


def thinned(kernel: Kernel, problem: Problem, *, below: float, densest: float = 0.2) -> Thinned:
    """Entries of at least ``below`` a_i before or after the next column update; all, where over ``densest`` would stay.

    ``kernel`` must be fresh from a row update. The left-out mass keeps its place for the time being: it is taken out of
    the marginals, so that the error made is of second order. The result must be judged on the whole kernel.
    """
    n, m = kernel.matrix.shape
    kind = kernel.matrix.dtype
    least = (below * problem.row / kernel.u).astype(kind)
    reached = kernel.u.astype(kind) @ kernel.matrix
    on_columns = np.maximum(kernel.v, problem.column / reached).astype(kind)
    places, values, counts, offset = [], [], [], 0
    for block in blocks(kernel.matrix):
        part = kernel.matrix[block]
        keep = part * on_columns >= least[block, None]
        place = np.flatnonzero(keep)
        places.append(place % m)
        values.append(part.ravel()[place])
        counts.append(np.count_nonzero(keep, axis=1))
        offset += len(place)
        if offset > densest * n * m:
            return Thinned(kernel.matrix, problem.row, problem.column)
    ends = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int32)
    data = np.concatenate(values).astype(np.float64)
    sparse = csr_array((data, np.concatenate(places).astype(np.int32), ends), shape=(n, m))
    row = kernel.u * (sparse @ kernel.v)
    column = kernel.v * (sparse.T @ kernel.u)
    left_out = np.maximum(kernel.v * reached - column, 0.0)
    rest = problem.column - left_out
    if not (row.min() > 0 and rest.min() > 0):
        return Thinned(kernel.matrix, problem.row, problem.column)
    return Thinned(sparse, row, rest * (row.sum() / rest.sum()))
