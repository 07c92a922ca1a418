"""The identity as a map: rows of the donor are taken as they are."""

from __future__ import annotations

import numpy as np

from assay.align.affine import AffineMap, Fit, rows_digest
from assay.axes import Float, NDArray
from assay.errors import ShapeError
from assay.rows import paired_rows


def fit_identity(donor: Float[NDArray, "row d_donor"], recipient: Float[NDArray, "row d_recipient"]) -> AffineMap:
    """A(x) = x, whatever the rows; both means are 0, so nothing is centred.

    Raises:
        ShapeError: different widths, or different numbers of rows.
        EstimateError: rows that are no numbers or do not vary.
    """
    rows = paired_rows(donor, recipient, what="fit_identity")
    width = rows.donor.shape[1]
    if rows.recipient.shape[1] != width:
        raise ShapeError(
            f"fit_identity: donor width {width}, recipient width {rows.recipient.shape[1]}. The identity needs equal "
            "widths; fit Procrustes or ridge instead."
        )
    return AffineMap(
        np.eye(width),
        np.zeros(width),
        np.zeros(width),
        Fit("identity", len(rows.donor), width, rows_digest=rows_digest(rows)),
    )
