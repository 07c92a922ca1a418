"""Probe rows of two models, aligned by the name of the row and never by its place."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, final

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import EstimateError, ShapeError

__all__ = ["AlignedRows", "ProbeRows", "aligned_rows"]


@final
@dataclass(frozen=True, eq=False)
class ProbeRows:
    """Activations of one interface, one row a probe text, each with the stable id of its text.

    Errors: ShapeError when ids and rows do not fit or an id comes twice; EstimateError naming a row that is not
    finite.
    """

    ids: tuple[str, ...]
    values: Float[NDArray, "row width"] = field(repr=False)

    def __post_init__(self) -> None:
        if np.ndim(self.values) != 2 or len(self.ids) != len(self.values):
            raise ShapeError(f"ProbeRows: {len(self.ids)} ids for values of shape {np.shape(self.values)}.")
        if len(set(self.ids)) != len(self.ids):
            twice = next(name for name in self.ids if self.ids.count(name) > 1)
            raise ShapeError(f"ProbeRows: the id {twice!r} comes more than once. Ids name one text each.")
        finite = np.isfinite(self.values).all(axis=1)
        if not finite.all():
            bad = self.ids[int(np.argmin(finite))]
            raise EstimateError(
                f"ProbeRows: row {bad!r} holds NaN or infinity ({int((~finite).sum())} of {len(finite)} rows do). "
                "Find out why before leaving it out."
            )


class AlignedRows(NamedTuple):
    """Rows of both models for the same texts in the order of the ids; ``digest`` is kept with the plan."""

    ids: tuple[str, ...]
    recipient: Float[NDArray, "row n_recipient"]
    donor: Float[NDArray, "row n_donor"]
    left_out: tuple[str, ...]
    digest: str


def aligned_rows(recipient: ProbeRows, donor: ProbeRows, *, min_rows: int) -> AlignedRows:
    """The rows that both sides have, sorted by id; a row that one side lacks is left out on both, and named.

    Raises:
        EstimateError: fewer than ``min_rows`` common rows.
    """
    ids = tuple(sorted(set(recipient.ids) & set(donor.ids)))
    left_out = tuple(sorted(set(recipient.ids) ^ set(donor.ids)))
    if len(ids) < min_rows:
        raise EstimateError(
            f"aligned_rows: {len(ids)} rows in common, {len(left_out)} on one side only; at least {min_rows} are "
            "needed."
        )
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    return AlignedRows(ids, _rows_of(recipient, ids), _rows_of(donor, ids), left_out, digest)


def _rows_of(side: ProbeRows, ids: Sequence[str]) -> NDArray:
    place = {name: row for row, name in enumerate(side.ids)}
    return np.asarray(side.values[[place[name] for name in ids]])
