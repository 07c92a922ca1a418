"""Two sides of the exact cost: a plan made feasible costs at least as much, a feasible dual at most as much."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.axes import Float, NDArray

__all__ = ["Rounded", "blocks", "dual_bound", "rounded_cost", "rounding"]

_BLOCK_BYTES = 1 << 19


class Rounded(NamedTuple):
    """Q' = diag(row) Q diag(column) + outer(row_rest, column_rest): nonnegative, with the exact marginals."""

    row: Float[NDArray, " n_recipient"]
    column: Float[NDArray, " n_donor"]
    row_rest: Float[NDArray, " n_recipient"]
    column_rest: Float[NDArray, " n_donor"]


def blocks(matrix: NDArray) -> list[slice]:
    """Slices of whole rows of about half a megabyte, so that several passes over a block meet it in the cache."""
    rows = max(1, _BLOCK_BYTES // (matrix.shape[1] * matrix.itemsize))
    return [slice(start, start + rows) for start in range(0, matrix.shape[0], rows)]


def rounding(
    matrix: Float[NDArray, "n_recipient n_donor"],
    *,
    row: Float[NDArray, " n_recipient"],
    column: Float[NDArray, " n_donor"],
    row_sums: Float[NDArray, " n_recipient"] | None = None,
) -> Rounded:
    """Scale rows down to ``row``, then columns down to ``column``, then add the missing mass as a rank-one matrix.

    ``row_sums``: those of the matrix, if they are known.

    Source: Altschuler, Weed and Rigollet 2017 (arXiv 1705.09634), algorithm 2.
    """
    given = matrix.sum(axis=1, dtype=np.float64) if row_sums is None else row_sums
    over_rows = _down(row, np.asarray(given))
    sums = np.zeros(matrix.shape[1])
    for block in blocks(matrix):
        sums += over_rows[block].astype(matrix.dtype) @ matrix[block]
    over_columns = _down(column, sums)
    kept = over_rows * (matrix @ over_columns.astype(matrix.dtype))
    row_rest = np.maximum(row - kept, 0.0)
    column_rest = np.maximum(column - over_columns * sums, 0.0)
    missing = float(column_rest.sum())
    return Rounded(over_rows, over_columns, row_rest, column_rest / missing if missing > 0 else column_rest)


def rounded_cost(
    matrix: Float[NDArray, "n_recipient n_donor"],
    cost: Float[NDArray, "n_recipient n_donor"],
    *,
    row: Float[NDArray, " n_recipient"],
    column: Float[NDArray, " n_donor"],
    row_sums: Float[NDArray, " n_recipient"] | None = None,
) -> float:
    """<C, Q'> of the plan made feasible by `rounding`: at least the exact cost. In units of the cost."""
    parts = rounding(matrix, row=row, column=column, row_sums=row_sums)
    on_donor = parts.column.astype(cost.dtype)
    total = float(parts.row_rest @ (cost @ parts.column_rest.astype(cost.dtype)))
    for block in blocks(cost):
        total += float(parts.row[block] @ ((matrix[block] * cost[block]) @ on_donor))
    return total


def dual_bound(
    cost: Float[NDArray, "n_recipient n_donor"],
    potential: Float[NDArray, " n_donor"],
    *,
    row: Float[NDArray, " n_recipient"],
    column: Float[NDArray, " n_donor"],
) -> float:
    """At most the exact cost, for any ``potential`` g: <f, a> + <g', b> in units of the cost.

    f_i = min_j (C_ij - g_j), then g'_j = min_i (C_ij - f_i). Both minima are feasible, f_i + g_j <=
    C_ij, hence the bound (weak duality).
    """
    shift = potential.astype(cost.dtype)
    on_rows = np.concatenate([(cost[block] - shift).min(axis=1) for block in blocks(cost)])
    on_columns = np.full(cost.shape[1], np.inf, dtype=cost.dtype)
    for block in blocks(cost):
        np.minimum(on_columns, (cost[block] - on_rows[block, None]).min(axis=0), out=on_columns)
    return float(row @ on_rows.astype(np.float64) + column @ on_columns.astype(np.float64))


def _down(wanted: NDArray, sums: NDArray) -> NDArray:
    """min(1, wanted / sums), and 1 where a sum is 0."""
    return np.asarray(np.minimum(1.0, np.divide(wanted, sums, out=np.ones_like(wanted), where=sums > 0)))
