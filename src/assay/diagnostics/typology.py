"""Distances between languages by their typology: URIEL+ values of five languages, shipped as data with their origin.

The values are under CC BY-SA 4.0 (the attribution is in the file and in `provenance`). A missing distance is NaN with
a reason: the package that computes them writes -1, which a rank correlation would read as the closest pair of all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

from assay.errors import DataError

DATA = "typology_urielplus.json"
_FLORES = {
    "eng_Latn": "eng",
    "zho_Hans": "cmn",
    "cmn_Hans": "cmn",
    "por_Latn": "por",
    "pol_Latn": "pol",
    "ita_Latn": "ita",
}


class TypologicalDistance(NamedTuple):
    """A distance from 0 to 1 (angular), the features it was taken over, and the reason if it is NaN."""

    value: float
    n_shared_features: int
    reason: str = ""


def typological_distance(first: str, second: str, *, kind: str) -> TypologicalDistance:
    """The distance of two languages, by ISO 639-3 or FLORES code; symmetric.

    Kinds: syntactic, genetic, featural, inventory, geographic, phonological. Mandarin is ``cmn``: URIEL's ``zho`` is
    another entry with other values (syntactic eng-zho 0.5141, eng-cmn 0.5275).

    Raises:
        DataError: one language twice, or a kind or language that the data does not hold; the message lists those.

    Source: Khan et al. 2025 (arXiv 2409.18472); urielplus 1.3.2 with its defaults.
    """
    table = _table()
    distances = table["distances"].get(kind)
    if distances is None:
        raise DataError(f"typological_distance: no kind {kind!r}; there are {', '.join(table['distances'])}.")
    one, other = (_code(name, table["languages"]) for name in (first, second))
    if one == other:
        raise DataError(f"typological_distance: {first} and {second} are one language; distances are between two.")
    pair = f"{one}-{other}" if f"{one}-{other}" in distances else f"{other}-{one}"
    value, n_shared = distances[pair], table["n_shared_features"][kind][pair]
    if value is None:
        return TypologicalDistance(math.nan, n_shared, f"no {kind} feature is known in both {one} and {other}")
    return TypologicalDistance(float(value), n_shared)


def provenance() -> Mapping[str, Any]:
    """What the data says about itself: version, package, metric, codes, databases, attribution and licence."""
    return MappingProxyType({key: value for key, value in _table().items() if not isinstance(value, dict)})


def _code(name: str, languages: list[str]) -> str:
    code = _FLORES.get(name, name)
    if code not in languages:
        advice = " Mandarin is cmn." if code.startswith("zho") else ""
        raise DataError(f"typological_distance: no language {name!r}; there are {', '.join(languages)}.{advice}")
    return code


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(files("assay.diagnostics").joinpath(DATA).read_text(encoding="utf-8"))
    if table["version"] != 1:
        raise DataError(f"typological_distance: {DATA} has version {table['version']}, this code reads 1.")
    return table
