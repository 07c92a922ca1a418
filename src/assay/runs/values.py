"""Values that a run may record: numbers, booleans, words, counts with their denominator, and estimates."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from assay.errors import RecordError
from assay.runs.storage import NON_FINITE, plain

if TYPE_CHECKING:
    from assay.stats.estimate import Estimate

Scalar: TypeAlias = "int | float | bool | str"
Value: TypeAlias = "Scalar | Count | Estimate"
Missing: TypeAlias = Literal["refuse", "exclude", "against"]

_COUNT = frozenset({"count", "of", "missing"})
_ESTIMATE = frozenset({"value", "low", "high", "n"})
PARTS = _COUNT | _ESTIMATE | {"reason"}
"""Names by which a summary writes the parts of a Count or an Estimate."""

_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_KEY = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_RESERVED = "config"


@dataclass(frozen=True)
class Count:
    """``count`` of ``of`` rows hold; ``missing`` rows had no answer (NaN), and are told whatever was done with them."""

    count: int
    of: int
    missing: int = 0

    def __post_init__(self) -> None:
        plain_integers = type(self.count) is type(self.of) is type(self.missing) is int
        for name in () if plain_integers else ("count", "of", "missing"):
            value = getattr(self, name)
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise RecordError(f"Count: {name} is {value!r}; it is a whole number.")
            object.__setattr__(self, name, value.__index__())
        if not 0 <= self.count <= self.of or self.missing < 0:
            raise RecordError(
                f"Count: {self.count} of {self.of} with {self.missing} missing; "
                "needed is 0 <= count <= of and missing >= 0."
            )

    @property
    def share(self) -> float:
        """count / of, without a unit; NaN for nothing out of nothing."""
        return self.count / self.of if self.of else math.nan

    def __str__(self) -> str:
        return f"{self.count}/{self.of}" + (f" ({self.missing} missing)" if self.missing else "")


def count(mask: Any, *, rows: Any = None, missing: Missing = "refuse") -> Count:
    """How many entries of a boolean mask hold, out of how many; ``rows`` are the values that were compared.

    A comparison with NaN is False, so a mask alone hides rows without an answer. With their values,
    ``count(rows.effect < 0, rows=rows.effect)``, the NaN among them, or missing entries of the mask itself, are
    refused, left out of the denominator ("exclude"), or kept in it as not holding ("against"). A comparison of several
    columns gives them all, ``rows=rows[["low", "high"]]``; answers that compare nothing are their own rows,
    ``count(cells.solved, rows=cells.solved)``.

    Raises:
        RecordError: no rows, or not as many as the mask has entries; entries that are no booleans; rows without an
            answer and no rule for them.
    """
    entries = [_answer(entry) for entry in (mask.tolist() if hasattr(mask, "tolist") else mask)]
    if rows is None:
        raise RecordError(
            "count: of which rows? A comparison with NaN is False, so a mask alone hides rows without an answer. Give "
            "the values that were compared, count(rows.effect < 0, rows=rows.effect); answers that compare nothing are "
            "their own rows, count(solved, rows=solved)."
        )
    values = rows.to_numpy() if hasattr(rows, "columns") else rows
    compared = [_unknown(entry) for entry in (values.tolist() if hasattr(values, "tolist") else values)]
    if len(compared) != len(entries):
        raise RecordError(f"count: the mask has {len(entries)} entries, rows has {len(compared)}. Give equally many.")
    entries = [None if unknown else entry for entry, unknown in zip(entries, compared, strict=True)]
    gaps = sum(entry is None for entry in entries)
    if missing not in ("refuse", "exclude", "against"):
        raise RecordError(f"count: missing={missing!r}; known are 'refuse', 'exclude' and 'against'.")
    if gaps and missing == "refuse":
        raise RecordError(
            f"count: {gaps} of {len(entries)} rows have no answer (NaN). Say missing='exclude' to leave them out of "
            "the denominator, or missing='against' to keep them in it as not holding."
        )
    return Count(sum(entry is True for entry in entries), len(entries) - gaps * (missing == "exclude"), gaps)


def _unknown(entry: Any) -> bool:
    if isinstance(entry, list | tuple):
        return any(map(_unknown, entry))
    return entry is None or type(entry).__name__ in ("NAType", "NaTType") or bool(entry != entry)


def _answer(entry: Any) -> bool | None:
    if _unknown(entry):
        return None
    entry = entry.item() if hasattr(entry, "item") else entry
    if isinstance(entry, bool):
        return entry
    raise RecordError(
        f"count: the mask holds {entry!r}; its entries are booleans. Compare first, as in rows.effect < 0."
    )


def check_key(key: object) -> str:
    """``key`` if it is a dotted name of letters, digits, ``_`` and ``-``; else RecordError."""
    if not isinstance(key, str) or not _KEY.fullmatch(key) or key.split(".")[0] == _RESERVED:
        raise RecordError(
            f"key {key!r}: a result is named by parts of letters, digits, '_' and '-' joined by dots, such as "
            f"'wins.target'; the first part is not '{_RESERVED}', which is the run's configuration."
        )
    return key


def encode(value: object, key: str = "value") -> Any:
    """JSON form of a value; NumPy scalars become Python's, everything unknown is refused naming ``key``."""
    estimates = sys.modules.get("assay.stats.estimate")
    if estimates is not None and isinstance(value, estimates.Estimate):
        table = {name: plain(_scalar(getattr(value, name), key)) for name in ("value", "low", "high", "n")}
        return table | ({"reason": value.reason} if value.reason else {})
    if isinstance(value, Count):
        return {"count": value.count, "of": value.of, "missing": value.missing}
    return plain(_scalar(value, key), key)


