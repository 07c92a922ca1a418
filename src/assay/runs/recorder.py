"""What an experiment holds while it runs: it sets numbers, tables and figures, computes cells, and reads other runs.

Tables and figures are on disk when the call returns; numbers after each table, figure and grid, and at the end.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from assay.errors import RecordError
from assay.runs.artifacts import ArtifactArray
from assay.runs.cells import Cell, CellStore, run_cells
from assay.runs.engines import Engine
from assay.runs.file_names import is_device
from assay.runs.jobs import NO_LIMITS, Limits
from assay.runs.progress import progress
from assay.runs.results import SUMMARY_FILE, Results
from assay.runs.storage import readable_json, write_durable
from assay.runs.tables import table_files
from assay.runs.values import PARTS, Value, check_key, encode, nest

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

T = TypeVar("T")

SUMMARY_LIMIT = 1_000_000
"""Bytes that the summary of a run may have, beside the tables and figures that say they are large."""

LONGEST_WORD = 10_000
"""Characters that a word among the numbers may have; text belongs into a table."""

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_PNG_DPI = 110


class Run:
    """An attempt that is running. Set each number once: ``run["wins.target"] = count(x < 0, rows=x)``.

    ``config`` is the resolved configuration, ``run_id`` the attempt's name; ``values`` are the numbers set so far, and
    ``n_cells`` counts the cells of the grids so far, those that an earlier attempt had finished included. ``loaded``
    are paths and digests of project files that their processes loaded beside their import statements.
    """

    def __init__(
        self,
        config: Any,
        *,
        run_id: str,
        folder: Path,
        place: CellStore,
        engine: Engine,
        upstream: Callable[[str, str | None], Results],
        workers: int | None = None,
        limits: Limits = NO_LIMITS,
        quiet: bool = False,
    ) -> None:
        self.config = config
        self.run_id = run_id
        self.values: dict[str, Value] = {}
        self.upstream_ids: list[str] = []
        self.n_cells = 0
        self.loaded: set[tuple[str, str]] = set()
        self._folder = folder
        self._place = place
        self._engine = engine
        self._workers = workers
        self._limits = limits
        self._upstream = upstream
        self._quiet = quiet
        self._groups: set[str] = set()
        self._taken: dict[tuple[str, str], str] = {}
        self._large: set[Path] = set()

    def __setitem__(self, key: str, value: Any) -> None:
        """Record a number, bool, word, Count or Estimate under a dotted key; NaN and infinities are kept as such.

        Raises:
            RecordError: a key that is malformed, already set, or inside or above another; a value of another type, or a
                word longer than ``LONGEST_WORD``.
        """
        check_key(key)
        parts = key.split(".")
        above = {".".join(parts[:place]) for place in range(1, len(parts))}
        if key in self.values:
            raise RecordError(f"run[{key!r}] is set a second time. A number is recorded once; choose another key.")
        if key in self._groups or above & self.values.keys():
            raise RecordError(f"run[{key!r}] collides with keys inside or above it. Choose another key.")
        encode(value, key)
        if isinstance(value, str) and len(value) > LONGEST_WORD:
            raise RecordError(
                f"run[{key!r}]: a word of {len(value):,} characters came; at most {LONGEST_WORD:,} fit. Record what it "
                "says as a word or number, and the text as a table: run.table(name, frame)."
            )
        group = key.rpartition(".")[0]
        if parts[-1] in PARTS:  # together they would read as one Count or Estimate
            nest({name: self.values[name] for name in self.values if name.startswith(f"{group}.")} | {key: value})
        self._groups |= above
        self.values[key] = value

    def __getitem__(self, key: str) -> Value:
        """A number that this run has set."""
        if key not in self.values:
            raise RecordError(f"run[{key!r}] is not set yet in this run; it can be read after it was set.")
        return self.values[key]

    def table(self, name: str, frame: pd.DataFrame, *, large: bool = False) -> None:
        """Record a table as CSV with its column types; columns of array handles are written as digests.

        Raises:
            RecordError: a name that is malformed or taken (capitals do not count), a column without one plain type, or
                more than ``SUMMARY_LIMIT`` bytes in the summary without ``large=True``.
        """
        if not all(hasattr(frame, part) for part in ("columns", "index", "assign")):
            raise RecordError(
                f"table {name!r}: a {type(frame).__name__} came; wanted a pandas DataFrame (pd.DataFrame)."
            )
        self._claim_name(name, "table")
        handles = [column for column in frame.columns if any(isinstance(x, ArtifactArray) for x in frame[column])]
        frame = frame.assign(**{column: [handle.digest for handle in frame[column]] for column in handles})
        csv = self._folder / f"{name}.csv"
        self._write(table_files(self._folder, name, frame), large=[csv] if large else [])

    def figure(self, name: str, figure: Figure, *, large: bool = False) -> None:
        """Record a matplotlib figure as SVG and PNG (110 dpi); equal figures give equal bytes, without date or version.

        Raises:
            RecordError: a name that is malformed or taken, or too many bytes without ``large=True``.
        """
        import io

        import matplotlib as mpl

        self._claim_name(name, "figure")
        files: dict[Path, bytes] = {}
        for kind, metadata in (("svg", {"Date": None, "Creator": None}), ("png", {"Software": None})):
            buffer = io.BytesIO()
            with mpl.rc_context({"svg.hashsalt": "assay"}):
                figure.savefig(buffer, format=kind, metadata=metadata, dpi=_PNG_DPI)
            files[self._folder / "figures" / f"{name}.{kind}"] = buffer.getvalue()
        self._write(files, large=files if large else [])

    def cells(
        self,
        function: Callable[[Cell], Mapping[str, Any]],
        cells: Iterable[Cell],
        *,
        workers: int | None = None,
        time_limit_s: float | None = None,
        memory_limit_mb: float | None = None,
    ) -> pd.DataFrame:
        """Call ``function`` on each cell, each in a process of its own with one thread, at most ``workers`` at once.

        ``function`` is defined at the top level of a module and returns a mapping of column names to numbers, text,
        counts, estimates or arrays (written as artifacts; the table holds their handles). One row a cell, in the order
        of ``cells``: its fields and the returned ones. What an interrupted or failed attempt had finished is not
        computed again. A cell whose process runs longer than ``time_limit_s`` (seconds, imports included) or holds more
        than ``memory_limit_mb`` (resident memory, millions of bytes, looked at ten times a second) is ended and fails.

        Raises:
            RecordError: a function, cell or limit that a process cannot be given, or, after all others finished, cells
                that raised, passed a limit or whose process died.
            HandedOverError: the run was started to write a script for a batch system, and cells are missing.
        """
        if workers is not None and workers < 1:
            raise RecordError(f"cells: workers={workers}; at least one process is needed.")
        wanted = list(cells)
        self.n_cells += len(wanted)
        try:
            with progress(getattr(function, "__name__", "cells"), len(wanted), quiet=self._quiet) as advance:
                grid = run_cells(
                    function,
                    wanted,
                    place=self._place,
                    engine=self._engine,
                    reported=advance,
                    at_once=min((n for n in (workers, self._workers) if n is not None), default=None),
                    limits=Limits(time_limit_s, memory_limit_mb).replaced_by(self._limits),
                )
            self.loaded |= grid.loaded
            return grid.frame
        finally:
            self.save()

    def uses(self, experiment: str, *, tier: str | None = None) -> Results:
        """Results of the registered run of another experiment; the run is recorded as upstream of this one.

        Raises:
            EvidenceError: nothing is registered, or it cannot be trusted.
        """
        results = self._upstream(experiment, tier)
        if results.run_id not in self.upstream_ids:
            self.upstream_ids.append(results.run_id)
        return results

    def progress(self, iterable: Iterable[T], label: str) -> Iterator[T]:
        """Iterate, showing on standard error how far it is."""
        items = list(iterable)
        with progress(label, len(items), quiet=self._quiet) as advance:
            for place, item in enumerate(items):
                yield item
                advance(place + 1)

    def save(self) -> None:
        """Write the numbers set so far to ``summary.json``.

        Raises:
            RecordError: with them the summary would have more than ``SUMMARY_LIMIT`` bytes; nothing was written.
        """
        self._write({})

    def _claim_name(self, name: str, what: str) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise RecordError(f"{what} {name!r}: a name is letters, digits, '_' and '-', such as 'directions'.")
        if is_device(name):
            raise RecordError(f"{what} {name!r}: no file can have this name on Windows. Choose another name.")
        twin = self._taken.get((what, name.lower()))
        if twin == name:
            raise RecordError(f"{what} {name!r} is recorded a second time. Choose another name.")
        if twin is not None:
            raise RecordError(
                f"{what} {name!r} differs from {twin!r} in capitals alone, so on Windows and macOS one file would "
                "replace the other. Choose another name."
            )
        self._taken[what, name.lower()] = name

    def _write(self, files: Mapping[Path, bytes], *, large: Collection[Path] = ()) -> None:
        """Write files of the summary and the numbers set so far, if all of it together is small enough."""
        whole = {**files, self._folder / SUMMARY_FILE: readable_json(nest(self.values))}
        kept = [Path(folder) / name for folder, _, names in os.walk(self._folder) for name in names]
        sizes = {path: path.stat().st_size for path in kept} | {path: len(data) for path, data in whole.items()}
        counted = {path: size for path, size in sizes.items() if path not in {*self._large, *large}}
        if sum(counted.values()) > SUMMARY_LIMIT:
            raise RecordError(self._too_large(counted))
        self._large |= set(large)
        for path, data in whole.items():
            write_durable(path, data)

    def _too_large(self, counted: Mapping[Path, int]) -> str:
        largest = sorted(counted, key=lambda path: (-counted[path], path))[:3]
        parts = [f"{path.relative_to(self._folder).as_posix()} {counted[path]:,}" for path in largest]
        return (
            f"The summary of {self.run_id} would have {sum(counted.values()):,} bytes; allowed are {SUMMARY_LIMIT:,}. "
            f"Largest: {', '.join(parts)} ({SUMMARY_FILE} holds {len(self.values):,} numbers). Reduce it; return heavy "
            "arrays from cells (they become artifacts); record many numbers as a table; or say large=True of the table "
            "or figure that has to be large, as in run.table(name, frame, large=True)."
        )
