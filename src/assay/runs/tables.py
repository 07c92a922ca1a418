"""Tables as CSV with their column types beside them, so that what is read equals what was written.

Four types: int64, float64 (shortest representation; NaN, Infinity, -Infinity), bool (true, false), string. Narrower
NumPy types, nullable pandas types without gaps, categories and object columns of one kind become one of the four. A
missing entry in a column other than float64 is refused, because CSV cannot tell it from an empty word.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import RecordError
from assay.runs.storage import parse_json, read_bytes, readable_json, shown, write_durable

if TYPE_CHECKING:
    import pandas as pd

TYPES_FILE = "tables.json"
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_BOOLS = {"true": True, "false": False}
_LONGEST = 100_000  # characters in one cell; the csv module reads up to 131,072
_INT64 = range(-(2**63), 2**63)


def write_table(folder: Path, name: str, frame: pd.DataFrame) -> Path:
    """Write ``frame`` as ``<name>.csv`` into ``folder`` and its column types into tables.json; return the CSV file.

    Raises:
        RecordError: as :func:`table_files`.
    """
    for path, data in table_files(folder, name, frame).items():
        write_durable(path, data)
    return folder / f"{name}.csv"


def table_files(folder: Path, name: str, frame: pd.DataFrame) -> dict[Path, bytes]:
    """What :func:`write_table` writes: the CSV file, then tables.json with this table declared.

    Raises:
        RecordError: a bad or taken name, an index that would be lost, repeated or unnamed columns, or a column that is
            not of one of the four types.
    """
    if not _NAME.fullmatch(name):
        raise RecordError(f"table {name!r}: a name is letters, digits, '_' and '-', as in 'directions'.")
    types = read_types(folder)
    if name in types:
        raise RecordError(f"table {name!r} is written already in this run. Choose another name.")
    _check_frame(name, frame)
    columns = [_column(f"table {name!r}, column {label!r}", frame[label]) for label in frame.columns]
    rows = [
        ",".join(map(_quoted, frame.columns)),
        *(",".join(row) for row in zip(*(c[1] for c in columns), strict=True)),
    ]
    declared = [[str(label), kind] for label, (kind, _) in zip(frame.columns, columns, strict=True)]
    types[name] = {"columns": declared, "rows": len(frame)}
    return {folder / f"{name}.csv": ("\n".join(rows) + "\n").encode(), folder / TYPES_FILE: readable_json(types)}


def read_types(folder: Path) -> dict[str, Any]:
    """What tables.json declares; empty when there is none."""
    path = folder / TYPES_FILE
    if not path.exists():
        return {}
    table = parse_json(read_bytes(path), shown(path))
    if not isinstance(table, dict):
        raise RecordError(f"{shown(path)} is unreadable: it is no JSON object. Restore it from version control.")
    return table


def read_table(folder: Path, name: str) -> pd.DataFrame:
    """The table ``name`` of ``folder`` with the types and values that were written."""
    types = read_types(folder)
    if name not in types:
        raise RecordError(f"table {name!r} is not in {shown(folder)}; there are {', '.join(sorted(types)) or 'none'}.")
    path = folder / f"{name}.csv"
    return parse_table(read_bytes(path), types[name], shown(path))


def parse_table(data: bytes, declared: Any, name: str) -> pd.DataFrame:
    """Data frame of the bytes of a CSV file and its declaration in tables.json; RecordError names the file."""
    import pandas as pd

    try:
        labels, kinds = [label for label, _ in declared["columns"]], [kind for _, kind in declared["columns"]]
        rows = list(csv.reader(io.StringIO(data.decode(), newline=""), strict=True))
        if rows[0] != labels or len(rows) - 1 != declared["rows"]:
            raise ValueError(f"{len(rows) - 1} rows of {rows[0]} where {declared['rows']} of {labels} are declared")
        columns = list(zip(*rows[1:], strict=True)) if len(rows) > 1 else [()] * len(labels)
        series = [
            pd.Series(list(map(_READERS[kind], column)), dtype=_DTYPES[kind])
            for kind, column in zip(kinds, columns, strict=True)
        ]
    except (ValueError, KeyError, TypeError, IndexError, csv.Error) as cause:
        raise RecordError(f"{name} is unreadable as a table: {cause}. Restore it from version control.") from cause
    return pd.DataFrame(dict(zip(labels, series, strict=True)))


def _bool(text: str) -> bool:
    return _BOOLS[text]


_READERS: dict[str, Callable[[str], Any]] = {"int64": int, "float64": float, "bool": _bool, "string": str}
_DTYPES: dict[str, Any] = {"int64": "int64", "float64": "float64", "bool": "bool", "string": str}


def _check_frame(name: str, frame: pd.DataFrame) -> None:
    labels = list(frame.columns)
    if not labels or not all(isinstance(label, str) and label for label in labels) or len(set(labels)) != len(labels):
        raise RecordError(f"table {name!r}: columns {labels}; each has a name of its own, and it is text. Rename them.")
    if not frame.index.equals(type(frame.index)(range(len(frame)))):
        raise RecordError(
            f"table {name!r}: its index ({frame.index.name or 'unnamed'}) would be lost; a table has columns only. "
            "Keep it with .reset_index(), or drop it with .reset_index(drop=True)."
        )


def _column(where: str, series: pd.Series[Any]) -> tuple[str, list[str]]:
    import numpy as np

    values = [value.item() if isinstance(value, np.generic) else value for value in series.tolist()]
    kind = _kind(where, str(series.dtype), values)
    if kind == "float64":
        return kind, [_float(math.nan if _gap(value) else float(value)) for value in values]
    if kind == "bool":
        return kind, ["true" if value else "false" for value in values]
    return kind, [str(int(value)) for value in values] if kind == "int64" else [_word(where, value) for value in values]


def _kind(where: str, dtype: str, values: Sequence[Any]) -> str:
    floats = dtype.lower().startswith("float")
    gaps = [row for row, value in enumerate(values) if _gap(value)]
    present = {bool if isinstance(value, bool) else _base(value) for value in values if not _gap(value)}
    if floats or (present <= {int, float} and float in present | {type(values[row]) for row in gaps}):
        return "float64"
    if gaps:
        raise RecordError(
            f"{where}: row {gaps[0]} is missing; only numbers may be (NaN). Fill it with a word or a number."
        )
    if not values:
        return _empty_kind(where, dtype)
    kind = {frozenset({bool}): "bool", frozenset({int}): "int64", frozenset({str}): "string"}.get(frozenset(present))
    if kind is None:
        found = ", ".join(sorted(entry.__name__ for entry in present))
        raise RecordError(
            f"{where}: dtype {dtype} holding {found}; a column is all int, float, bool or str. Convert it."
        )
    if kind == "int64" and any(value not in _INT64 for value in values):
        raise RecordError(f"{where}: an integer beyond 64 bits. Record it as float or text.")
    return kind


def _empty_kind(where: str, dtype: str) -> str:
    for start, kind in (("int", "int64"), ("uint", "int64"), ("bool", "bool"), ("str", "string"), ("object", "string")):
        if dtype.lower().startswith(start):
            return kind
    raise RecordError(f"{where}: dtype {dtype}; a column is int, float, bool or str. Convert it.")


def _base(value: object) -> type:
    return next((kind for kind in (int, float, str) if isinstance(value, kind)), type(value))


def _gap(value: object) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _float(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _word(where: str, value: str) -> str:
    text = str.__str__(value)
    if len(text) > _LONGEST:
        raise RecordError(f"{where}: a word of {len(text)} characters; up to {_LONGEST} fit. Keep it in a file.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RecordError(f"{where}: {text!r} is not valid Unicode. Repair the text first.") from None
    return _quoted(text)


def _quoted(text: str) -> str:
    if text and text == text.strip() and not set(text) & set('",\n\r'):
        return text
    return '"' + text.replace('"', '""') + '"'
