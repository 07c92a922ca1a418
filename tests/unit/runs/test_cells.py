"""A grid of cells: what can be a cell, the order of rows, resuming, and what a failure leaves."""

from __future__ import annotations

import functools
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import RecordError
from assay.runs.artifacts import ArtifactArray
from assay.runs.cells import CellStore, cell_json, cell_keys, run_cells
from assay.runs.engines import ExecutorEngine, local
from assay.runs.jobs import Limits
from assay.runs.values import Count
from assay.stats.estimate import Estimate
from tests.unit.runs.cell_functions import (
    Cell,
    Nested,
    Thawed,
    WithArray,
    calls,
    constant,
    fails_on_two,
    of_all_kinds,
    square,
    unfit,
)

ROOT = Path(__file__).resolve().parents[__name__.count(".")]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CellStore:
    monkeypatch.chdir(tmp_path)
    return CellStore(tmp_path / "cells" / "x", (), tmp_path, ROOT, {"data": {}})


def grid(function: Any, cells: Any, place: CellStore, *, done: Any = None, limits: Limits | None = None) -> Any:
    with local(2) as engine:
        return run_cells(
            function, cells, place=place, engine=engine, reported=done or (lambda n: None), limits=limits or Limits()
        ).frame


def test_rows_are_in_the_order_of_the_cells_with_their_fields(place: CellStore) -> None:
    frame = grid(square, iter([3, 1, 2]), place)
    assert frame.to_dict("list") == {"cell": [3, 1, 2], "square": [9, 1, 4]}
    assert grid(square, [], place).empty


def test_every_kind_of_value_comes_back_as_it_went(place: CellStore) -> None:
    row = grid(of_all_kinds, [2], place).iloc[0]
    assert row["float"] == float(np.float32(0.1))
    assert math.isnan(row["nan"])
    assert row["word"] == "NaN of course"
    assert (bool(row["flag"]), int(row["whole"])) == (False, 2)
    assert row["count"] == Count(1, 2)
    assert row["estimate"] == Estimate(0.5, 0.1, 0.9, 7)
    handle = row["rows"]
    assert isinstance(handle, ArtifactArray)
    assert (handle.shape, handle.dtype) == ((2, 3), "float32")
    np.testing.assert_array_equal(handle.load(), np.arange(6, dtype=np.float32).reshape(2, 3) * 2)


def test_dataclass_cells_become_columns_with_dotted_names(place: CellStore) -> None:
    frame = grid(constant, [Nested(Cell(1)), Nested(Cell(2, "b"), layers=(3, 4))], place)
    assert list(frame.columns) == ["donor.place", "donor.name", "donor.side", "layers.0", "layers.1", "value"]
    assert frame["donor.name"].tolist() == ["a", "b"]
    assert frame["layers.1"].tolist() == [2, 4]


@pytest.mark.parametrize(
    "function",
    [lambda cell: {"a": 1}, functools.partial(square), "".join, Cell(1).__eq__],
    ids=["lambda", "partial", "method", "bound"],
)
def test_a_function_that_a_process_cannot_import_is_refused_at_once(function: Any, place: CellStore) -> None:
    with pytest.raises(RecordError, match="cannot be imported by a new process"):
        grid(function, ["a"], place)
    assert not place.own.exists()


@pytest.mark.parametrize("cell", [Thawed(1), [1], {"a": 1}, object(), Nested(Thawed(1))])  # type: ignore[arg-type]
def test_a_cell_of_another_type_is_refused_at_once(cell: Any, place: CellStore) -> None:
    with pytest.raises(RecordError, match="cannot be part of a cell"):
        grid(square, [1, cell], place)
    assert calls() == []


def test_a_cell_given_twice_is_refused_at_once(place: CellStore) -> None:
    with pytest.raises(RecordError, match="3 is given twice"):
        grid(square, [3, 1, 3], place)
    assert calls() == []


