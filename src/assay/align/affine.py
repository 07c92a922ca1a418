"""`AffineMap`: donor rows to recipient rows, x -> (x - donor_mean) M + recipient_mean, and how it was fitted."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import final

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import EstimateError, ShapeError
from assay.rows import PairedRows, checked_rows

WORST_CONDITION = 1e12
"""A matrix whose largest singular value is that many times its smallest has no inverse that float64 can hold."""


@final
@dataclass(frozen=True)
class Fit:
    """How a map came to be, for the record.

    ``rank`` is that of the matrix, ``penalty`` the ridge penalty (0 if there is none), ``regime`` a named case of
    the fit, ``note`` what a reader must know, ``rows_digest`` SHA-256 over the rows it was fitted on (empty if it
    was fitted on none).
    """

    name: str
    n_rows: int
    rank: int
    penalty: float = 0.0
    regime: str = ""
    note: str = ""
    rows_digest: str = ""


@final
@dataclass(frozen=True, eq=False)
class AffineMap:
    """Carries donor rows to recipient rows: A(x) = (x - donor_mean) matrix + recipient_mean, all in float64.

    Raises:
        ShapeError: the parts do not fit each other.
        EstimateError: a part holds NaN or infinity.
    """

    matrix: Float[NDArray, "d_donor d_recipient"]
    donor_mean: Float[NDArray, " d_donor"]
    recipient_mean: Float[NDArray, " d_recipient"]
    fit: Fit = Fit("given", 0, 0)

    def __post_init__(self) -> None:
        for name in ("matrix", "donor_mean", "recipient_mean"):
            value = np.array(getattr(self, name), dtype=np.float64)
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        means = (self.donor_mean.shape, self.recipient_mean.shape)
        if self.matrix.ndim != 2 or means != (self.matrix.shape[:1], self.matrix.shape[1:]):
            raise ShapeError(
                f"AffineMap: matrix {self.matrix.shape}, donor mean {means[0]}, recipient mean {means[1]}; the means "
                "are as long as the sides of the matrix."
            )
        if not all(np.isfinite(part).all() for part in (self.matrix, self.donor_mean, self.recipient_mean)):
            raise EstimateError("AffineMap: matrix or means hold NaN or infinity.")

    @property
    def d_donor(self) -> int:
        """Width of the rows it takes."""
        return int(self.matrix.shape[0])

    @property
    def d_recipient(self) -> int:
        """Width of the rows it gives."""
        return int(self.matrix.shape[1])

    @property
    def n_parameters(self) -> int:
        """Numbers that were fitted or could have been: d_donor d_recipient + d_donor + d_recipient."""
        return self.matrix.size + self.d_donor + self.d_recipient

    def apply(self, rows: Float[NDArray, "row d_donor"]) -> Float[NDArray, "row d_recipient"]:
        """Donor rows as recipient rows.

        Raises:
            ShapeError: rows of another width than the map takes.
            EstimateError: NaN or infinity.
        """
        return np.asarray((self._taken(rows) - self.donor_mean) @ self.matrix + self.recipient_mean)

    def linear(self, differences: Float[NDArray, "row d_donor"]) -> Float[NDArray, "row d_recipient"]:
        """The linear part alone, v -> v M: for differences of rows and steering vectors, which have no mean.

        Raises:
            ShapeError, EstimateError: as for `apply`.
        """
        return np.asarray(self._taken(differences) @ self.matrix)

    def then(self, following: AffineMap) -> AffineMap:
        """The composition x -> following(self(x)).

        Raises:
            ShapeError: the second map takes rows of another width than the first gives.
        """
        if self.d_recipient != following.d_donor:
            raise ShapeError(
                f"AffineMap.then: the first map gives rows of width {self.d_recipient}, the second takes "
                f"{following.d_donor}. Fit the second on rows of the first's recipient."
            )
        matrix = self.matrix @ following.matrix
        mean = following.apply(self.recipient_mean[None])[0]
        name = f"{self.fit.name} then {following.fit.name}"
        return AffineMap(matrix, self.donor_mean, mean, Fit(name, 0, matrix_rank(matrix)))

    def inverse(self) -> AffineMap:
        """The map back: A.inverse() after A is the identity up to rounding.

        Raises:
            ShapeError: different widths; then no map goes back and forth without loss.
            EstimateError: a matrix that is singular, or so nearly that its condition number is above 1e12.
        """
        if self.d_donor != self.d_recipient:
            raise ShapeError(
                f"AffineMap.inverse: the map goes from width {self.d_donor} to {self.d_recipient} and has no inverse. "
                "Fit a map in the other direction."
            )
        condition = float(np.linalg.cond(self.matrix))
        if not condition < WORST_CONDITION:
            raise EstimateError(
                f"AffineMap.inverse: the matrix of width {self.d_donor} has condition number {condition:.3g}, above "
                f"{WORST_CONDITION:g}. Fit a map in the other direction."
            )
        fit = Fit(f"inverse of {self.fit.name}", 0, self.d_donor)
        return AffineMap(np.linalg.inv(self.matrix), self.recipient_mean, self.donor_mean, fit)

    def r_squared(self, donor: Float[NDArray, "row d_donor"], recipient: Float[NDArray, "row d_recipient"]) -> float:
        """1 - |A(donor) - recipient|^2 / |recipient - its mean|^2 over the rows given; can be negative.

        A high value does not say that a graft through the map will work.

        Raises:
            ShapeError: rows of other widths, or not the same number of rows.
            EstimateError: recipient rows that do not vary.
        """
        carried, wanted = self.apply(donor), checked_rows(recipient, what="AffineMap.r_squared")
        if carried.shape != wanted.shape:
            raise ShapeError(
                f"AffineMap.r_squared: {carried.shape} rows come out of the map, {wanted.shape} are the recipient's."
            )
        total = float(((wanted - wanted.mean(axis=0)) ** 2).sum())
        if not total > 0:
            raise EstimateError(f"AffineMap.r_squared: {len(wanted)} recipient rows do not vary.")
        return 1 - float(((carried - wanted) ** 2).sum()) / total

    def _taken(self, rows: Float[NDArray, "row d_donor"]) -> Float[NDArray, "row d_donor"]:
        values = checked_rows(rows, what="AffineMap")
        if values.shape[1] != self.d_donor:
            raise ShapeError(f"AffineMap: rows of width {values.shape[1]}, the map takes {self.d_donor}.")
        return values


def matrix_rank(matrix: Float[NDArray, "d_donor d_recipient"]) -> int:
    """Rank with numpy's tolerance: singular values above max(shape) eps times the largest."""
    return int(np.linalg.matrix_rank(matrix))


def rows_digest(rows: PairedRows) -> str:
    """SHA-256 over shapes, means and centred values of both sides, in this order: names the rows of a fit."""
    digest = hashlib.sha256()
    for part in rows:
        digest.update(repr(part.shape).encode())
        digest.update(np.ascontiguousarray(part, dtype="<f8").tobytes())
    return digest.hexdigest()
