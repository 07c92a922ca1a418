"""Linear maps from donor rows to recipient rows for retrieval, fitted on one part of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from assay.axes import Float, Int, NDArray
from assay.errors import EstimateError

PENALTIES = tuple(10.0**power for power in range(-8, 3))
"""Ridge penalties, in units of the mean eigenvalue of the donor's covariance on the rows that are fitted."""


class Fitted(NamedTuple):
    """Donor rows of the test items carried to the recipient, and what to know about the fit."""

    mapped: Float[NDArray, "test_item d_recipient"]
    penalty: float
    note: str


@dataclass(frozen=True, eq=False)
class DonorRows:
    """Centred donor rows of the fit and test items with the decompositions that ridge needs, computed once a view."""

    fit: Float[NDArray, "fit_item d_donor"]
    test: Float[NDArray, "test_item d_donor"]
    folds: Sequence[Int[NDArray, " _"]]

    @cached_property
    def whole(self) -> Spectrum:
        """Decomposition of all fit rows, with the test rows to predict."""
        return _spectrum(self.fit, self.test)

    @cached_property
    def held_out(self) -> list[Spectrum]:
        """For each fold the decomposition of the other fit rows, with the rows of the fold to predict."""
        return [_spectrum(np.delete(self.fit, fold, axis=0), self.fit[fold]) for fold in self.folds]


class Spectrum(NamedTuple):
    """Eigenpairs of X X' (items by items) or X' X (width by width) whichever is smaller, and the rows to predict.

    A prediction with penalty p is ``left / (values + p) @ (right @ Y)``.
    """

    values: Float[NDArray, " pair"]
    left: Float[NDArray, "predicted pair"]
    right: Float[NDArray, "pair fitted"]


def fit_ridge(donor: DonorRows, recipient_fit: Float[NDArray, "fit_item d_recipient"]) -> Fitted:
    """Ridge from centred donor to centred recipient rows; penalty by squared error over folds of whole clusters.

    One decomposition a fold serves all penalties and all recipients.
    """
    errors = np.zeros(len(PENALTIES))
    for spectrum, fold in zip(donor.held_out, donor.folds, strict=True):
        projected = spectrum.right @ np.delete(recipient_fit, fold, axis=0)
        for place, penalty in enumerate(PENALTIES):
            errors[place] += float(((_predict(spectrum, projected, penalty) - recipient_fit[fold]) ** 2).sum())
    best = int(np.argmin(errors))
    spectrum = donor.whole
    notes = [_regime(donor)] if _regime(donor) else []
    if best in (0, len(PENALTIES) - 1):
        notes.append(f"the penalty {PENALTIES[best]:g} is at the end of its grid")
    mapped = _predict(spectrum, spectrum.right @ recipient_fit, PENALTIES[best])
    return Fitted(mapped, PENALTIES[best], "; ".join(notes))


def fit_procrustes(donor: DonorRows, recipient_fit: Float[NDArray, "fit_item d_recipient"]) -> Fitted:
    """Rotation U V' of the singular vectors of X'Y whose singular values are above 1e-10 of the largest.

    With different widths, or fewer items than the width, the map is an isometry on the part that the fit rows span
    and zero on the rest, so nothing depends on an arbitrary completion.

    Raises:
        EstimateError: no covariance between the two sides.
    """
    left, values, right = np.linalg.svd(donor.fit.T @ recipient_fit, full_matrices=False)
    rank = int((values > 1e-10 * values[0]).sum()) if values[0] > 0 else 0
    if rank == 0:
        raise EstimateError(
            "fit_procrustes: donor and recipient rows have no covariance at all; one side does not vary."
        )
    mapped = (donor.test @ left[:, :rank]) @ right[:rank]
    return Fitted(mapped, 0.0, _regime(donor))


def _regime(donor: DonorRows) -> str:
    n, width = donor.fit.shape
    return f"{n} fit items, fewer than the width {width}" if n < width else ""


def _spectrum(fitted: Float[NDArray, "fit_item d"], predicted: Float[NDArray, "predicted d"]) -> Spectrum:
    """Raises EstimateError when the donor rows do not vary."""
    n, width = fitted.shape
    dual = n < width
    values, vectors = np.linalg.eigh(fitted @ fitted.T if dual else fitted.T @ fitted)
    mean = float(values.clip(min=0.0).sum()) / width
    if not mean > 0:
        raise EstimateError(f"fit_ridge: {n} donor rows of width {width} do not vary; no map can be fitted.")
    left = predicted @ (fitted.T @ vectors) if dual else predicted @ vectors
    right = vectors.T if dual else vectors.T @ fitted.T
    return Spectrum(values.clip(min=0.0) / mean, left / mean, right)


def _predict(
    spectrum: Spectrum, projected: Float[NDArray, "pair d_recipient"], penalty: float
) -> Float[NDArray, "predicted d_recipient"]:
    return np.asarray((spectrum.left / (spectrum.values + penalty)) @ projected)
