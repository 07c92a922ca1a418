"""Ridge regression from donor rows to recipient rows, its penalty given or chosen over folds of whole groups."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from assay.align.affine import AffineMap, Fit, matrix_rank, rows_digest
from assay.axes import Float, Int, NDArray
from assay.clusters import clusters_of
from assay.errors import EstimateError
from assay.rows import paired_rows

DEFAULT_PENALTY = 1e-3
PENALTIES = tuple(10.0**power for power in range(-6, 1))
"""Penalties that cross-validation tries, in units of the mean squared donor value: 1e-6, 1e-5, ..., 1."""


@final
@dataclass(frozen=True)
class GroupedCrossValidation:
    """Choose the penalty by squared error over folds of whole groups.

    ``groups`` names the group of every row: rows of one sequence are dependent, so a fold takes sequences whole.
    Groups go to the folds in turn, in the order in which they first appear.
    """

    groups: Sequence[Hashable]
    folds: int = 5
    penalties: tuple[float, ...] = PENALTIES


class PenaltyChoice(NamedTuple):
    """The penalty of smallest error, the summed squared error of each penalty, and a note if it lies at an end."""

    penalty: float
    errors: tuple[float, ...]
    note: str


def fit_ridge(
    donor: Float[NDArray, "row d_donor"],
    recipient: Float[NDArray, "row d_recipient"],
    *,
    penalty: float | GroupedCrossValidation = DEFAULT_PENALTY,
) -> AffineMap:
    """M = (X'X + l I)^-1 X'Y with l = penalty tr(X'X) / d_donor, columns of X and Y centred.

    Penalty 0 is the pseudo-inverse (the solution of least norm). The means are not penalised. The map shrinks: along
    a principal direction of the donor with singular value s by s^2 / (s^2 + l).

    Raises:
        ShapeError: different numbers of rows.
        EstimateError: a negative penalty, fewer groups than folds, rows that are no numbers or do not vary.
    """
    rows = paired_rows(donor, recipient, what="fit_ridge")
    note = ""
    if isinstance(penalty, GroupedCrossValidation):
        choice = choose_penalty(donor, recipient, how=penalty)
        penalty, note = choice.penalty, choice.note
    matrix = _Spectrum.of(rows.donor, rows.recipient).coefficients(_checked(penalty))
    fit = Fit("ridge", len(rows.donor), matrix_rank(matrix), penalty=penalty, note=note, rows_digest=rows_digest(rows))
    return AffineMap(matrix, rows.donor_mean, rows.recipient_mean, fit)


def choose_penalty(
    donor: Float[NDArray, "row d_donor"],
    recipient: Float[NDArray, "row d_recipient"],
    *,
    how: GroupedCrossValidation,
) -> PenaltyChoice:
    """The penalty with the smallest squared error on held-out groups; each fold is centred with the other folds' means.

    Among equal errors the first penalty wins.

    Raises:
        ShapeError: different numbers of rows.
        EstimateError: as for `fit_ridge`, and not one group a row, fewer than 2 folds, no penalties.
    """
    rows = paired_rows(donor, recipient, what="choose_penalty")
    penalties = [_checked(penalty) for penalty in how.penalties]
    if not penalties:
        raise EstimateError("choose_penalty: no penalties to choose from.")
    fold_of = _folds(how, len(rows.donor))
    errors = np.zeros(len(penalties))
    for fold in range(how.folds):
        held = fold_of == fold
        rest = paired_rows(rows.donor[~held], rows.recipient[~held], what=f"choose_penalty, without fold {fold}")
        spectrum = _Spectrum.of(rest.donor, rest.recipient)
        seen, wanted = rows.donor[held] - rest.donor_mean, rows.recipient[held] - rest.recipient_mean
        for place, penalty in enumerate(penalties):
            errors[place] += float(((seen @ spectrum.coefficients(penalty) - wanted) ** 2).sum())
    best = int(np.argmin(errors))
    at_end = len(penalties) > 1 and best in (0, len(penalties) - 1)
    note = f"the penalty {penalties[best]:g} is at the end of its grid" if at_end else ""
    return PenaltyChoice(penalties[best], tuple(errors.tolist()), note)


class _Spectrum(NamedTuple):
    """Thin singular value decomposition of X, with U'Y: what the coefficients of every penalty need."""

    values: Float[NDArray, " pair"]
    right: Float[NDArray, "pair d_donor"]
    projected: Float[NDArray, "pair d_recipient"]

    @classmethod
    def of(cls, donor: Float[NDArray, "row d_donor"], recipient: Float[NDArray, "row d_recipient"]) -> _Spectrum:
        left, values, right = np.linalg.svd(donor, full_matrices=False)
        kept = values > max(donor.shape) * np.finfo(np.float64).eps * values[0]
        return cls(values[kept], right[kept], left[:, kept].T @ recipient)

    def coefficients(self, penalty: float) -> Float[NDArray, "d_donor d_recipient"]:
        scale = float((self.values**2).sum()) / self.right.shape[1]
        weights = self.values / (self.values**2 + penalty * scale)
        return np.asarray(self.right.T @ (weights[:, None] * self.projected))


def _checked(penalty: float) -> float:
    if not (penalty >= 0 and math.isfinite(penalty)):
        raise EstimateError(f"fit_ridge: penalty {penalty}; it is 0 or more, in units of the mean squared donor value.")
    return float(penalty)


def _folds(how: GroupedCrossValidation, n_rows: int) -> Int[NDArray, " row"]:
    found = clusters_of(how.groups, n_rows, what="choose_penalty")
    if how.folds < 2 or found.n_clusters < how.folds:
        raise EstimateError(
            f"choose_penalty: {found.n_clusters} groups for {how.folds} folds; at least 2 folds and a group for each."
        )
    return np.asarray(found.of_item % how.folds)
