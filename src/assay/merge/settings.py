"""Values of a recipe for one tensor: scalars, gradients over layers, filters on names, and their precedence."""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Mapping, Sequence
from typing import Any

from assay.choices import checked_choice
from assay.errors import ConfigError
from assay.merge.operator import AbstractMergeOperator
from assay.merge.recipe import Settings, near

__all__ = ["checked_names", "checked_options", "options_for", "per_input_for", "resolved"]

_MEMORY_ONLY = ("int8_mask",)


def checked_names(operator: type[AbstractMergeOperator], settings: Settings, where: str, *, of_input: bool) -> None:
    """Refuse parameters that the method does not have, or not at this place.

    ``int8_mask`` is known: it saves memory elsewhere and changes no number, here it has no effect.

    Raises:
        ConfigError: naming the nearest parameter.
    """
    shared, own = [*_fields(operator), *_MEMORY_ONLY], list(operator.per_input)
    known = own if of_input else [*own, *shared]
    for name in settings:
        if name in known:
            continue
        if of_input and name in shared:
            raise ConfigError(
                f"{where}: {name!r} holds for all inputs of {operator.name}. Move it to the parameters of the recipe."
            )
        raise ConfigError(f"{where}: {operator.name} has no parameter {name!r}.{near(name, known)}")


def options_for(
    operator: type[AbstractMergeOperator], settings: Sequence[Settings], *, name: str, t: float, where: str
) -> AbstractMergeOperator:
    """The operator with its options for the tensor ``name`` at the place ``t`` in [0, 1] of its slice.

    Raises:
        ConfigError: an option that must be given is missing, or of the wrong kind.
    """
    values: dict[str, Any] = {}
    for key, (spelled, hint, required) in _fields(operator).items():
        found = resolved(key, settings, name=name, t=t, hint=hint, where=where)
        if found is not None:
            values[spelled] = found
        elif required:
            raise ConfigError(f"{where}: {operator.name} needs {key!r}, and there is none for tensor {name!r}.")
    return operator(**values)


def per_input_for(
    operator: type[AbstractMergeOperator], settings: Sequence[Settings], *, name: str, t: float, where: str
) -> dict[str, float]:
    """The numbers of one input for its tensor ``name``, defaults filled in.

    Raises:
        ConfigError: a number that must be given is missing, or is none.
    """
    values: dict[str, float] = {}
    for key, default in operator.per_input.items():
        found = resolved(key, settings, name=name, t=t, hint=float, where=where)
        if found is None:
            found = default
        if found is None:
            raise ConfigError(f"{where}: {operator.name} needs {key!r} of every input; tensor {name!r} has none.")
        values[key] = float(found)
    return values


def resolved(key: str, settings: Sequence[Settings], *, name: str, t: float, hint: Any, where: str) -> Any:
    """The value of ``key`` in the nearest settings that have one for this tensor; None if none has."""
    for scope in settings:
        if key in scope:
            value = _evaluated(scope[key], name=name, t=t, hint=hint, where=f"{where}: {key}")
            if value is not None:
                return value
    return None


def _evaluated(setting: Any, *, name: str, t: float, hint: Any, where: str) -> Any:
    if isinstance(setting, dict):
        setting = [setting]
    if not isinstance(setting, list):
        return _typed(setting, hint, where)
    if not setting:
        raise ConfigError(f"{where} is an empty list.")
    if all(isinstance(one, dict) for one in setting):
        for one in setting:
            if "value" not in one or set(one) - {"filter", "value"}:
                raise ConfigError(f"{where}: {one!r}; a filter has the keys filter and value.")
            if one.get("filter") in (None, "*") or str(one["filter"]) in name:
                return _evaluated(one["value"], name=name, t=t, hint=hint, where=where)
        return None
    if any(isinstance(one, dict | list) for one in setting):
        raise ConfigError(f"{where} is {setting!r}; give numbers (a gradient over the layers) or filters, not both.")
    values = [_typed(one, hint, where) for one in setting]
    place = t * (len(values) - 1)
    if not all(type(one) is float for one in values):
        return values[int(place)]
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return (1 - (place - low)) * values[low] + (place - low) * values[high]


def _typed(value: Any, hint: Any, where: str) -> Any:
    """The scalar in the type of the option; numbers may be written as YAML reads ``1e-5``, as text."""
    if typing.get_origin(hint) is typing.Literal:
        choices = typing.get_args(hint)
        if isinstance(value, bool) and "l1" in choices:
            value = "l1" if value else "none"
        if value not in choices:
            raise ConfigError(f"{where} is {value!r}.{near(str(value), [str(one) for one in choices])}")
        return value
    if hint is bool:
        if not isinstance(value, bool):
            raise ConfigError(f"{where} is {value!r}; give true or false.")
        return value
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    except ValueError:
        number = None
    if number is None or (hint is int and number != int(number)):
        raise ConfigError(f"{where} is {value!r}; give a {'whole ' if hint is int else ''}number.")
    return int(number) if hint is int else number


def checked_options(operator: AbstractMergeOperator) -> None:
    """Refuse options of another type than the operator declares; recipes are read more leniently, by `options_for`.

    Raises:
        ConfigError: with the option, what came and what is allowed.
    """
    for key, (name, hint, _) in _fields(type(operator)).items():
        value, what = getattr(operator, name), f"{operator.name}: {key}"
        if typing.get_origin(hint) is typing.Literal:
            checked_choice(value, hint, what=what, error=ConfigError)
            continue
        wanted: Any = {bool: bool, int: int, float: (int, float)}.get(hint, object)
        flag = isinstance(value, bool) and hint in (int, float)
        if value is not None and (flag or not isinstance(value, wanted)):
            raise ConfigError(f"{what} is {value!r}; a {hint.__name__} is needed.")


@functools.cache
def _fields(operator: type[AbstractMergeOperator]) -> Mapping[str, tuple[str, Any, bool]]:
    """Options by the name that recipes use: field name, type, and whether it must be given."""
    hints = typing.get_type_hints(operator)
    return {
        one.name.rstrip("_"): (
            one.name,
            _without_none(hints[one.name]),
            one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING,
        )
        for one in dataclasses.fields(operator)
    }


def _without_none(hint: Any) -> Any:
    kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 and type(None) in typing.get_args(hint) else hint
