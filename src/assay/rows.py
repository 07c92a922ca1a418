"""Rows that are compared or fitted in pairs: checked once, in float64, centred by columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import EstimateError, ShapeError


class CentredRows(NamedTuple):
    """Rows minus their column means, and the means, in the unit of the rows."""

    rows: Float[NDArray, "row d"]
    mean: Float[NDArray, " d"]


class PairedRows(NamedTuple):
    """Centred rows of both sides; row i is the same item at the same position in both."""

    donor: Float[NDArray, "row d_donor"]
    recipient: Float[NDArray, "row d_recipient"]
    donor_mean: Float[NDArray, " d_donor"]
    recipient_mean: Float[NDArray, " d_recipient"]


def checked_rows(rows: Float[NDArray, "row d"], *, what: str) -> Float[NDArray, "row d"]:
    """A copy of the rows in float64. ``what`` begins the message of an error.

    Raises:
        ShapeError: not a matrix of at least one row and column.
        EstimateError: NaN or infinity; the first such row is named.
    """
    given = np.asarray(rows)
    if given.ndim != 2 or 0 in given.shape:
        raise ShapeError(f"{what}: rows of shape {given.shape}; a matrix of rows by width is needed.")
    values = given.astype(np.float64)
    finite = np.isfinite(values).all(axis=1)
    if not finite.all():
        where = int(np.flatnonzero(~finite)[0])
        raise EstimateError(
            f"{what}: row {where} holds NaN or infinity ({int((~finite).sum())} of {len(values)} rows do)."
        )
    return values


def centred_rows(rows: Float[NDArray, "row d"], *, what: str, fewest: int = 2) -> CentredRows:
    """Rows minus their column means, in float64; columns that are constant up to rounding become exactly 0.

    Raises:
        ShapeError: not a matrix.
        EstimateError: fewer than ``fewest`` rows, NaN or infinity, or rows that do not vary at all.
    """
    values = checked_rows(rows, what=what)
    if len(values) < fewest:
        raise EstimateError(f"{what}: {len(values)} rows; at least {fewest} are needed.")
    size = np.abs(values).max(axis=0)
    mean = values.mean(axis=0)
    values -= mean
    # Sums down a column round by about the number of rows; a second pass takes that out.
    rest = values.mean(axis=0)
    values -= rest
    values[:, np.abs(values).max(axis=0) <= 8 * np.finfo(np.float64).eps * size] = 0.0
    if not values.any():
        raise EstimateError(f"{what}: {len(values)} rows of width {values.shape[1]} do not vary.")
    return CentredRows(values, mean + rest)


def paired_rows(
    donor: Float[NDArray, "row d_donor"], recipient: Float[NDArray, "row d_recipient"], *, what: str, fewest: int = 2
) -> PairedRows:
    """Both sides centred.

    Raises:
        ShapeError: not matrices, or not the same number of rows.
        EstimateError: as for `centred_rows`; the side is named.
    """
    if np.ndim(donor) == np.ndim(recipient) == 2 and len(donor) != len(recipient):
        raise ShapeError(
            f"{what}: {len(donor)} donor rows, {len(recipient)} recipient rows. Row i must be the same item in both."
        )
    one = centred_rows(donor, what=f"{what}, donor", fewest=fewest)
    other = centred_rows(recipient, what=f"{what}, recipient", fewest=fewest)
    return PairedRows(one.rows, other.rows, one.mean, other.mean)
