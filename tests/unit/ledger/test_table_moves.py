"""Where tables are moved to: each column, each row, a row more, and NaN; the table that was given stays as it was."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from assay.ledger.table_moves import opposite, table_moves

FRAME = pd.DataFrame({"pair": ["a", "b"], "delta": [0.5, float("nan")], "n": [3000, 0], "better": [True, False]})


def after(frame: pd.DataFrame, said: str) -> dict[str, list[Any]]:
    """The table after one move, by its words."""
    move = next(move for move in table_moves(frame) if move.said == said)
    return move.change(frame.copy()).fillna(-9.0).to_dict("list")


@pytest.mark.parametrize(
    ("said", "changed"),
    [
        ("pair with other words", {"pair": ["(moved)", "(moved)"]}),
        ("delta with other signs", {"delta": [-0.5, 1.0]}),
        ("delta times 1000", {"delta": [500.0, -9.0]}),
        ("delta over 1000", {"delta": [0.0005, -9.0]}),
        ("delta all NaN", {"delta": [-9.0, -9.0]}),
        ("n with other signs", {"n": [-3000, 1]}),
        ("n over 1000", {"n": [3, 0]}),
        ("better with other signs", {"better": [False, True]}),
        ("row 0 with other signs", {"delta": [-0.5, -9.0], "n": [-3000, 0], "better": [False, False]}),
        ("row 1 with other signs", {"delta": [0.5, 1.0], "n": [3000, 1], "better": [True, True]}),
    ],
)
def test_a_move_changes_what_it_says_and_nothing_else(said: str, changed: dict[str, list[Any]]) -> None:
    assert after(FRAME, said) == FRAME.fillna(-9.0).to_dict("list") | changed
    assert FRAME["n"].tolist() == [3000, 0]


def test_a_table_grows_by_a_row() -> None:
    assert after(FRAME, "a row more")["pair"] == ["a", "b", "b"]
    empty = FRAME.head(0)
    assert [len(move.change(empty.copy())) for move in table_moves(empty) if move.said == "a row more"] == [1]


def test_the_moves_of_a_long_table_are_groups_that_cover_it() -> None:
    frame = pd.DataFrame({"x": [1.0] * 250})
    moves = [move for move in table_moves(frame) if move.said.startswith("row")]
    assert len(moves) == 100
    moved = [set(frame.index[move.change(frame.copy())["x"] == -1.0]) for move in moves]
    assert set.union(*moved) == set(range(250))
    assert sum(map(len, moved)) == 250
    assert moves[0].said == "rows 0 to 1 with other signs"


@pytest.mark.parametrize("dtype", ["object", "str"])
@pytest.mark.parametrize("whole", ["int32", "int64"])
def test_object_strings_and_narrow_integers_move_as_others_do(dtype: str, whole: str) -> None:
    frame = pd.DataFrame({"pair": pd.Series(["a", "b"], dtype=dtype), "n": pd.Series([1, 2], dtype=whole)})
    assert after(frame, "n with other signs")["n"] == [-1, -2]
    assert after(frame, "pair with other words")["pair"] == ["(moved)", "(moved)"]
    assert str(opposite(frame["n"]).dtype) == whole
