"""Where the numbers of a registered table are moved to: row by row, column by column, a row more, and once NaN."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from assay.ledger.moves import OTHER_WORD

if TYPE_CHECKING:
    import pandas as pd

    Column: TypeAlias = "pd.Series[Any]"

_MOST_ROWS = 100
"""Rows that are moved one by one; a longer table is moved in this many groups of neighbouring rows."""
_FAR = 1000


class TableMove(NamedTuple):
    """A change of a table: in words, the column that it concerns alone, and how it is made on a fresh copy."""

    said: str
    column: str
    change: Callable[[pd.DataFrame], pd.DataFrame]
    finite: bool = True
    words: bool = False


def table_moves(frame: pd.DataFrame) -> list[TableMove]:
    """Every move of a table, in an order that does not depend on anything but its shape and column types."""
    moves = [move for label in frame.columns for move in _column_moves(str(label), str(frame[label].dtype))]
    return [*moves, *_row_moves(len(frame), [move.column for move in moves if move.said.endswith(_SIGN)]), _longer()]


_SIGN = "with other signs"


def _column_moves(label: str, dtype: str) -> Iterator[TableMove]:
    if dtype.startswith(("int", "float")):
        yield _on(label, f"{label} {_SIGN}", opposite)
        yield _on(label, f"{label} times {_FAR}", lambda column: column * _FAR)
        yield _on(label, f"{label} over {_FAR}", _shrunk)
        if dtype.startswith("float"):
            yield _on(label, f"{label} all NaN", lambda column: column * math.nan)._replace(finite=False)
    elif dtype == "bool":
        yield _on(label, f"{label} {_SIGN}", opposite)
    else:
        yield _on(label, f"{label} with other words", _reworded)._replace(words=True)


def opposite(column: Column) -> Column:
    """Every sign changed and every truth value flipped; zero and NaN, which have no sign, become 1."""
    if column.dtype == bool:
        return ~column
    return -column.where(column.notna() & (column != 0), -1)


def _shrunk(column: Column) -> Column:
    return column // _FAR if str(column.dtype).startswith("int") else column / _FAR


def _reworded(column: Column) -> Column:
    return column.where(column.isna(), OTHER_WORD)


def _on(label: str, said: str, change: Callable[[Column], Column]) -> TableMove:
    return TableMove(said, label, lambda frame: frame.assign(**{label: change(frame[label])}))


def _row_moves(rows: int, columns: list[str]) -> Iterator[TableMove]:
    groups = min(rows, _MOST_ROWS) if columns else 0
    for group in range(groups):
        first, last = group * rows // groups, (group + 1) * rows // groups
        said = f"row {first}" if last == first + 1 else f"rows {first} to {last - 1}"
        yield TableMove(f"{said} {_SIGN}", "", _opposite_rows(slice(first, last), columns))


def _opposite_rows(rows: slice, columns: list[str]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        for label in columns:
            column = frame[label].copy()
            column.iloc[rows] = opposite(column.iloc[rows])
            frame[label] = column
        return frame

    return change


def _longer() -> TableMove:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        if len(frame):
            return pd.concat([frame, frame.tail(1)], ignore_index=True)
        return pd.DataFrame({label: pd.Series([1]).astype(frame[label].dtype) for label in frame.columns})

    return TableMove("a row more", "", change)
