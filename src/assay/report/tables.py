"""Registered tables in the columns, headings and digits in which a report prints them.

A repository chooses in its pyproject.toml; without a choice every column is printed as it is declared.

    [tool.assay.report.tables]
    pairs = ["donor", "recipient", {column = "cka", heading = "CKA", decimals = 2}]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import ConfigError
from assay.report.digits import column
from assay.report.study import ReportedRun
from assay.runs.configuration import nearest

_NUMERIC = ("float64", "int64")
_CHOICE = {"column", "heading", "decimals"}


class Column(NamedTuple):
    """A column as printed: its heading, whether it holds numbers, and its entries."""

    heading: str
    numeric: bool
    entries: tuple[str, ...]


class PrintedTable(NamedTuple):
    """A table as printed; ``csv`` are the registered bytes, with every column and digit."""

    name: str
    columns: tuple[Column, ...]
    rows: int
    csv: bytes

    def lines(self, most: int | None = None) -> list[tuple[str, ...]]:
        """The rows, the first ``most`` of them."""
        found = list(zip(*(one.entries for one in self.columns), strict=True))
        return found if most is None else found[:most]


def chosen_columns(repository: Path) -> Mapping[str, Sequence[Any]]:
    """What pyproject.toml chooses, by table; ConfigError when it is not a list of columns."""
    path = repository / "pyproject.toml"
    tool = tomllib.loads(path.read_text("utf-8")).get("tool", {}) if path.is_file() else {}
    chosen: Mapping[str, Sequence[Any]] = tool.get("assay", {}).get("report", {}).get("tables", {})
    for name, columns in chosen.items():
        good = isinstance(columns, list) and columns and all(map(_is_choice, columns))
        if not good:
            raise ConfigError(
                f"pyproject.toml, tool.assay.report.tables.{name}: {columns!r} came; a list of column names, or of "
                '{column = "cka", heading = "CKA", decimals = 2}, is needed.'
            )
    return chosen


def _is_choice(entry: Any) -> bool:
    if isinstance(entry, str):
        return True
    return isinstance(entry, dict) and "column" in entry and not entry.keys() - _CHOICE


def printed_tables(run: ReportedRun, chosen: Mapping[str, Sequence[Any]]) -> tuple[PrintedTable, ...]:
    """Every table of a run as printed; ConfigError when a chosen column is not there."""
    return tuple(printed_table(run, name, chosen.get(name)) for name in run.results.tables())


def printed_table(run: ReportedRun, name: str, chosen: Sequence[Any] | None) -> PrintedTable:
    """One table of a run in the chosen columns, all of them if none is chosen."""
    frame = run.results.table(name)
    declared = run.results.column_types(name)
    picks: list[dict[str, Any]] = [
        {"column": entry} if isinstance(entry, str) else entry for entry in chosen or list(declared)
    ]
    columns = []
    for pick in picks:
        label = pick["column"]
        if label not in declared:
            raise ConfigError(
                f"pyproject.toml, tool.assay.report.tables.{name}: {run.run_id} has no column {label!r} in it."
                f"{nearest(label, list(declared))}"
            )
        kind = declared[label]
        entries = column(frame[label].tolist(), kind, places=pick.get("decimals"))
        columns.append(Column(pick.get("heading", label), kind in _NUMERIC, tuple(entries)))
    return PrintedTable(name, tuple(columns), len(frame), run.results.file(f"{name}.csv").read_bytes())
