"""One cell as a line of JSON: all that a process on this or another machine needs to compute it.

Nothing is pickled, so a worker that lives for days imports no project code itself, and a job can lie in a file.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import json
import math
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from assay.errors import RecordError
from assay.runs.storage import plain


class Limits(NamedTuple):
    """What one cell may use: seconds from the start of its process, and resident memory in MB (a million bytes)."""

    time_s: float | None = None
    memory_mb: float | None = None

    def checked(self) -> Limits:
        """The same limits.

        Raises:
            RecordError: a limit is not a positive, finite number.
        """
        for name, value in (("time_limit_s", self.time_s), ("memory_limit_mb", self.memory_mb)):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (number and math.isfinite(value) and value > 0):
                raise RecordError(f"cells: {name}={value!r}; wanted a positive number, or None for no limit.")
        return self

    def replaced_by(self, other: Limits) -> Limits:
        """These limits, each one replaced where ``other`` has one."""
        return Limits(*(mine if theirs is None else theirs for mine, theirs in zip(self, other, strict=True)))


NO_LIMITS = Limits()


class Job(NamedTuple):
    """A cell to compute. ``function`` is ``module:name``, ``cell`` what :func:`encode` made of the cell.

    ``value`` is the file for the result and ``artifacts`` the folder for arrays; ``folder`` is where the run was
    started and ``imports`` where it finds modules beyond its installation. Files of ``repository`` that the process
    loads beside ``modules``, which the function reaches, are told with the result. ``python`` and ``packages`` are the
    versions that the process must have (none: not checked); ``wanted`` is a file that is there as long as the run wants
    the cell (none: always).
    """

    function: str
    cell: Any
    value: str
    artifacts: str
    folder: str
    repository: str
    imports: tuple[str, ...]
    limits: Limits
    modules: tuple[str, ...] = ()
    python: str | None = None
    packages: Mapping[str, str] | None = None
    wanted: str | None = None

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(plain(self._asdict() | {"limits": self.limits._asdict()}))

    @classmethod
    def from_json(cls, text: str) -> Job:
        """The job that :meth:`to_json` wrote."""
        fields = json.loads(text)
        lists = {name: tuple(fields[name]) for name in ("imports", "modules")}
        return cls(**fields | lists | {"limits": Limits(**fields["limits"])})


def encode(cell: Any) -> Any:
    """A cell as JSON from which :func:`decode` makes it again.

    Raises:
        RecordError: the cell, or the type of a part, is one that a new process could not import.
    """
    if isinstance(cell, enum.Enum):
        return {"enum": _address(type(cell)), "value": encode(cell.value)}
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, float):
        return float(cell) if math.isfinite(cell) else {"float": repr(float(cell))}
    if isinstance(cell, tuple):
        return {
            "tuple": None if type(cell) is tuple else _address(type(cell)),
            "items": [encode(item) for item in cell],
        }
    if dataclasses.is_dataclass(cell) and not isinstance(cell, type):
        fields = {field.name: encode(getattr(cell, field.name)) for field in dataclasses.fields(cell)}
        return {"dataclass": _address(type(cell)), "fields": fields}
    raise RecordError(f"cells: {cell!r} ({type(cell).__name__}) cannot be sent to a process of its own.")


def decode(value: Any) -> Any:
    """The cell that :func:`encode` was given; its modules are imported."""
    if not isinstance(value, dict):
        return value
    if "enum" in value:
        return found(value["enum"])(decode(value["value"]))
    if "float" in value:
        return float(value["float"])
    if "items" in value:
        items = [decode(item) for item in value["items"]]
        return tuple(items) if value["tuple"] is None else found(value["tuple"])._make(items)
    kind = found(value["dataclass"])
    cell = object.__new__(kind)
    for name, part in value["fields"].items():
        object.__setattr__(cell, name, decode(part))  # as it was, without running __init__ a second time
    return cell


def found(address: str) -> Any:
    """What ``module:name`` names; the module is imported."""
    module, _, name = address.partition(":")
    place: Any = importlib.import_module(module)
    for part in name.split("."):
        place = getattr(place, part)
    return place


def address_of(function: Callable[..., Any]) -> str:
    """``module:name`` of a function at the top level of a module."""
    return f"{function.__module__}:{function.__qualname__}"


def _address(kind: type) -> str:
    place: Any = sys.modules.get(kind.__module__) if kind.__module__ != "__main__" else None
    for part in kind.__qualname__.split("."):
        place = getattr(place, part, None)
    if place is not kind or (issubclass(kind, tuple) and not hasattr(kind, "_make")):
        raise RecordError(
            f"cells: a {kind.__qualname__} cannot be made by a new process. Define the type at the top level of a "
            "module that can be imported (tuples: plain ones or NamedTuple)."
        )
    return f"{kind.__module__}:{kind.__qualname__}"
