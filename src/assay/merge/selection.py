"""Which neurons of a weight a merge may change: rows on its output side, or columns on its input side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from assay.axes import Float, Int, NDArray
from assay.choices import checked_choice
from assay.errors import EstimateError, ShapeError

__all__ = ["Selection", "Side", "select"]

Side = Literal["out", "in"]


@final
@dataclass(frozen=True, eq=False)
class Selection:
    """``out``: rows ``neurons`` of the weight, all columns. ``in``: columns ``neurons``, all rows. Sorted."""

    side: Side
    neurons: Int[NDArray, " selected"]

    def __post_init__(self) -> None:
        """Raises: EstimateError for an unknown side."""
        checked_choice(self.side, Side, what="Selection: side")


def select(scores: Float[NDArray, " width"], *, k: int, side: Side) -> Selection:
    """The k neurons with the highest scores, of the interface on that side; more than there are selects all.

    Scores are the recipient's mean absolute activations, taken at the weight's output for ``out`` and at its *input*
    for ``in``. (The released code of Cui et al. scores columns by the projection's output, which are other neurons.)
    Ties go to the lower index; k = 0 selects none.

    Raises:
        ShapeError: scores that are not one number a neuron.
        EstimateError: negative k, an unknown side, or a score that is not finite.
    """
    given = np.asarray(scores, dtype=np.float64)
    if given.ndim != 1 or given.size == 0:
        raise ShapeError(f"select: scores of shape {given.shape}; one number a neuron is needed.")
    if k < 0 or side not in ("out", "in") or not np.isfinite(given).all():
        bad = int((~np.isfinite(given)).sum())
        raise EstimateError(
            f"select: k {k}, side {side!r}, {bad} of {given.size} scores not finite; k of at least 0, 'out' or 'in'."
        )
    return Selection(side, np.sort(np.argsort(-given, kind="stable")[:k]))
