"""A grid of cells: one importable function over many small inputs, each its own process, resumable after a kill.

A finished cell's value is on disk, durably, before it is reported. Its file is named by the cell's key: the digest of
the function, of the project code it can reach, of the cell and of the data, so a value is reused only where nothing
changed.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import importlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.errors import RecordError
from assay.runs.artifacts import ArtifactArray, artifact_path, store
from assay.runs.source import module_digests
from assay.runs.storage import canonical_json, make_folder, write_durable
from assay.runs.values import decode, encode

if TYPE_CHECKING:
    import pandas as pd

Cell = Any
"""A frozen dataclass, a string, an integer, or a tuple of these; handles of arrays may be fields."""


class CellTask(NamedTuple):
    """All that a process needs to compute one cell: what to call, on what, and where the value goes."""

    function: Callable[[Cell], Mapping[str, Any]]
    cell: Cell
    path: str
    artifacts: str


class CellStore(NamedTuple):
    """Where the values of a run's cells lie: ``own`` is written, the ``earlier`` attempts' folders are read.

    ``inputs`` are what a value depends on beside the function and its cell: data hashes, versions of packages.
    """

    own: Path
    earlier: tuple[Path, ...]
    artifacts: Path
    repository: Path
    inputs: Mapping[str, Any]


def compute(task: CellTask) -> None:
    """Call the function on the cell and write what it returns; this is what an executor runs.

    Raises:
        RecordError: the function returned no mapping of names to numbers, text, counts, estimates or arrays.
    """
    value = task.function(task.cell)
    if not isinstance(value, Mapping):
        raise RecordError(f"returned {type(value).__name__}; wanted a mapping of column names to values")
    if wrong := [name for name in value if not isinstance(name, str) or not name]:
        raise RecordError(f"returned the column name {wrong[0]!r}; a column's name is text. Rename it.")
    written = {str(name): _written(item, str(name), Path(task.artifacts)) for name, item in value.items()}
    body = {"cell": cell_json(task.cell), "value": written}
    write_durable(Path(task.path), canonical_json({"body": body, "sha256": _sha256(body)}).encode())


def run_cells(
    function: Callable[[Cell], Mapping[str, Any]],
    cells: Iterable[Cell],
    *,
    place: CellStore,
    executor: Executor,
    reported: Callable[[int], None],
) -> pd.DataFrame:
    """One row a cell, in the order of ``cells``: the cell's fields and the fields of what ``function`` returned.

    ``reported(done)`` is called once for what earlier attempts had finished and after each cell.

    Raises:
        RecordError: before anything starts, for a function that cannot be imported, a cell of another type or one given
            twice; after all others have finished, for cells that raised or whose process died, each named.
    """
    wanted = list(cells)
    keys = cell_keys(function, wanted, place)
    done: dict[str, dict[str, Any]] = {}
    for key in keys:
        for folder in (place.own, *place.earlier):
            if key not in done and (value := _finished(folder / f"{key}.json", place.artifacts)) is not None:
                done[key] = value
    reported(len(done))
    make_folder(place.own)
    futures = {}
    for key, cell in zip(keys, wanted, strict=True):
        if key not in done:
            task = CellTask(function, cell, str(place.own / f"{key}.json"), str(place.artifacts))
            futures[executor.submit(compute, task)] = (key, cell)
    failures = []
    for future in as_completed(futures):
        key, cell = futures[future]
        error = future.exception()
        value = None if error else _finished(place.own / f"{key}.json", place.artifacts)
        if value is not None:
            done[key] = value
            reported(len(done))
        else:
            failures.append((cell, error))
    if failures:
        raise _failure(function, failures, total=len(keys))
    return _frame(wanted, [done[key] for key in keys])


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
        key = _sha256({**base, "cell": cell_json(cell)})
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


def _written(value: Any, name: str, artifacts: Path) -> Any:
    """The value as JSON; arrays and non-finite floats are marked, so that no text is mistaken for them."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.ndarray):
        value = store(value, artifacts)
    elif numpy is not None and isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, ArtifactArray):
        return {"array": {"digest": value.digest, "shape": list(value.shape), "dtype": value.dtype}}
    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, enum.Enum) and isinstance(value.value, str):
        return value.value
    if type(value) is float:
        return {"float": encode(value)}
    try:
        return {"value": encode(value)}
    except RecordError as error:
        raise RecordError(
            f"returned {name} = {value!r} ({type(value).__name__}). Return numbers, text, bool, Count, Estimate or a "
            "numpy array (a tensor through `.numpy()`)."
        ) from error


def _read(value: Any, artifacts: Path) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        array = value["array"]
        return ArtifactArray(array["digest"], tuple(array["shape"]), array["dtype"], str(artifacts))
    return decode(value["float"] if "float" in value else value["value"])


def _finished(path: Path, artifacts: Path) -> dict[str, Any] | None:
    """The value in a cell's file; ``None`` when there is none, it is damaged, or an array it names is gone."""
    try:
        content = json.loads(path.read_bytes())
        body = content["body"]
        if content["sha256"] != _sha256(body):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    value = {name: _read(item, artifacts) for name, item in body["value"].items()}
    arrays = [item for item in value.values() if isinstance(item, ArtifactArray)]
    return value if all(artifact_path(artifacts, array.digest).is_file() for array in arrays) else None


def _failure(
    function: Callable[..., Any], failures: list[tuple[Cell, BaseException | None]], total: int
) -> RecordError:
    lines = [f"  {cell!r}: {error or 'its file was damaged after it was written'}" for cell, error in failures]
    failed = RecordError(
        f"{len(failures)} of {total} cells of {function.__qualname__} failed:\n" + "\n".join(lines) + "\n"
        f"The other {total - len(failures)} are kept: the same command runs only what is missing."
    )
    for _, error in failures[:1]:
        for note in getattr(error, "__notes__", []):
            failed.add_note(note)
    return failed


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


def _sha256(value: Any) -> str:
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()
