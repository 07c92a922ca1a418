"""A grid of cells: one importable function over many small inputs, each its own process, resumable after a kill.

A finished cell's value is on disk, durably, before it is reported. Its file is named by the cell's key: the digest of
the function, of the project code it can reach, of the cell and of the data, so a value is reused only where nothing
changed. What its process loaded beside its import statements is told in the file, and has to be the same too.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.errors import RecordError
from assay.runs.artifacts import ArtifactArray
from assay.runs.cell_values import CellValue, read_value
from assay.runs.engines import Engine
from assay.runs.jobs import NO_LIMITS, Job, Limits, address_of, encode
from assay.runs.source import module_digests
from assay.runs.storage import digest, make_folder

if TYPE_CHECKING:
    import pandas as pd

Cell = Any
"""A frozen dataclass, a string, an integer, or a tuple of these; handles of arrays may be fields."""


class CellStore(NamedTuple):
    """Where the values of a run's cells lie: ``own`` is written, the ``earlier`` attempts' folders are read.

    ``inputs`` are what a value depends on beside the function and its cell: data hashes, versions of packages.
    """

    own: Path
    earlier: tuple[Path, ...]
    artifacts: Path
    repository: Path
    inputs: Mapping[str, Any]


class Grid(NamedTuple):
    """One row a cell, and path and digest of each project file that their processes loaded beside import statements."""

    frame: pd.DataFrame
    loaded: frozenset[tuple[str, str]]


def run_cells(
    function: Callable[[Cell], Mapping[str, Any]],
    cells: Iterable[Cell],
    *,
    place: CellStore,
    engine: Engine,
    reported: Callable[[int], None],
    at_once: int | None = None,
    limits: Limits = NO_LIMITS,
) -> Grid:
    """One row a cell, in the order of ``cells``: the cell's fields and the fields of what ``function`` returned.

    ``engine`` computes what is missing, at most ``at_once`` cells at a time (``None``: as many as it can), each within
    ``limits``. ``reported(done)`` is called once for what earlier attempts had finished and after each cell.

    Raises:
        RecordError: before anything starts, for a function that cannot be imported, a cell of another type or one given
            twice; after all others have finished, for cells that raised, passed a limit or whose process died, each
            named.
        HandedOverError: the engine computes them after this process has ended; the next run collects them.
    """
    wanted = list(cells)
    keys = cell_keys(function, wanted, place)
    done: dict[str, CellValue] = {}
    for key in keys:
        for folder in (place.own, *place.earlier):
            if key not in done and (value := _value(folder / f"{key}.json", place)) is not None:
                done[key] = value
    missing = {key: cell for key, cell in zip(keys, wanted, strict=True) if key not in done}
    jobs = _jobs(function, missing, place, limits.checked())
    reported(len(done))
    failures = []
    if jobs:
        make_folder(place.own)
        with contextlib.closing(engine.compute(jobs, at_once=at_once)) as computing:
            for job, error in computing:
                key = Path(job.value).stem
                value = None if error else _value(Path(job.value), place)
                if value is not None:
                    done[key] = value
                    reported(len(done))
                else:
                    failures.append((missing[key], error))
    if failures:
        raise _failure(function, failures, total=len(keys))
    frame = _frame(wanted, [done[key].columns for key in keys])
    return Grid(frame, frozenset(entry for value in done.values() for entry in value.loaded.items()))


def _value(path: Path, place: CellStore) -> CellValue | None:
    return read_value(path, place.artifacts, place.repository)


def _jobs(function: Callable[..., Any], missing: Mapping[str, Cell], place: CellStore, limits: Limits) -> list[Job]:
    """What an engine is given: the missing cells, with all that a process elsewhere needs to compute them."""
    installed = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix)
    imports = [os.path.abspath(entry) for entry in sys.path]
    reached = module_digests(function.__module__, place.repository)
    beyond = [entry for entry in imports if not entry.startswith(tuple(f"{place}{os.sep}" for place in installed))]
    return [
        Job(
            function=address_of(function),
            cell=encode(cell),
            value=os.path.abspath(place.own / f"{key}.json"),
            artifacts=os.path.abspath(place.artifacts),
            folder=os.getcwd(),
            repository=os.path.abspath(place.repository),
            imports=tuple(dict.fromkeys((os.path.abspath(place.repository), *beyond))),
            limits=limits,
            modules=tuple(reached),
            python=place.inputs.get("python"),
            packages=place.inputs.get("packages"),
        )
        for key, cell in missing.items()
    ]


def cell_keys(function: Callable[[Cell], Any], cells: Sequence[Cell], place: CellStore) -> list[str]:
    """SHA-256 that names each cell's value.

    Raises:
        RecordError: the function cannot be imported by a new process, or a cell is of another type or given twice.
    """
    module = _importable(function)
    closure = module_digests(str(module.__name__), place.repository)
    base = {"function": f"{function.__module__}.{function.__qualname__}", "source": closure, "inputs": place.inputs}
    keys: dict[str, Cell] = {}
    for cell in cells:
        key = digest({**base, "cell": cell_json(cell)})
        if key in keys:
            raise RecordError(f"cells: {cell!r} is given twice; each cell is computed once.")
        keys[key] = cell
    return list(keys)


def cell_json(cell: Cell) -> Any:
    """A cell as JSON values, by which it is known.

    Raises:
        RecordError: the cell, or one of its fields, is of another type.
    """
    if isinstance(cell, ArtifactArray):
        return {"artifact": cell.digest}
    if isinstance(cell, enum.Enum):
        return cell_json(cell.value)
    if isinstance(cell, bool | int | float | str) or cell is None:
        return cell
    if isinstance(cell, tuple):
        return [cell_json(item) for item in cell]
    parameters = getattr(type(cell), "__dataclass_params__", None)
    if parameters is not None and parameters.frozen:
        return {field.name: cell_json(getattr(cell, field.name)) for field in dataclasses.fields(cell)}
    raise RecordError(
        f"cells: {cell!r} ({type(cell).__name__}) cannot be part of a cell. "
        "Use frozen dataclasses, strings, numbers, tuples of these, and array handles that other cells returned."
    )


def _importable(function: Callable[..., Any]) -> Any:
    name = getattr(function, "__qualname__", "")
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    found = getattr(module, name, None) if module and module.__name__ != "__main__" else None
    if found is not function:
        raise RecordError(
            f"cells: {function!r} cannot be imported by a new process. "
            "Give a function defined at the top level of a module: no lambda, no partial, no nested function or method."
        )
    return importlib.import_module(str(function.__module__))


def _failure(
    function: Callable[..., Any], failures: list[tuple[Cell, BaseException | None]], total: int
) -> RecordError:
    lines = [f"  {cell!r}: {_what(error)}" for cell, error in failures]
    failed = RecordError(
        f"{len(failures)} of {total} cells of {function.__qualname__} failed:\n" + "\n".join(lines) + "\n"
        f"The other {total - len(failures)} are kept: the same command runs only what is missing."
    )
    for _, error in failures[:1]:
        for note in getattr(error, "__notes__", []):
            failed.add_note(note)
    return failed


def _what(error: BaseException | None) -> str:
    if error is None:
        return "its file was damaged, or code that it loaded was changed, after it was written"
    return str(error) if isinstance(error, RecordError) else f"{type(error).__name__}: {error}".rstrip(": ")


def _frame(cells: Sequence[Cell], values: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for cell, value in zip(cells, values, strict=True):
        row = _columns(cell, "")
        if both := sorted(set(row) & set(value)):
            raise RecordError(f"cells: {both[0]!r} is a field of the cell and of the returned mapping; rename one.")
        rows.append({**row, **value})
    return pd.DataFrame(rows)


def _columns(cell: Cell, prefix: str) -> dict[str, Any]:
    if isinstance(cell, enum.Enum):
        return {prefix or "cell": cell.value}
    if isinstance(cell, tuple):
        parts = [_columns(item, f"{prefix or 'cell'}.{place}") for place, item in enumerate(cell)]
    elif dataclasses.is_dataclass(cell) and not isinstance(cell, ArtifactArray):
        names = [field.name for field in dataclasses.fields(cell)]
        parts = [_columns(getattr(cell, name), f"{prefix}.{name}" if prefix else name) for name in names]
    else:
        return {prefix or "cell": cell}
    return {name: value for part in parts for name, value in part.items()}
