"""Spearman rank correlation with permutation p, one cell or a whole table, and given covariates.

Ranks are doubled and centred, which makes them whole numbers: products under all orders are exact, ties are exact ties,
and no tolerance is needed. A table of K x L correlations under B orders is one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, final

import numpy as np
from scipy.stats import rankdata

from assay.axes import Float, Int, NDArray
from assay.errors import EstimateError
from assay.stats.arrangements import Arrangements, off_diagonal

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
Products: TypeAlias = Callable[[Float[NDArray, "second entry draw"]], Float[NDArray, "second first draw"]]
"""Value of every cell in every order, from the second side as ordered."""
_ALTERNATIVES = ("two-sided", "greater", "less")
_BLOCK = 1 << 17
_FLOAT32_EXACT = 1 << 24
_TIE = 1e-12
_NOTHING_LEFT = 1e-10


@final
@dataclass(frozen=True, eq=False)
class CorrelationTable:
    """Spearman rho and p of every first with every second column over ``n`` entries.

    A column that does not vary (or that covariates explain) has NaN in its row or column, and a line in ``reasons``.
    ``smallest_p`` is the least p that the arrangements can give: compare it with alpha / tests before reading any.
    """

    rho: Float[NDArray, "first second"]
    p: Float[NDArray, "first second"]
    n: int
    alternative: Alternative
    arrangements: Arrangements
    reasons: tuple[str, ...]

    @property
    def smallest_p(self) -> float:
        """`Arrangements.smallest_p` of the orders used."""
        return self.arrangements.smallest_p


class Correlation(NamedTuple):
    """One cell of a `CorrelationTable`; NaN with a reason if one side does not vary."""

    rho: float
    p: float
    n: int
    smallest_p: float
    reason: str


def spearman_table(
    first: Float[NDArray, "entry first"] | Int[NDArray, "entry first"],
    second: Float[NDArray, "entry second"] | Int[NDArray, "entry second"],
    *,
    arrangements: Arrangements,
    alternative: Alternative = "two-sided",
) -> CorrelationTable:
    """Spearman rho (Pearson of mid-ranks) of all pairs of columns; p from the orders of the second side's entries.

    "two-sided" counts |rho|, where scipy.stats.permutation_test doubles the smaller tail. All cells share the orders.

    Raises:
        EstimateError: values that are not finite, lengths that differ from each other or from the arrangements.
    """
    left, right = _ranked("first", first), _ranked("second", second)
    _fit(left, right, arrangements, alternative)
    return _table(left, right, arrangements, alternative, basis=None)


def partial_spearman_table(
    first: Float[NDArray, "entry first"] | Int[NDArray, "entry first"],
    second: Float[NDArray, "entry second"] | Int[NDArray, "entry second"],
    *,
    given: Float[NDArray, "entry covariate"] | Int[NDArray, "entry covariate"],
    arrangements: Arrangements,
    alternative: Alternative = "two-sided",
) -> CorrelationTable:
    """Spearman rho after the ranks of the covariates are regressed out of the ranks of both sides.

    With one covariate: (r_xy - r_xz r_yz) / sqrt((1 - r_xz^2)(1 - r_yz^2)). The p orders the residuals of the second
    side and regresses again in every order.

    Raises:
        EstimateError: as for `spearman_table`; a covariate that is not finite or of another length.

    Source: Freedman and Lane 1983 (doi 10.1080/07350015.1983.10509354).
    """
    left, right, covariates = _ranked("first", first), _ranked("second", second), _ranked("given", given)
    _fit(left, right, arrangements, alternative)
    if len(covariates) != len(left):
        raise EstimateError(f"spearman: {len(covariates)} entries of the covariates for {len(left)} of the sides.")
    vectors, sizes, _ = np.linalg.svd(covariates, full_matrices=False)
    basis = vectors[:, sizes > _NOTHING_LEFT * sizes[0]]
    left, right = (_residual(side, basis) for side in (left, right))
    return _table(left, right, arrangements, alternative, basis=basis)


def spearman(
    first: Float[NDArray, " entry"] | Int[NDArray, " entry"],
    second: Float[NDArray, " entry"] | Int[NDArray, " entry"],
    *,
    arrangements: Arrangements,
    alternative: Alternative = "two-sided",
) -> Correlation:
    """One cell of `spearman_table`.

    Raises:
        EstimateError: as for `spearman_table`.
    """
    columns = (_column("first", first), _column("second", second))
    return _cell(spearman_table(*columns, arrangements=arrangements, alternative=alternative))


def partial_spearman(
    first: Float[NDArray, " entry"] | Int[NDArray, " entry"],
    second: Float[NDArray, " entry"] | Int[NDArray, " entry"],
    *,
    given: Float[NDArray, "entry covariate"] | Int[NDArray, "entry covariate"],
    arrangements: Arrangements,
    alternative: Alternative = "two-sided",
) -> Correlation:
    """One cell of `partial_spearman_table`.

    Raises:
        EstimateError: as for `partial_spearman_table`.
    """
    columns = (_column("first", first), _column("second", second))
    return _cell(partial_spearman_table(*columns, given=given, arrangements=arrangements, alternative=alternative))


def pair_entries(matrices: Float[NDArray, "*column model model"]) -> Float[NDArray, "entry column"]:
    """Off-diagonal entries, row by row, of one or several matrices over the same models: a side for label orders.

    Both (i, j) and (j, i) are entries. Where all matrices are symmetric that changes neither rho nor p.

    Raises:
        EstimateError: not square, or an entry off the diagonal that is not finite (an order would move the hole).
    """
    stack = np.asarray(matrices, dtype=np.float64)
    if stack.ndim not in (2, 3) or stack.shape[-1] != stack.shape[-2]:
        raise EstimateError(f"pair_entries: shape {stack.shape}; one or several square matrices over the models.")
    entries = off_diagonal(stack.shape[-1])
    columns = stack.reshape(-1, *stack.shape[-2:])[:, entries.row, entries.column].T
    if not np.isfinite(columns).all():
        entry, column = (int(one[0]) for one in np.nonzero(~np.isfinite(columns)))
        place = (int(entries.row[entry]), int(entries.column[entry]))
        raise EstimateError(f"pair_entries: entry {place} of matrix {column} is not finite. Fill it or drop the model.")
    return columns


def _ranked(name: str, given: NDArray) -> Float[NDArray, "entry column"]:
    values = np.asarray(given, dtype=np.float64)
    if values.ndim != 2 or 0 in values.shape:
        raise EstimateError(f"spearman: {name} has shape {values.shape}; entries x columns, at least one of each.")
    if not np.isfinite(values).all():
        entry, column = (int(one[0]) for one in np.nonzero(~np.isfinite(values)))
        found = f"{name} is {values[entry, column]} at entry {entry} of column {column}"
        raise EstimateError(f"spearman: {found}. Drop the entry on both sides.")
    return np.asarray(2 * rankdata(values, axis=0) - (len(values) + 1))


def _column(name: str, given: NDArray) -> NDArray:
    values = np.asarray(given)
    if values.ndim != 1:
        raise EstimateError(f"spearman: {name} has shape {values.shape}; one value an entry. Use the table for more.")
    return values[:, None]


def _fit(left: NDArray, right: NDArray, arrangements: Arrangements, alternative: str) -> None:
    orders = arrangements.order.shape[1]
    if not len(left) == len(right) == orders:
        raise EstimateError(
            f"spearman: {len(left)} entries in the first side, {len(right)} in the second, arrangements of {orders}."
        )
    if alternative not in _ALTERNATIVES:
        raise EstimateError(f"spearman: alternative {alternative!r}; one of {', '.join(_ALTERNATIVES)}.")


def _residual(side: Float[NDArray, "entry column"], basis: Float[NDArray, "entry part"]) -> NDArray:
    rest = side - basis @ (basis.T @ side)
    gone = (rest**2).sum(axis=0) <= _NOTHING_LEFT * (side**2).sum(axis=0)
    return np.where(gone, 0.0, rest)


def _table(
    left: Float[NDArray, "entry first"],
    right: Float[NDArray, "entry second"],
    arrangements: Arrangements,
    alternative: Alternative,
    *,
    basis: Float[NDArray, "entry part"] | None,
) -> CorrelationTable:
    squares = [(side**2).sum(axis=0) for side in (left, right)]
    why = "does not vary" if basis is None else "does not vary, or the covariates explain it"
    reasons = tuple(
        f"{name} column {place} {why}"
        for name, square in zip(("first", "second"), squares, strict=True)
        for place in np.flatnonzero(square == 0)
    )
    sign = -1.0 if alternative == "less" else 1.0
    if basis is None:
        n = len(left)
        kind = np.float32 if n * (n * n - 1) / 3 < _FLOAT32_EXACT else np.float64
        products, other, slack = _plain(np.asarray(sign * left.T, dtype=kind)), np.asarray(right.T, dtype=kind), 0.0
        scale = np.sqrt(np.outer(squares[1], squares[0]))
    else:
        products, other, slack = _partial(sign * left.T, basis), right.T, _TIE
        scale = np.ones((right.shape[1], left.shape[1]))
    observed = products(other[:, :, None])
    counts = _at_least(products, other, observed, arrangements, two_sided=alternative == "two-sided", slack=slack)
    with np.errstate(invalid="ignore"):
        rho = (sign * observed[:, :, 0] / scale).T
    p = np.where(np.isnan(rho), math.nan, arrangements.p_from(counts.T))
    return CorrelationTable(rho, p, len(left), alternative, arrangements, reasons)


def _at_least(
    products: Products,
    other: Float[NDArray, "second entry"],
    observed: Float[NDArray, "second first one"],
    arrangements: Arrangements,
    *,
    two_sided: bool,
    slack: float,
) -> Int[NDArray, "second first"]:
    """How many orders give at least the observed value: exact for ranks, within 1e-12 of rho for residuals."""
    bar = (np.abs(observed) if two_sided else observed) - slack
    counts = np.zeros(bar.shape[:2], dtype=np.int64)
    step = max(1, _BLOCK // (len(other) * max(other.shape[1], bar.shape[1])))
    for start in range(0, len(arrangements.order), step):
        values = products(other[:, arrangements.order[start : start + step].T])
        if two_sided:
            np.abs(values, out=values)
        reached = values >= bar
        counts += [[np.count_nonzero(cell) for cell in row] for row in reached]
    return counts


def _plain(one_side: Float[NDArray, "first entry"]) -> Products:
    """Products of the ranks: rho times a constant of the pair of columns."""
    return lambda moved: np.asarray(one_side @ moved)


def _partial(one_side: Float[NDArray, "first entry"], basis: Float[NDArray, "entry part"]) -> Products:
    """Partial correlations, NaN for a side of zeros; an order in which the covariates explain all is an extreme one."""
    with np.errstate(invalid="ignore"):
        scaled = one_side / np.sqrt((one_side**2).sum(axis=1, keepdims=True))

    def products(moved: Float[NDArray, "second entry draw"]) -> Float[NDArray, "second first draw"]:
        total = (moved**2).sum(axis=1)
        rest = total - ((basis.T @ moved) ** 2).sum(axis=1)
        explained = (rest <= _NOTHING_LEFT * total) & (total > 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = scaled @ moved / np.sqrt(np.maximum(rest, 0.0))[:, None]
        return np.where(explained[:, None], np.inf, values)

    return products


def _cell(table: CorrelationTable) -> Correlation:
    rho, p = float(table.rho[0, 0]), float(table.p[0, 0])
    return Correlation(rho, p, table.n, table.smallest_p, "; ".join(table.reasons))
