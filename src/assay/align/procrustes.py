"""Orthogonal Procrustes: the matrix of orthonormal rows or columns that lays donor rows on recipient rows best."""

from __future__ import annotations

from typing import Literal

import numpy as np

from assay.align.affine import AffineMap, Fit, rows_digest
from assay.axes import Float, NDArray
from assay.rows import paired_rows

Regime = Literal["isometric", "projecting"]
UNDETERMINED = 1e-6
"""Singular values of the cross-covariance below that share of the largest leave their directions undetermined."""


def fit_procrustes(donor: Float[NDArray, "row d_donor"], recipient: Float[NDArray, "row d_recipient"]) -> AffineMap:
    """M = U V' from the thin singular value decomposition U S V' of X'Y, columns of X and Y centred.

    It maximises tr(M' X'Y) over matrices of orthonormal rows or columns; reflections are allowed. Two regimes:

    - ``isometric`` (d_donor <= d_recipient): M M' = I, every row keeps its length, and M is also the least-squares
      optimum;
    - ``projecting`` (d_donor > d_recipient): only M'M = I. M has a kernel of dimension d_donor - d_recipient, so rows
      lose length and a direction can vanish; the trace optimum is then not the least-squares optimum.

    Directions whose singular value is below 1e-6 of the largest are placed arbitrarily; the note counts them.
    scipy.linalg.orthogonal_procrustes gives the same M for equal widths and refuses others.

    Raises:
        ShapeError: different numbers of rows.
        EstimateError: fewer than 2 rows, rows that are no numbers or do not vary.

    Source: Schönemann 1966 (doi 10.1007/BF02289451).
    """
    rows = paired_rows(donor, recipient, what="fit_procrustes")
    left, values, right = np.linalg.svd(rows.donor.T @ rows.recipient, full_matrices=False)
    matrix = left @ right
    regime: Regime = "isometric" if matrix.shape[0] <= matrix.shape[1] else "projecting"
    fit = Fit(
        "procrustes",
        len(rows.donor),
        len(values),
        regime=regime,
        note=undetermined(values),
        rows_digest=rows_digest(rows),
    )
    return AffineMap(matrix, rows.donor_mean, rows.recipient_mean, fit)


def undetermined(values: Float[NDArray, " _"]) -> str:
    """How many of the singular values, in falling order, are too small to place their directions; empty if none is."""
    free = int((values < UNDETERMINED * values[0]).sum()) if values[0] > 0 else len(values)
    return f"the rows do not determine where {free} of {len(values)} directions go" if free else ""
