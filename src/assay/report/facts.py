"""Settings of a run as a report lists them: dotted names with their values as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def facts(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """A nested mapping as dotted names with their values as text."""
    flat: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= facts(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            flat[f"{prefix}{name}"] = ", ".join(map(str, value))
        else:
            flat[f"{prefix}{name}"] = str(value)
    return flat
