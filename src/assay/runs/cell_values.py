"""The value of one cell on disk: written whole before it is reported, read back only when nothing in it changed."""

from __future__ import annotations

import enum
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.errors import RecordError
from assay.runs.artifacts import ArtifactArray, artifact_path, store
from assay.runs.storage import canonical_json, digest, write_durable
from assay.runs.values import decode, encode


def write_value(path: Path, value: Any, *, cell: Any, artifacts: Path) -> None:
    """Write what a cell function returned, durably; arrays go to ``artifacts``. ``cell`` is the cell as JSON.

    Raises:
        RecordError: it is no mapping of names to numbers, text, counts, estimates or arrays, or cannot be written.
    """
    if not isinstance(value, Mapping):
        raise RecordError(f"returned {type(value).__name__}; wanted a mapping of column names to values")
    if wrong := [name for name in value if not isinstance(name, str) or not name]:
        raise RecordError(f"returned the column name {wrong[0]!r}; a column's name is text. Rename it.")
    body = {"cell": cell, "value": {str(name): _written(item, str(name), artifacts) for name, item in value.items()}}
    write_durable(path, canonical_json({"body": body, "sha256": digest(body)}).encode())


def read_value(path: Path, artifacts: Path) -> dict[str, Any] | None:
    """The value in a cell's file; ``None`` when there is none, it is damaged, or an array it names is gone."""
    try:
        content = json.loads(path.read_bytes())
        body = content["body"]
        if content["sha256"] != digest(body):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    value = {name: _read(item, artifacts) for name, item in body["value"].items()}
    arrays = [item for item in value.values() if isinstance(item, ArtifactArray)]
    return value if all(artifact_path(artifacts, array.digest).is_file() for array in arrays) else None


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
