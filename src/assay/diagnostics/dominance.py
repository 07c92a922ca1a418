"""How far few dimensions dominate a set of rows, and rows in which none does.

Measures that ignore rotations only are moved by one large column: scaling one of twenty by 100 takes CKA from 0.8 to
0.2. So a similarity is read next to the share of the largest direction and next to its value on standardised rows.
"""

from __future__ import annotations

import numpy as np

from assay.axes import Float, NDArray
from assay.diagnostics.procrustes import compact_rows
from assay.rows import centred_rows


def largest_share(rows: Float[NDArray, "item d"]) -> float:
    """Share of the variance that lies in the first principal direction, in (0, 1].

    Raises:
        ShapeError: not a matrix.
        EstimateError: fewer than 2 items, rows that are no numbers or do not vary.
    """
    values = np.linalg.svd(compact_rows(rows), compute_uv=False)
    return float(values[0] ** 2 / (values**2).sum())


def effective_dimension(rows: Float[NDArray, "item d"]) -> float:
    """Participation ratio (sum v)^2 / sum v^2 of the variances v along principal directions, from 1 to the rank.

    Raises as `largest_share`.
    """
    variances = np.linalg.svd(compact_rows(rows), compute_uv=False) ** 2
    return float(variances.sum() ** 2 / (variances**2).sum())


def standardised_rows(rows: Float[NDArray, "item d"]) -> Float[NDArray, "item d"]:
    """Columns with mean 0 and standard deviation 1 (over n); columns that do not vary stay 0.

    Raises as `largest_share`.
    """
    centred = centred_rows(rows, what="standardised_rows").rows
    deviation = np.sqrt((centred**2).mean(axis=0))
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))
