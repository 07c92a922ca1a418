"""Maps through canonical coordinates: reduced-rank regression, and the swap of coordinates. They are not the same.

Both whiten the two sides, S = Cov + share tr(Cov)/d I, and decompose S_dd^-1/2 S_dr S_rr^-1/2 = U rho V'. With all
components and rho kept the first is ridge regression, exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.align.affine import AffineMap, Fit, rows_digest
from assay.align.procrustes import undetermined
from assay.axes import Float, NDArray
from assay.errors import EstimateError
from assay.rows import PairedRows, paired_rows

THRESHOLD = 0.3
"""Canonical correlations at or below are dropped by the reduced-rank map."""
SHARE = 1e-3
"""What whitening adds to a covariance, in units of its mean eigenvalue."""


class _Canonical(NamedTuple):
    whiten: Float[NDArray, "d_donor d_donor"]
    left: Float[NDArray, "d_donor component"]
    rho: Float[NDArray, " component"]
    right: Float[NDArray, "component d_recipient"]
    colour: Float[NDArray, "d_recipient d_recipient"]


def fit_cca(
    donor: Float[NDArray, "row d_donor"],
    recipient: Float[NDArray, "row d_recipient"],
    *,
    threshold: float = THRESHOLD,
    share: float = SHARE,
) -> AffineMap:
    """M = S_dd^-1/2 U rho V' S_rr^1/2 over the components with rho above the threshold: reduced-rank regression.

    A regression: it shrinks each component by rho.

    Raises:
        ShapeError: different numbers of rows.
        EstimateError: no component above the threshold, a share that is not positive, rows that do not vary.
    """
    rows = paired_rows(donor, recipient, what="fit_cca")
    parts = _canonical(rows, share)
    rank = int((parts.rho > threshold).sum())
    if rank == 0:
        raise EstimateError(
            f"fit_cca: no canonical correlation is above {threshold} (the largest is {parts.rho[0]:.3g}) over "
            f"{len(rows.donor)} rows. Lower the threshold, or fit on rows that share something."
        )
    matrix = parts.whiten @ (parts.left[:, :rank] * parts.rho[:rank]) @ parts.right[:rank] @ parts.colour
    fit = Fit("cca", len(rows.donor), rank, penalty=share, rows_digest=rows_digest(rows))
    return AffineMap(matrix, rows.donor_mean, rows.recipient_mean, fit)


def fit_cca_swap(
    donor: Float[NDArray, "row d_donor"], recipient: Float[NDArray, "row d_recipient"], *, share: float = SHARE
) -> AffineMap:
    """M = S_dd^-1/2 U V' S_rr^1/2: donor coordinates put in place of recipient coordinates, without shrinking.

    Procrustes between whitened sides. Components whose correlation is below 1e-6 of the largest go anywhere; the note
    counts them.

    Raises:
        ShapeError: different numbers of rows.
        EstimateError: a share that is not positive, rows that do not vary.
    """
    rows = paired_rows(donor, recipient, what="fit_cca_swap")
    parts = _canonical(rows, share)
    matrix = parts.whiten @ parts.left @ parts.right @ parts.colour
    fit = Fit(
        "cca_swap",
        len(rows.donor),
        len(parts.rho),
        penalty=share,
        note=undetermined(parts.rho),
        rows_digest=rows_digest(rows),
    )
    return AffineMap(matrix, rows.donor_mean, rows.recipient_mean, fit)


def _canonical(rows: PairedRows, share: float) -> _Canonical:
    if not share > 0:
        raise EstimateError(f"cca: share {share}; whitening needs a positive one, for example {SHARE}.")
    whiten = _power(rows.donor, share, -0.5)
    cross = whiten @ (rows.donor.T @ rows.recipient) @ _power(rows.recipient, share, -0.5)
    left, rho, right = np.linalg.svd(cross, full_matrices=False)
    return _Canonical(whiten, left, rho, right, _power(rows.recipient, share, 0.5))


def _power(rows: Float[NDArray, "row d"], share: float, exponent: float) -> Float[NDArray, "d d"]:
    """(X'X + share tr(X'X)/d I) to a power, symmetric; the number of rows cancels between the factors of a map."""
    values, vectors = np.linalg.eigh(rows.T @ rows)
    regular = values.clip(min=0.0) + share * float((rows**2).sum()) / rows.shape[1]
    return np.asarray((vectors * regular**exponent) @ vectors.T)
