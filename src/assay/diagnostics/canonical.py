"""Canonical correlations between two sets of rows, and the orthonormal bases of items that they are computed from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import EstimateError
from assay.rows import paired_rows


class ItemBasis(NamedTuple):
    """Left singular vectors of centred rows with their singular values, largest first, up to the rank."""

    vectors: Float[NDArray, "item component"]
    values: Float[NDArray, " component"]


def item_basis(centred: Float[NDArray, "item d"]) -> ItemBasis:
    """Orthonormal basis of the columns; singular values at or below max(shape) eps of the largest do not count.

    So columns that are zero, doubled or combinations of others add nothing.
    """
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    rank = int((values > max(centred.shape) * np.finfo(np.float64).eps * values[0]).sum())
    return ItemBasis(left[:, :rank], values[:rank])


def mean_cca(donor: Float[NDArray, "item d_donor"], recipient: Float[NDArray, "item d_recipient"]) -> float:
    """Mean of the min(rank, rank) canonical correlations, in [0, 1]; does not change with any invertible map of a side.

    Raises:
        ShapeError: different numbers of items.
        EstimateError: the ranks together exceed items - 1, so that some correlations are 1 whatever the rows; rows
            that are no numbers or do not vary.
    """
    rows = paired_rows(donor, recipient, what="mean_cca")
    one, other = item_basis(rows.donor), item_basis(rows.recipient)
    need_room(one, other, what="mean_cca")
    return float(correlations(one.vectors, other.vectors).mean())


def correlations(
    donor: Float[NDArray, "item k_donor"], recipient: Float[NDArray, "item k_recipient"]
) -> Float[NDArray, " component"]:
    """Singular values of U_donor' U_recipient, columns orthonormal: cosines of the principal angles, falling."""
    return np.linalg.svd(donor.T @ recipient, compute_uv=False).clip(max=1.0)


def need_room(donor: ItemBasis, recipient: ItemBasis, *, what: str) -> None:
    """Refuse bases that must intersect.

    Raises:
        EstimateError: rank + rank above items - 1.
    """
    n, ranks = len(donor.vectors), (len(donor.values), len(recipient.values))
    if sum(ranks) > n - 1:
        raise EstimateError(
            f"{what}: ranks {ranks[0]} and {ranks[1]} over {n} items; together above {n - 1}, some correlations are 1 "
            "whatever the rows. Use more items, or SVCCA with a fixed k."
        )
