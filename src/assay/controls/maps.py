"""The sham of a map: means as fitted, and a random orthogonal matrix where the correspondence was."""

from __future__ import annotations

import numpy as np

from assay.align.affine import AffineMap, Fit, rows_digest
from assay.axes import Float, NDArray
from assay.errors import ShapeError
from assay.rows import paired_rows


def fit_haar_sham(
    donor: Float[NDArray, "row d_donor"], recipient: Float[NDArray, "row d_recipient"], *, rng: np.random.Generator
) -> AffineMap:
    """A map with the means of the rows and a matrix drawn without looking at them; called like any fit of ``MAPS``.

    One draw is one sham: average over 5 or more.

    Raises:
        ShapeError: different numbers of rows.
        EstimateError: fewer than 2 rows, rows that are no numbers or do not vary.
    """
    rows = paired_rows(donor, recipient, what="fit_haar_sham")
    matrix = haar_matrix(rows.donor.shape[1], rows.recipient.shape[1], rng=rng)
    fit = Fit("haar sham", len(rows.donor), min(matrix.shape), regime=_regime(matrix), rows_digest=rows_digest(rows))
    return AffineMap(matrix, rows.donor_mean, rows.recipient_mean, fit)


def sham_of(real: AffineMap, *, rng: np.random.Generator) -> AffineMap:
    """The sham of a map that is fitted already: its widths and means, a matrix drawn at random."""
    matrix = haar_matrix(real.d_donor, real.d_recipient, rng=rng)
    fit = Fit(f"haar sham of {real.fit.name}", real.fit.n_rows, min(matrix.shape), regime=_regime(matrix))
    return AffineMap(matrix, real.donor_mean, real.recipient_mean, fit)


def haar_matrix(d_donor: int, d_recipient: int, *, rng: np.random.Generator) -> Float[NDArray, "d_donor d_recipient"]:
    """Uniform among the matrices with orthonormal columns (d_donor >= d_recipient), else with orthonormal rows.

    Q of the QR decomposition of a Gaussian matrix, columns multiplied with the signs of the diagonal of R; without
    the signs the distribution is not uniform (Mezzadri 2007, arXiv math-ph/0609050).

    Raises:
        ShapeError: a width below 1.
    """
    if min(d_donor, d_recipient) < 1:
        raise ShapeError(f"haar_matrix: widths {d_donor} and {d_recipient}; each is 1 or more.")
    tall = (max(d_donor, d_recipient), min(d_donor, d_recipient))
    q, r = np.linalg.qr(rng.standard_normal(tall))
    q = q * np.where(r.diagonal() < 0, -1.0, 1.0)
    return np.asarray(q if d_donor >= d_recipient else q.T)


def _regime(matrix: Float[NDArray, "d_donor d_recipient"]) -> str:
    return "isometric" if matrix.shape[0] <= matrix.shape[1] else "projecting"
