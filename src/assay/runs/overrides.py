"""``--set field=value``: text typed on the command line becomes a field of the configuration, by its type."""

from __future__ import annotations

import dataclasses
import enum
import json
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any

from assay.errors import ConfigError
from assay.runs.configuration import build, hints_of, nearest, shown
from assay.runs.preparing import Preparing

_BOOLEANS = {"true": True, "false": False}


def override(config: Any, assignments: Sequence[str]) -> Any:
    """A copy of ``config`` with each ``field=value`` of ``assignments`` applied; nested fields are dotted.

    The value is read by the type of its field: ``true``/``false``, numbers, a name of a Literal or Enum, ``none`` where
    the field allows None, and JSON (``[1, 2]``) or ``1,2`` for tuples.

    Raises:
        ConfigError: an assignment without ``=``, an unknown field (the known ones are listed), or an unfit value.
    """
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals or not path.strip():
            raise ConfigError(f"--set {assignment!r}: write it as field=value, for example --set seed=7.")
        config = _with(config, path.strip().split("."), text, path.strip())
    return config


def field_paths(config: object, prefix: str = "") -> Iterator[str]:
    """Dotted names of the fields that ``--set`` accepts, in the order of their definition."""
    for field in dataclasses.fields(typing.cast("Any", config)):
        value = getattr(config, field.name)
        if dataclasses.is_dataclass(value):
            yield from field_paths(value, f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}"


def _with(config: Any, steps: list[str], text: str, path: str) -> Any:
    names = [field.name for field in dataclasses.fields(config)]
    known = list(field_paths(config))
    if steps[0] not in names:
        wanted = ".".join(steps)
        raise ConfigError(f"{type(config).__name__} has no field {wanted!r}.{nearest(wanted, known)}")
    if len(steps) > 1:
        inner = getattr(config, steps[0])
        if not dataclasses.is_dataclass(inner):
            raise ConfigError(f"--set {path}: {steps[0]!r} holds {shown(inner)}, it has no fields.")
        return _replaced(config, steps[0], _with(inner, steps[1:], text, path))
    hint = hints_of(type(config))[steps[0]]
    return _replaced(config, steps[0], build(_read(text, hint, path), hint, path))


def _replaced(config: Any, name: str, value: Any) -> Any:
    with Preparing(f"--set: {type(config).__qualname__} cannot be built", trace=False):
        return dataclasses.replace(config, **{name: value})


def _read(text: str, hint: Any, path: str) -> Any:
    """JSON value that ``text``, as typed after ``--set field=``, means for a field annotated ``hint``."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if text.lower() in ("none", "null") and type(None) in parts:
            return None
        return _read_first(text, parts, path)
    if origin is typing.Literal or (isinstance(hint, type) and issubclass(hint, enum.Enum)):
        choices = parts if origin is typing.Literal else tuple(member.value for member in hint)
        return next((choice for choice in choices if str(choice) == text), text)
    if hint is bool:
        return _BOOLEANS.get(text.lower(), text)
    if hint in (int, float):
        try:
            return typing.cast("type[int] | type[float]", hint)(text)
        except ValueError:
            return text
    if origin is tuple:
        return _read_tuple(text, parts)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        raise ConfigError(f"--set {path}: {path!r} is a group of fields; set one of them, such as {path}.NAME=VALUE.")
    return text


def _read_first(text: str, parts: tuple[Any, ...], path: str) -> Any:
    for part in sorted((part for part in parts if part is not type(None)), key=lambda part: part is str):
        value = _read(text, part, path)
        if not isinstance(value, str) or part is str or typing.get_origin(part) is typing.Literal:
            return value
    return text


def _read_tuple(text: str, parts: tuple[Any, ...]) -> Any:
    if text.lstrip().startswith("["):
        try:
            return _floats(json.loads(text), parts)
        except (json.JSONDecodeError, RecursionError):
            return text
    items = [item.strip() for item in text.split(",") if item.strip()]
    hints = _each(parts, len(items))
    if len(hints) != len(items):
        return text
    return [_read(item, hint, "") for item, hint in zip(items, hints, strict=True)]


def _each(parts: tuple[Any, ...], length: int) -> tuple[Any, ...]:
    """Annotation of each of ``length`` entries of a tuple with these parameters."""
    return parts[:1] * length if len(parts) == 2 and parts[1] is Ellipsis else parts


def _floats(items: Any, parts: tuple[Any, ...]) -> Any:
    """The entries of a JSON list, whole numbers as floats where the annotation wants those: ``[1, 2]``, as ``1,2``."""
    if not isinstance(items, list) or len(hints := _each(parts, len(items))) != len(items):
        return items
    found: list[Any] = []
    for item, hint in zip(items, hints, strict=True):
        if typing.get_origin(hint) is tuple:
            item = _floats(item, typing.get_args(hint))
        found.append(float(item) if hint is float and type(item) is int and abs(item) < 2**1023 else item)
    return found
