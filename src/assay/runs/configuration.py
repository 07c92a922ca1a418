"""A configuration is a frozen dataclass; its canonical JSON names the run.

Fields may be bool, int, float, str, None, Literal, an Enum, a frozen dataclass, a tuple of these, or a union of these.
A path is refused, because it would put the machine into the name of the run; a list or dict, because it can change.
"""

from __future__ import annotations

import dataclasses
import difflib
import enum
import math
import pathlib
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import ConfigError
from assay.runs.preparing import Preparing

KINDS = ("exploratory", "pilot", "confirmatory")
"""What a run may call itself; a configuration without a field ``kind`` is exploratory."""

_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_SCALARS = (bool, int, float, str, type(None))


def plain(config: object) -> dict[str, Any]:
    """The configuration as JSON values, every field checked against its annotation.

    Floats stay floats, tuples become lists, enums their values, NaN and infinities their JSON strings.

    Raises:
        ConfigError: not a frozen dataclass, or a field of the wrong type (named, with what was wanted and what came).
    """
    if isinstance(config, type) or not dataclasses.is_dataclass(config):
        raise ConfigError(
            f"A configuration is an instance of a frozen dataclass, got {config!r}. "
            "Let the tier's function return one, for example `return Settings()`."
        )
    _checked_class(type(config), "")
    result = _plain_dataclass(config, "")
    kind = result.get("kind", KINDS[0])
    if kind not in KINDS:
        raise ConfigError(f"field 'kind': wanted one of {', '.join(KINDS)}, got {kind!r}.")
    return result


def from_plain(config_type: type[Any], values: Mapping[str, Any]) -> Any:
    """The configuration of class ``config_type`` that ``plain`` turned into ``values``.

    Raises:
        ConfigError: a field is missing, unknown, or does not fit its annotation.
    """
    _checked_class(config_type, "")
    return _build_dataclass(config_type, values, "")


def seeds(values: Mapping[str, Any], prefix: str = "") -> dict[str, int]:
    """The whole numbers of a plain configuration in fields named ``seed``, ``seeds`` or ending so, by dotted name."""
    found: dict[str, int] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= seeds(value, f"{prefix}{name}.")
        elif name in ("seed", "seeds") or name.endswith(("_seed", "_seeds")):
            several = {f"{name}.{place}": item for place, item in enumerate(value)} if isinstance(value, list) else {}
            each = several or {name: value}
            found |= {f"{prefix}{key}": item for key, item in each.items() if type(item) is int}
    return found


def nearest(name: str, known: Sequence[str]) -> str:
    """Sentence that suggests the nearest known name (empty without a near one) and lists all, for error messages."""
    near = difflib.get_close_matches(name, known, n=1)
    suggestion = f" Did you mean {near[0]!r}?" if near else ""
    return f"{suggestion} Known: {', '.join(known)}." if known else f"{suggestion} There is none."


def hints_of(cls: type[Any]) -> dict[str, Any]:
    """Resolved annotation of each field of a dataclass."""
    try:
        return typing.get_type_hints(cls)
    except NameError as error:
        raise ConfigError(
            f"{cls.__qualname__}: the annotations of its fields cannot be resolved ({error}). "
            "Import the types they name at run time, not under TYPE_CHECKING only."
        ) from error


def _checked_class(cls: type[Any], path: str) -> None:
    where = f"field {path!r}: " if path else ""
    parameters = getattr(cls, "__dataclass_params__", None)
    if parameters is None:
        raise ConfigError(f"{where}{type_name(cls)} is not a dataclass. Configurations are frozen dataclasses.")
    if not parameters.frozen:
        raise ConfigError(f"{where}{cls.__qualname__} can be changed. Write @dataclass(frozen=True).")
    hints = hints_of(cls)
    for field in dataclasses.fields(cls):
        _checked_annotation(hints[field.name], f"{path}.{field.name}" if path else field.name)


