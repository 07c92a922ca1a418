"""SVCCA: mean canonical correlation between the leading principal components of two sets of rows.

With a fixed k it is about 0.85 sqrt(k / (items - 1)) for unrelated rows. With k by share of variance and fewer items
than the width it is near 1 for related and unrelated rows alike: then it says nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.axes import Float, NDArray
from assay.diagnostics.canonical import ItemBasis, correlations, item_basis
from assay.errors import EstimateError
from assay.rows import paired_rows

SHARE = 0.99


class SvccaAtShare(NamedTuple):
    """The value with the numbers of components that reached the share of variance on either side."""

    value: float
    k_donor: int
    k_recipient: int


def svcca(donor: Float[NDArray, "item d_donor"], recipient: Float[NDArray, "item d_recipient"], *, k: int) -> float:
    """Mean of the k singular values of U_donor' U_recipient, U the k leading left singular vectors of centred rows.

    In [0, 1]; 1 for rotations of each other.

    Raises:
        ShapeError: different numbers of items.
        EstimateError: k below 1 or above a rank, rows that are no numbers or do not vary.

    Source: Raghu et al. 2017 (arXiv 1706.05806).
    """
    rows = paired_rows(donor, recipient, what="svcca")
    one, other = item_basis(rows.donor), item_basis(rows.recipient)
    ranks = (len(one.values), len(other.values))
    if not 1 <= k <= min(ranks):
        raise EstimateError(
            f"svcca: k = {k}; the rows have rank {ranks[0]} and {ranks[1]}, so k goes from 1 to {min(ranks)}."
        )
    return float(correlations(one.vectors[:, :k], other.vectors[:, :k]).mean())


def svcca_at_share(
    donor: Float[NDArray, "item d_donor"], recipient: Float[NDArray, "item d_recipient"], *, share: float = SHARE
) -> SvccaAtShare:
    """`svcca` with the fewest components that hold ``share`` of the squared singular values of their own side.

    The mean is over the smaller of the two numbers. RESI compares a cumulative fraction with the share of a total
    that is not a fraction, so its k depends on the unit of the rows; here it does not.

    Raises:
        ShapeError: different numbers of items.
        EstimateError: a share outside (0, 1], rows that are no numbers or do not vary.
    """
    if not 0 < share <= 1:
        raise EstimateError(f"svcca_at_share: share {share}; it lies in (0, 1].")
    rows = paired_rows(donor, recipient, what="svcca_at_share")
    one, other = (_leading(item_basis(side), share) for side in (rows.donor, rows.recipient))
    return SvccaAtShare(float(correlations(one, other).mean()), one.shape[1], other.shape[1])


def _leading(basis: ItemBasis, share: float) -> Float[NDArray, "item k"]:
    reached = np.cumsum(basis.values**2)
    k = int(np.searchsorted(reached, share * reached[-1] * (1 - 1e-12))) + 1
    return basis.vectors[:, :k]
