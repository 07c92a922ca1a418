"""Linear centred kernel alignment (CKA) of two sets of rows for the same items: 1 if one is a rotation of the other.

The biased form grows with width over items and is high for unrelated rows; it is read next to its closed-form shuffled
expectation. The unbiased form is about 0 for unrelated rows and can be negative. Neither changes with shifts, rotations
or one factor for all columns of a side; both change when single columns are rescaled.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np

from assay.axes import Float, NDArray
from assay.choices import checked_choice
from assay.diagnostics.cka_interval import CkaDraws, cka_draws, cka_interval
from assay.diagnostics.gram import Gram, as_float64, gram, hsic, hsic_from_sums, same_items
from assay.errors import EstimateError
from assay.stats.permutation import shuffled_order

Form = Literal["unbiased", "biased"]

__all__ = [
    "CkaDraws",
    "Gram",
    "cka_draws",
    "cka_interval",
    "gram",
    "layer_grid",
    "linear_cka",
    "shuffled_cka",
    "shuffled_expectation",
    "unbiased_cka",
]

_BLOCK = 128


def linear_cka(donor: Gram, recipient: Gram) -> float:
    """Biased CKA <K, L> / (|K| |L|) with Frobenius norms, in [0, 1]; NaN if rows of one side do not vary.

    Raises:
        ShapeError: different numbers of items.

    Source: Kornblith et al. 2019 (arXiv 1905.00414).
    """
    same_items(donor, recipient)
    if not donor.norm * recipient.norm > 0:
        return math.nan
    product = float(np.vdot(as_float64(donor.zero), as_float64(recipient.zero))) + donor.diagonal @ recipient.diagonal
    return float(product / (donor.norm * recipient.norm))


def unbiased_cka(donor: Gram, recipient: Gram) -> float:
    """HSIC1(K, L) / sqrt(HSIC1(K, K) HSIC1(L, L)); at most about 1, may be negative, never clamped.

    NaN if a self term is not positive; then `Gram.flaw` of that side says why.

    Raises:
        ShapeError: different numbers of items.

    Source: Song et al. 2012 for HSIC1; Nguyen et al. 2021 (arXiv 2010.15327).
    """
    same_items(donor, recipient)
    if donor.flaw or recipient.flaw:
        return math.nan
    return float(hsic(donor, recipient) / math.sqrt(donor.self_hsic * recipient.self_hsic))


def shuffled_expectation(donor: Gram, recipient: Gram) -> float:
    """Mean of the biased CKA over all orders of the recipient's items: tr K tr L / ((n-1) |K| |L|).

    Equals sqrt(PR_donor PR_recipient) / (n-1) with the participation ratio PR = (tr K / |K|)^2. NaN as `linear_cka`.

    Raises:
        ShapeError: different numbers of items.
    """
    same_items(donor, recipient)
    if not donor.norm * recipient.norm > 0:
        return math.nan
    return donor.trace * recipient.trace / ((donor.n - 1) * donor.norm * recipient.norm)


def shuffled_cka(
    donor: Gram,
    recipient: Gram,
    *,
    draws: int,
    rng: np.random.Generator,
    kind: Form = "unbiased",
    clusters: Sequence[Hashable] | None = None,
) -> Float[NDArray, " draw"]:
    """CKA after each of ``draws`` random orders of the recipient's items: the sham of a matched value.

    With ``clusters`` the items of a cluster stay together: clusters are put in random order and the items laid out one
    after the other against the donor's, so that neighbours meet neighbours of another document.

    Raises:
        ShapeError: different numbers of items.
        EstimateError: no draws, one cluster, not one cluster name an item, another kind, or a side whose rows do not
            vary.
    """
    same_items(donor, recipient)
    checked_choice(kind, Form, what="shuffled_cka: kind")
    flaw = donor.flaw or recipient.flaw
    if draws < 1 or flaw:
        raise EstimateError(f"shuffled_cka: {flaw or f'{draws} draws; at least 1'}.")
    left, right = as_float64(donor.zero), as_float64(recipient.zero)
    values = np.empty(draws)
    for draw in range(draws):
        order = shuffled_order(donor.n, rng=rng, clusters=clusters)
        product = float(np.vdot(left, right.take(order, axis=0).take(order, axis=1)))
        if kind == "biased":
            values[draw] = (product + donor.diagonal @ recipient.diagonal[order]) / (donor.norm * recipient.norm)
        else:
            values[draw] = hsic_from_sums(product, donor.row_sums, recipient.row_sums[order])
    return values if kind == "biased" else values / math.sqrt(donor.self_hsic * recipient.self_hsic)


def layer_grid(donor: Sequence[Gram], recipient: Sequence[Gram]) -> Float[NDArray, "layer_donor layer_recipient"]:
    """Unbiased CKA of every donor layer with every recipient layer; NaN where `unbiased_cka` is NaN.

    Works in blocks of rows, so memory beyond the Grams stays small (52 MB for 50 layers of 1,012 items).

    Raises:
        ShapeError: different numbers of items.
        EstimateError: no layers on one side.
    """
    if not donor or not recipient:
        raise EstimateError(
            f"layer_grid: {len(donor)} donor and {len(recipient)} recipient layers; at least one of each."
        )
    for layer in (*donor, *recipient):
        same_items(donor[0], layer)
    n = donor[0].n
    products = np.zeros((len(donor), len(recipient)))
    for start in range(0, n, _BLOCK):
        left, right = (
            np.stack([as_float64(one.zero[start : start + _BLOCK]).ravel() for one in side])
            for side in (donor, recipient)
        )
        products += left @ right.T
    cross = [
        [hsic_from_sums(products[i, j], one.row_sums, other.row_sums) for j, other in enumerate(recipient)]
        for i, one in enumerate(donor)
    ]
    own = [np.array([math.nan if layer.flaw else layer.self_hsic for layer in side]) for side in (donor, recipient)]
    return np.asarray(np.array(cross) / np.sqrt(np.outer(own[0], own[1])))