def _checked_annotation(hint: Any, path: str) -> None:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType) or (origin is tuple and typing.get_args(hint)):
        for part in typing.get_args(hint):
            if part is not Ellipsis:
                _checked_annotation(part, path)
    elif origin is typing.Literal or hint in _SCALARS:
        return
    elif isinstance(hint, type) and issubclass(hint, pathlib.PurePath):
        raise ConfigError(
            f"field {path!r} is a path. A path would put this machine into the name of the run: "
            "give the name and digest of what lies there instead."
        )
    elif isinstance(hint, type) and dataclasses.is_dataclass(hint):
        _checked_class(hint, path)
    elif not (isinstance(hint, type) and issubclass(hint, enum.Enum)):
        raise ConfigError(
            f"field {path!r}: {type_name(hint)} cannot be in a configuration. Use bool, int, float, str, None, "
            "Literal, an Enum, a frozen dataclass, or a tuple of these with its element type, such as tuple[int, ...]."
        )


def _plain_dataclass(config: Any, path: str) -> dict[str, Any]:
    hints = hints_of(type(config))
    result: dict[str, Any] = {}
    for field in dataclasses.fields(config):
        name = f"{path}.{field.name}" if path else field.name
        value = getattr(config, field.name)
        if not _fits(value, hints[field.name]):
            raise ConfigError(f"field {name!r}: wanted {type_name(hints[field.name])}, got {shown(value)}.")
        result[field.name] = _plain_value(value, name)
    return result


def _plain_value(value: Any, path: str) -> Any:
    if dataclasses.is_dataclass(value):
        return _plain_dataclass(value, path)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain_value(item, f"{path}[{place}]") for place, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value


def _fits(value: Any, hint: Any) -> bool:
    """Whether the value has exactly the annotated type: a bool is no int, an int is no float."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is typing.Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(parts) == 2 and parts[1] is Ellipsis:
            return all(_fits(item, parts[0]) for item in value)
        return len(value) == len(parts) and all(_fits(item, part) for item, part in zip(value, parts, strict=True))
    return type(value) is hint


def _build_dataclass(cls: type[Any], values: Any, path: str) -> Any:
    if not isinstance(values, Mapping):
        raise ConfigError(f"field {path!r}: wanted the fields of {cls.__qualname__}, got {shown(values)}.")
    hints = hints_of(cls)
    names = [field.name for field in dataclasses.fields(cls)]
    if unknown := sorted(set(values) - set(names)):
        raise ConfigError(f"{cls.__qualname__} has no field {unknown[0]!r}.{nearest(unknown[0], names)}")
    if missing := [name for name in names if name not in values]:
        raise ConfigError(f"{cls.__qualname__}: no value for {', '.join(missing)}.")
    built = {name: build(values[name], hints[name], f"{path}.{name}" if path else name) for name in names}
    with Preparing(f"the fields of {cls.__qualname__} do not go together", trace=False):
        return cls(**built)


def build(value: Any, hint: Any, path: str) -> Any:
    """The value of annotation ``hint`` that was written as the JSON value ``value``."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _build_union(value, hint, path)
    if origin is tuple and isinstance(value, list):
        repeated = len(parts) == 2 and parts[1] is Ellipsis
        hints = parts[:1] * len(value) if repeated else parts
        if len(hints) == len(value):
            return tuple(build(item, part, path) for item, part in zip(value, hints, strict=True))
    elif isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _build_dataclass(hint, value, path)
    elif isinstance(hint, type) and issubclass(hint, enum.Enum):
        for member in hint:
            if type(member.value) is type(value) and member.value == value:
                return member
    elif hint is float and isinstance(value, str) and value in _NON_FINITE:
        return _NON_FINITE[value]
    elif _fits(value, hint):
        return value
    raise ConfigError(f"field {path!r}: wanted {type_name(hint)}, got {shown(value)}.")


def _build_union(value: Any, hint: Any, path: str) -> Any:
    built = []
    for part in typing.get_args(hint):
        try:
            built.append(build(value, part, path))
        except ConfigError:
            continue
    if len(built) != 1:
        few = "nothing fits" if not built else "more than one type fits"
        raise ConfigError(f"field {path!r}: wanted {type_name(hint)}, got {shown(value)} ({few}).")
    return built[0]


def type_name(hint: Any) -> str:
    """An annotation as error messages show it."""
    if typing.get_origin(hint) is typing.Literal:
        return "one of " + ", ".join(repr(part) for part in typing.get_args(hint))
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return f"one of {', '.join(repr(member.value) for member in hint)} ({hint.__name__})"
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " or ".join(type_name(part) for part in typing.get_args(hint))
    if hint is type(None):
        return "None"
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


def shown(value: Any) -> str:
    """A value and its type as error messages show them."""
    return f"{value!r} ({type(value).__name__})"
