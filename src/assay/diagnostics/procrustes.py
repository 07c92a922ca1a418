"""Procrustes similarity of two sets of rows: how well the best rotation lays one on the other.

Does not change with rotations, shifts, or one factor for all columns of a side; does change with other invertible maps.
Unrelated wide rows score high (0.88 at 1,012 items of width 2,048), so a value is read minus its shuffled mean
(`assay.controls.rows.shuffled_values`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from assay.axes import Float, NDArray
from assay.rows import centred_rows, paired_rows


class _Norms(NamedTuple):
    nuclear: float
    donor: float
    recipient: float


def procrustes_similarity(
    donor: Float[NDArray, "item d_donor"], recipient: Float[NDArray, "item d_recipient"]
) -> float:
    """|X'Y|_* / (|X| |Y|), columns centred, nuclear over Frobenius norms; in [0, 1], 1 for a scaled rotation.

    The widths may differ: columns of zeros change nothing.

    Raises:
        ShapeError: different numbers of items.
        EstimateError: fewer than 2 items, rows that are no numbers or do not vary.

    Source: Williams et al. 2021 (arXiv 2110.14739).
    """
    norms = _norms(donor, recipient)
    return min(1.0, norms.nuclear / (norms.donor * norms.recipient))


def procrustes_angle(donor: Float[NDArray, "item d_donor"], recipient: Float[NDArray, "item d_recipient"]) -> float:
    """acos of `procrustes_similarity`, in radians, a metric: 0 for a scaled rotation, at most pi/2.

    netrep calls this its score with alpha = 1. Raises as `procrustes_similarity`.
    """
    return math.acos(procrustes_similarity(donor, recipient))


def procrustes_distance(donor: Float[NDArray, "item d_donor"], recipient: Float[NDArray, "item d_recipient"]) -> float:
    """min over rotations Q of |X Q - Y|, columns centred: sqrt(|X|^2 + |Y|^2 - 2 |X'Y|_*), in the unit of the rows.

    A metric that knows size: a scaled copy is not at distance 0. Raises as `procrustes_similarity`.

    Source: Williams et al. 2021 (arXiv 2110.14739).
    """
    norms = _norms(donor, recipient)
    return math.sqrt(max(0.0, norms.donor**2 + norms.recipient**2 - 2 * norms.nuclear))


def compact_rows(rows: Float[NDArray, "item d"]) -> Float[NDArray, "item _"]:
    """Centred rows turned into at most as many columns as there are items; all distances and products stay.

    Every measure that ignores rotations has the same value on them, faster where the width is above the items.

    Raises:
        ShapeError: not a matrix.
        EstimateError: fewer than 2 items, rows that are no numbers or do not vary.
    """
    return _compact(centred_rows(rows, what="compact_rows").rows)


def _compact(centred: Float[NDArray, "item d"]) -> Float[NDArray, "item _"]:
    n, width = centred.shape
    if width <= n:
        return centred
    _, triangle = np.linalg.qr(centred.T)
    return np.asarray(triangle.T)


def _norms(donor: Float[NDArray, "item d_donor"], recipient: Float[NDArray, "item d_recipient"]) -> _Norms:
    rows = paired_rows(donor, recipient, what="procrustes")
    X, Y = _compact(rows.donor), _compact(rows.recipient)
    nuclear = float(np.linalg.svd(X.T @ Y, compute_uv=False).sum())
    return _Norms(nuclear, float(np.linalg.norm(X)), float(np.linalg.norm(Y)))
