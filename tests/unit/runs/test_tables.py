"""Tables come back as they went in, value for value and type for type; what CSV cannot carry is refused by column."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import RecordError
from assay.runs.tables import parse_table, read_table, read_types, write_table
from tests.unit.runs.completed_run import folder_in_memory

COLUMNS = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats(),
    "bool": st.booleans(),
    "string": st.text(),
}


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4))
    rows = draw(st.integers(0, 4))
    columns: dict[str, Any] = {}
    for place, kind in enumerate(kinds):
        values = draw(st.lists(COLUMNS[kind], min_size=rows, max_size=rows))
        name = draw(st.sampled_from(["a", "b c", 'd"e', "f,g", "h\ni"])) + str(place)
        columns[name] = pd.Series(values, dtype=str if kind == "string" else kind)
    return pd.DataFrame(columns)


@given(frames())
def test_round_trip(frame: pd.DataFrame) -> None:
    with folder_in_memory() as folder:
        write_table(folder, "x", frame)
        back = read_table(folder, "x")
    pd.testing.assert_frame_equal(back, frame, check_exact=True)
    for column in frame.columns:  # also the sign of zero, which assert_frame_equal does not see
        assert list(map(repr, back[column].tolist())) == list(map(repr, frame[column].tolist()))


@pytest.mark.parametrize(
    ("series", "kind"),
    [
        (pd.Series([1, 2], dtype="int32"), "int64"),
        (pd.Series([1, 2], dtype="uint8"), "int64"),
        (pd.Series([1, 2], dtype="Int64"), "int64"),
        (pd.Series([0.1, 0.2], dtype="float32"), "float64"),
        (pd.Series([0.5, None], dtype="Float64"), "float64"),
        (pd.Series([1, 0.5, None], dtype=object), "float64"),
        (pd.Series([1, None]), "float64"),
        (pd.Series([None, math.nan], dtype=object), "float64"),
        (pd.Series([True, False], dtype=object), "bool"),
        (pd.Series([True, False], dtype="boolean"), "bool"),
        (pd.Series(["a", ""], dtype=object), "string"),
        (pd.Series(["a", ""], dtype="string"), "string"),
        (pd.Series(["a", "b"], dtype="category"), "string"),
        (pd.Series([np.int64(1), 2], dtype=object), "int64"),
    ],
)
def test_types_of_one_kind_become_one(tmp_path: Path, series: pd.Series[Any], kind: str) -> None:
    write_table(tmp_path, "x", pd.DataFrame({"c": series}))
    assert read_types(tmp_path)["x"]["columns"] == [["c", kind]]
    assert len(read_table(tmp_path, "x")) == len(series)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (["a", None], "row 1 is missing; only numbers may be"),
        (["a", math.nan], "row 1 is missing"),
        (pd.Series([1, None], dtype="Int64"), "row 1 is missing"),
        (pd.Series([True, None], dtype="boolean"), "row 1 is missing"),
        (["a", 1], "holding int, str"),
        ([True, 1], "holding bool, int"),
        ([[1], [2]], "holding list"),
        (pd.to_datetime(["2026-01-01", "2026-01-02"]), "Timestamp"),
        ([1j, 2j], "complex"),
        ([2**63, 1], "beyond 64 bits"),
        (["\ud800", "a"], "not valid Unicode"),
        (["x" * 200_000, "a"], "200000 characters"),
    ],
)
def test_what_csv_cannot_carry_is_refused_by_column(tmp_path: Path, values: Any, named: str) -> None:
    dtype = values.dtype if hasattr(values, "dtype") else object
    with pytest.raises(RecordError, match=r"table 'x', column 'c'") as caught:
        write_table(tmp_path, "x", pd.DataFrame({"c": pd.Series(values, dtype=dtype)}))
    assert named in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("frame", "named"),
    [
        (pd.DataFrame({"a": [1]}, index=["row"]), r"would be lost.*reset_index"),
        (pd.DataFrame({"a": [1, 2]}, index=[1, 0]), "would be lost"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "a name of its own"),
        (pd.DataFrame([[1]]), "it is text"),
        (pd.DataFrame(), "a name of its own"),
    ],
)
def test_frames_without_plain_rows_and_columns_are_refused(tmp_path: Path, frame: pd.DataFrame, named: str) -> None:
    with pytest.raises(RecordError, match=named):
        write_table(tmp_path, "x", frame)


def test_names_are_given_once(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1]})
    write_table(tmp_path, "x", frame)
    with pytest.raises(RecordError, match="written already"):
        write_table(tmp_path, "x", frame)
    for name in ("", "../x", "a b"):
        with pytest.raises(RecordError, match="a name is letters"):
            write_table(tmp_path, name, frame)
    with pytest.raises(RecordError, match=r"table 'y' is not in .*there are x"):
        read_table(tmp_path, "y")


@pytest.mark.parametrize(
    "data", [b"a\n1.5\n", b"a\n1\n2\n", b"b\n1\n", b"", b'a\n"1\n', b"a\n1,2\n", b"\xff", b"a\n\n"]
)
def test_a_file_that_is_not_as_declared_is_unreadable(data: bytes) -> None:
    with pytest.raises(RecordError, match=r"x\.csv is unreadable as a table"):
        parse_table(data, {"columns": [["a", "int64"]], "rows": 1}, "x.csv")