def _scalar(value: object, key: str) -> Scalar:
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        value = value.item()
    if isinstance(value, str) and value in NON_FINITE:
        raise RecordError(
            f"{key}: the word {value!r} stands for a float in a summary. Record the float, or another word."
        )
    if isinstance(value, bool | int | float | str):
        return value
    raise RecordError(
        f"{key}: a {type(value).__name__} came; a result is a number, a boolean, a word, a Count or an Estimate. "
        "Reduce it to one (a tensor by .item()), or record it as a table."
    )


def decode(value: object, key: str = "value") -> Value:
    """The value of its JSON form; the inverse of :func:`encode`."""
    if isinstance(value, str):
        return _FLOATS.get(value, value)
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, dict) and value.keys() == _COUNT:
        return Count(**value)
    if isinstance(value, dict) and value.keys() - {"reason"} == _ESTIMATE:
        from assay.stats.estimate import Estimate

        parts = {name: decode(value[name], f"{key}.{name}") for name in _ESTIMATE}
        return Estimate(**parts, **({"reason": value["reason"]} if "reason" in value else {}))  # type: ignore[arg-type]
    raise RecordError(f"{key}: {value!r} is no number, boolean, word, Count or Estimate.")


def is_leaf(value: object) -> bool:
    """Whether a node of a nested summary is one value rather than a group of further keys."""
    return not isinstance(value, dict) or value.keys() == _COUNT or value.keys() - {"reason"} == _ESTIMATE


def nest(values: Mapping[str, object]) -> dict[str, Any]:
    """Dotted keys as nested JSON: ``{"a.b": 1}`` to ``{"a": {"b": 1}}``; a key inside a value of another is refused."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *groups, last = check_key(key).split(".")
        node = tree
        for part in groups:
            node = node.setdefault(part, {})
            if is_leaf(node):
                raise RecordError(f"key {key!r}: {part!r} on its way is a value already. Choose another name.")
        if last in node:
            raise RecordError(f"key {key!r} is taken by keys below it. Choose another name.")
        node[last] = encode(value, key)
    lost = values.keys() - flatten(tree).keys()
    if lost:
        raise RecordError(
            f"key {min(lost)!r}: its group would read as one Count or Estimate. Record that object instead."
        )
    return tree


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Value]:
    """Values of a nested summary by dotted key; the inverse of :func:`nest`."""
    values: dict[str, Value] = {}
    for name, node in tree.items():
        key = f"{prefix}{name}"
        values |= {key: decode(node, key)} if is_leaf(node) else flatten(node, f"{key}.")
    return values