def test_a_failure_is_told_after_the_others_finished_and_these_are_kept(place: CellStore) -> None:
    with pytest.raises(RecordError) as caught:
        grid(fails_on_two, [1, 2, 3], place)
    assert "1 of 3 cells of fails_on_two failed:\n  2: ValueError: two is too much\nThe other 2 are kept" in str(
        caught.value
    )
    assert calls() == ["1", "2", "3"]
    later = place._replace(own=place.own.parent / "x-r2", earlier=(place.own,))
    seen: list[int] = []
    with pytest.raises(RecordError, match="1 of 3 cells"):
        grid(fails_on_two, [1, 2, 3], later, done=seen.append)
    assert calls() == ["2"]
    assert seen == [2]


def test_a_finished_cell_is_used_only_where_nothing_changed(place: CellStore) -> None:
    grid(square, [1, 2], place)
    (key,) = cell_keys(square, [1], place)
    assert (place.own / f"{key}.json").is_file()
    assert calls() == ["1", "2"]
    grid(square, [1, 2], place)
    assert calls() == []
    other_data = place._replace(inputs={"data": {"text": "0" * 64}})
    assert grid(square, [2, 1], other_data)["square"].tolist() == [4, 1]
    assert calls() == ["1", "2"]


def test_a_damaged_value_or_a_lost_array_is_computed_again(place: CellStore) -> None:
    first = grid(of_all_kinds, [1, 2], place)
    keys = cell_keys(of_all_kinds, [1, 2], place)
    damaged = place.own / f"{keys[0]}.json"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole.replace(b'"whole":1', b'"whole":7'))
    handle = first["rows"].iloc[1]
    handle.path.unlink()
    again = grid(of_all_kinds, [1, 2], place)
    assert again["whole"].tolist() == [1, 2]
    assert damaged.read_bytes() == whole
    np.testing.assert_array_equal(again["rows"].iloc[1].load(), handle.load())


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("list", r"returned bad = \[1\] \(list\)"),
        ("number", "returned int; wanted a mapping"),
        ("key", "returned the column name 1; a column's name is text"),
    ],
)
def test_what_a_cell_may_return_is_told(cell: str, words: str, place: CellStore) -> None:
    with pytest.raises(RecordError, match=words):
        grid(unfit, [cell], place)


def test_a_place_where_no_folder_can_be_made_is_named(place: CellStore, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RecordError, match=r"file/cells.* could not be written: Not a directory"):
        grid(square, [2], place._replace(own=tmp_path / "file" / "cells"))


def test_a_column_of_the_cell_and_of_the_value_clash(place: CellStore) -> None:
    with pytest.raises(RecordError, match="'cell' is a field of the cell and of the returned mapping"):
        grid(unfit, ["clash"], place)


def test_an_array_in_a_cell_is_known_by_its_digest_wherever_it_lies() -> None:
    here, there = (ArtifactArray("a" * 64, (2,), "float32", folder) for folder in ("here", "there"))
    assert here == there
    expected = {"rows": {"artifact": "a" * 64}, "inner": ["left"]}
    assert cell_json(WithArray(here)) == cell_json(WithArray(there)) == expected


def test_true_is_not_one(place: CellStore) -> None:
    assert len(cell_keys(square, [1, True, 1.0, "1"], place)) == 4


def test_at_most_as_many_cells_as_asked_run_at_once_and_all_are_reported(place: CellStore) -> None:
    seen: list[int] = []
    with ThreadPoolExecutor(4) as pool:
        run_cells(
            square,
            range(5),
            place=place,
            engine=ExecutorEngine(pool, name="threads"),
            reported=seen.append,
            at_once=1,
        )
        assert len(pool._threads) == 1
    assert seen == [0, 1, 2, 3, 4, 5]
    assert [path.suffix for path in place.own.iterdir()] == [".json"] * 5  # nothing else is left


@pytest.mark.parametrize("limit", [0, -1.0, math.nan, math.inf, True, "2"])
def test_a_limit_that_is_none_is_refused_at_once(limit: Any, place: CellStore) -> None:
    with pytest.raises(RecordError, match=r"cells: time_limit_s=.*; wanted a positive number"):
        grid(square, [1], place, limits=Limits(time_s=limit))
    assert not place.own.exists()
