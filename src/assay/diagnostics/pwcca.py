"""Projection-weighted CCA: canonical correlations weighted with how much of the donor's rows they explain."""

from __future__ import annotations

import numpy as np

from assay.axes import Float, NDArray
from assay.diagnostics.canonical import item_basis, need_room
from assay.rows import paired_rows


def pwcca(donor: Float[NDArray, "item d_donor"], recipient: Float[NDArray, "item d_recipient"]) -> float:
    """sum alpha_i rho_i / sum alpha_i with alpha_i = sum_j |h_i . x_j|; in [0, 1], not symmetric.

    h_i are the donor's canonical variates (orthonormal), x_j its centred columns. The weights depend on the donor's
    coordinates: rotations change the value. Bases are cut at the rank, so zero and doubled columns change nothing;
    google/svcca cuts nothing and takes the donor's columns in the recipient's branch.

    Raises:
        ShapeError: different numbers of items.
        EstimateError: the ranks together exceed items - 1, rows that are no numbers or do not vary.

    Source: Morcos et al. 2018 (arXiv 1806.05759).
    """
    rows = paired_rows(donor, recipient, what="pwcca")
    one, other = item_basis(rows.donor), item_basis(rows.recipient)
    need_room(one, other, what="pwcca")
    turned, rho, _ = np.linalg.svd(one.vectors.T @ other.vectors, full_matrices=False)
    weights = np.abs((one.vectors @ turned).T @ rows.donor).sum(axis=1)
    return float(weights @ rho.clip(max=1.0) / weights.sum())
