"""The orders in which a permutation test puts one side: of pairs, or of the labels that pairs share.

Pairs of models are not exchangeable: a model that is odd makes all of its pairs odd. Shuffling pairs then finds
relations that are not there (type-I error .19 at .05 with 5 models, .51 with 24). Shuffling the models' labels, rows
and columns jointly, keeps every pair with its models.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, final

import numpy as np

from assay.axes import Int, NDArray
from assay.errors import EstimateError

EXACT_LIMIT = 20_000
"""Groups of at most so many orders are enumerated; larger ones are drawn from."""
Unit: TypeAlias = Literal["items", "labels", "rows and columns"]


class Entries(NamedTuple):
    """Places in a matrix."""

    row: Int[NDArray, " entry"]
    column: Int[NDArray, " entry"]


class _Orders(NamedTuple):
    group: int
    order: Int[NDArray, "draw entry"]


@final
@dataclass(frozen=True, eq=False)
class Arrangements:
    """Orders of ``n`` entries, one a row of ``order``; ``exact`` if they are the whole group, the identity included.

    ``group`` is the number of orders there are, ``unit`` what was exchanged.
    """

    order: Int[NDArray, "draw entry"]
    exact: bool
    group: int
    unit: Unit

    @property
    def smallest_p(self) -> float:
        """Smallest p that a test on these orders can give: 1 / group if exact, else 1 / (1 + draws)."""
        return 1 / len(self.order) if self.exact else 1 / (1 + len(self.order))

    def p_from(self, at_least: Int[NDArray, "*table"]) -> NDArray:
        """P from how many orders give at least the observed value: count / group, or (1 + count) / (1 + draws).

        Source: Phipson and Smyth 2010 (arXiv 1603.05766).
        """
        counts = np.asarray(at_least, dtype=np.float64)
        return counts / len(self.order) if self.exact else (1 + counts) / (1 + len(self.order))


def item_arrangements(n: int, *, draws: int, rng: np.random.Generator) -> Arrangements:
    """All orders of ``n`` exchangeable items if there are at most 20,000 (n <= 7), else ``draws`` random ones.

    Raises:
        EstimateError: fewer than 3 items, or no draws where the group is not enumerated.
    """
    group, order = _orders(n, draws=draws, rng=rng, what="items")
    return Arrangements(order, group <= EXACT_LIMIT, group, "items")


def label_arrangements(n_labels: int, *, draws: int, rng: np.random.Generator) -> Arrangements:
    """Orders of the ordered pairs (i, j), i != j, row by row, that come from orders of the labels (Mantel).

    Entry (i, j) of a matrix becomes entry (o(i), o(j)). All n! of them if at most 20,000 (n <= 7).

    Raises:
        EstimateError: fewer than 3 labels, or no draws where the group is not enumerated.

    Source: Mantel 1967; Krackhardt 1988 (doi 10.1016/0378-8733(88)90004-4) for networks.
    """
    group, of_label = _orders(n_labels, draws=draws, rng=rng, what="labels")
    row, column = off_diagonal(n_labels)
    place = np.full((n_labels, n_labels), -1, dtype=np.int64)
    place[row, column] = np.arange(row.size)
    return Arrangements(place[of_label[:, row], of_label[:, column]], group <= EXACT_LIMIT, group, "labels")


def crossed_arrangements(n_rows: int, n_columns: int, *, draws: int, rng: np.random.Generator) -> Arrangements:
    """Orders of all entries of a donors x recipients table, rows and columns exchanged apart, row by row.

    All n_rows! n_columns! of them if at most 20,000 (for example 3 x 3: 36).

    Raises:
        EstimateError: fewer than 2 rows or columns, or no draws where the group is not enumerated.
    """
    if min(n_rows, n_columns) < 2:
        raise EstimateError(f"crossed_arrangements: {n_rows} rows, {n_columns} columns; at least 2 of each.")
    group = math.factorial(n_rows) * math.factorial(n_columns)
    if group <= EXACT_LIMIT:
        both = itertools.product(itertools.permutations(range(n_rows)), itertools.permutations(range(n_columns)))
        pairs = list(both)
        rows, columns = np.array([left for left, _ in pairs]), np.array([right for _, right in pairs])
    else:
        _refuse_no_draws(draws, group)
        rows, columns = _random(n_rows, draws, rng), _random(n_columns, draws, rng)
    order = (rows[:, :, None] * n_columns + columns[:, None, :]).reshape(len(rows), -1)
    return Arrangements(order, group <= EXACT_LIMIT, group, "rows and columns")


def off_diagonal(n_labels: int) -> Entries:
    """The entries of a square matrix off its diagonal, row by row."""
    row, column = np.nonzero(~np.eye(n_labels, dtype=bool))
    return Entries(row, column)


def _orders(n: int, *, draws: int, rng: np.random.Generator, what: str) -> _Orders:
    if n < 3:
        raise EstimateError(f"permutation: {n} {what}; at least 3, with fewer every order ties.")
    group = math.factorial(n)
    if group <= EXACT_LIMIT:
        return _Orders(group, np.array(list(itertools.permutations(range(n)))))
    _refuse_no_draws(draws, group)
    return _Orders(group, _random(n, draws, rng))


def _random(n: int, draws: int, rng: np.random.Generator) -> Int[NDArray, "draw entry"]:
    return rng.permuted(np.tile(np.arange(n), (draws, 1)), axis=1)


def _refuse_no_draws(draws: int, group: int) -> None:
    if draws < 99:
        raise EstimateError(
            f"permutation: {draws} draws from {group} orders; at least 99, and 9,999 or more for numbers to report."
        )
