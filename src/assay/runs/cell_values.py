"""The value of one cell on disk: written whole before it is reported, read back only when nothing in it changed."""

from __future__ import annotations

import enum
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import RecordError
from assay.runs.artifacts import ArtifactArray, artifact_path, store
from assay.runs.source import by_path
from assay.runs.storage import canonical_json, digest, write_durable
from assay.runs.values import decode, encode


class CellValue(NamedTuple):
    """What a cell returned, by column, and digests of files that its process loaded beside its import statements."""

    columns: dict[str, Any]
    loaded: dict[str, str]


def write_value(path: Path, value: Any, *, cell: Any, artifacts: Path, loaded: Mapping[str, str]) -> None:
    """Write what a cell function returned, durably; arrays go to ``artifacts``.

    ``cell`` is the cell as JSON, ``loaded`` the digests of project files that its process loaded beside its import
    statements, by path.

    Raises:
        RecordError: it is no mapping of names to numbers, text, counts, estimates or arrays, or cannot be written.
    """
    if not isinstance(value, Mapping):
        raise RecordError(f"returned {type(value).__name__}; wanted a mapping of column names to values")
    if wrong := [name for name in value if not isinstance(name, str) or not name]:
        raise RecordError(f"returned the column name {wrong[0]!r}; a column's name is text. Rename it.")
    columns = {str(name): _written(item, str(name), artifacts) for name, item in value.items()}
    body = {"cell": cell, "value": columns} | ({"loaded": dict(loaded)} if loaded else {})
    write_durable(path, canonical_json({"body": body, "sha256": digest(body)}).encode())


def read_value(path: Path, artifacts: Path, repository: Path) -> CellValue | None:
    """The value in a cell's file.

    ``None`` when there is none, it is damaged, an array it names is gone, or a file that its process loaded changed.
    """
    try:
        content = json.loads(path.read_bytes())
        body = content["body"]
        if content["sha256"] != digest(body):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    found = CellValue({name: _read(item, artifacts) for name, item in body["value"].items()}, body.get("loaded", {}))
    arrays = [item for item in found.columns.values() if isinstance(item, ArtifactArray)]
    whole = all(artifact_path(artifacts, array.digest).is_file() for array in arrays)
    return found if whole and by_path(found.loaded, repository) == found.loaded else None


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
