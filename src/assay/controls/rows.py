"""The sham of a similarity: the same rows, paired at random."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import EstimateError, ShapeError
from assay.stats.permutation import shuffled_order


def shuffled_values(
    measure: Callable[[NDArray, NDArray], float],
    donor: Float[NDArray, "item d_donor"],
    recipient: Float[NDArray, "item d_recipient"],
    *,
    draws: int,
    rng: np.random.Generator,
    clusters: Sequence[Hashable] | None = None,
) -> Float[NDArray, " draw"]:
    """``measure(donor, recipient)`` after each of ``draws`` random orders of the recipient's rows.

    The value of a measure means something next to the mean of these: SVCCA at 99 % of unrelated wide rows is 0.94.
    Measures that do not change with rotations are faster on `assay.diagnostics.procrustes.compact_rows` of both sides.

    Raises:
        ShapeError: different numbers of rows.
        EstimateError: no draws, clusters as for `assay.stats.permutation.shuffled_order`, or what the measure raises.
    """
    if len(donor) != len(recipient):
        raise ShapeError(f"shuffled_values: {len(donor)} donor rows, {len(recipient)} recipient rows.")
    if draws < 1:
        raise EstimateError(f"shuffled_values: {draws} draws; at least 1.")
    orders = (shuffled_order(len(donor), rng=rng, clusters=clusters) for _ in range(draws))
    return np.array([measure(donor, recipient[order]) for order in orders], dtype=np.float64)
