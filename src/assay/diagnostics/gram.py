"""Gram matrices of rows: what every form of centred kernel alignment is computed from, once a view."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.axes import Float, Int, NDArray
from assay.choices import checked_choice
from assay.errors import EstimateError, ShapeError
from assay.rows import checked_rows

FEWEST_ITEMS = 4
Storage = Literal["float64", "float32"]


@dataclass(frozen=True, eq=False)
class Gram:
    """Inner products K = X~ X~' of rows X whose columns were centred; make it with `gram`.

    ``zero`` is K with a zero diagonal, ``diagonal`` what was there. ``self_hsic`` is the unbiased HSIC1 of K with
    itself, ``norm`` the Frobenius norm of K and ``trace`` its trace, in powers of the unit of the rows.
    """

    zero: Float[NDArray, "item item"]
    diagonal: Float[NDArray, " item"]
    row_sums: Float[NDArray, " item"]
    self_hsic: float
    norm: float
    trace: float

    @property
    def n(self) -> int:
        """Number of items."""
        return len(self.diagonal)

    @property
    def flaw(self) -> str:
        """Why the unbiased alignment with this Gram has no value; empty if it has one."""
        if self.self_hsic > 0:
            return ""
        return (
            f"the unbiased self term is {self.self_hsic:.3g}, not positive, over {self.n} items: too little variation"
        )

    def shuffled(self, order: Int[NDArray, " item"]) -> Gram:
        """The Gram of the rows in another order: row i is the former row ``order[i]``.

        Raises:
            ShapeError: ``order`` is no permutation of the items.
        """
        if np.shape(order) != (self.n,) or not np.array_equal(np.sort(order), np.arange(self.n)):
            raise ShapeError(
                f"Gram.shuffled: the order must be a permutation of {self.n} items, got shape {np.shape(order)}."
            )
        zero = self.zero.take(order, axis=0).take(order, axis=1)
        return Gram(zero, self.diagonal[order], self.row_sums[order], self.self_hsic, self.norm, self.trace)


def gram(rows: Float[NDArray, "item d"], *, storage: Storage = "float64") -> Gram:
    """Gram of rows, columns centred first, all sums in float64.

    Storage in float32 halves the memory and rounds each entry by at most 6e-8 of itself; alignments then move by
    less than 1e-6.

    Raises:
        ShapeError: not a matrix of at least one row and column.
        EstimateError: fewer than 4 rows, NaN or infinity (the row is named), products beyond float64, another storage.
    """
    checked_choice(storage, Storage, what="gram: storage")
    values = checked_rows(rows, what="gram")
    if len(values) < FEWEST_ITEMS:
        raise EstimateError(f"gram: {len(values)} rows; unbiased HSIC needs at least {FEWEST_ITEMS}.")
    largest = float(np.abs(values).max())
    values -= values.mean(axis=0)
    values[:, np.abs(values).max(axis=0) <= 8 * np.finfo(np.float64).eps * largest] = 0.0
    products = values @ values.T
    if not np.isfinite(products).all():
        raise EstimateError(
            f"gram: products of rows up to {largest:.3g} leave the range of float64. Scale the rows down."
        )
    return _from_products(products, storage)


def hsic(donor: Gram, recipient: Gram) -> float:
    """Unbiased HSIC1 of Song et al. 2012, which may be negative.

    [sum(K0*L0) + sum(K0) sum(L0) / ((n-1)(n-2)) - 2/(n-2) (K0 1).(L0 1)] / (n(n-3)), K0 and L0 with zero diagonals.

    Raises:
        ShapeError: different numbers of items.
    """
    same_items(donor, recipient)
    product = float(np.vdot(as_float64(donor.zero), as_float64(recipient.zero)))
    return float(hsic_from_sums(product, donor.row_sums, recipient.row_sums))


def hsic_from_sums(
    product: float, donor_sums: Float[NDArray, " item"], recipient_sums: Float[NDArray, " item"]
) -> float:
    """`hsic` from sum(K0*L0) and the row sums of K0 and L0."""
    n = len(donor_sums)
    total = donor_sums.sum() * recipient_sums.sum() / ((n - 1) * (n - 2))
    return float((product + total - 2 / (n - 2) * (donor_sums @ recipient_sums)) / (n * (n - 3)))


def same_items(donor: Gram, recipient: Gram) -> None:
    """Refuse Grams of different numbers of items.

    Raises:
        ShapeError: with both numbers.
    """
    if donor.n != recipient.n:
        raise ShapeError(
            f"cka: {donor.n} donor items, {recipient.n} recipient items. Row i must be the same item in both."
        )


def as_float64(matrix: Float[NDArray, "item item"]) -> Float[NDArray, "item item"]:
    """The matrix itself if it is stored in float64, else a copy in it."""
    return matrix.astype(np.float64, copy=False)


def _from_products(products: Float[NDArray, "item item"], storage: Storage) -> Gram:
    norm, trace = float(np.linalg.norm(products)), float(np.trace(products))
    diagonal = products.diagonal().copy()
    np.fill_diagonal(products, 0.0)
    sums = products.sum(axis=1)
    own = hsic_from_sums(float(np.vdot(products, products)), sums, sums)
    own = own if math.isfinite(own) else math.nan
    return Gram(products.astype(storage, copy=False), diagonal, sums, own, norm, trace)
