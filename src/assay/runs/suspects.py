"""Where a drift is likely to come from: what differs between a run and its rerun, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assay.runs.manifest import Manifest
from assay.runs.stale import become

_FACTS = (
    ("operating system", ("os",)),
    ("accelerator", ("accelerator",)),
    ("CPU", ("cpu",)),
    ("threads", ("threads", "cores")),
    ("determinism", ("determinism",)),
)
_NOTHING = (
    "nothing that is recorded differs: it draws numbers without a seed, reads the clock or a file that is not among "
    "its data, or depends on the order in which its cells end"
)


class Suspect(NamedTuple):
    """A possible source: data, code, versions, operating system, accelerator, CPU, threads, or the experiment."""

    source: str
    detail: str


def suspects(recorded: Manifest, rerun: Manifest, *, code: Sequence[str]) -> tuple[Suspect, ...]:
    """All that differs between the two, in the order in which it is likely to move numbers.

    ``code`` says what changed in the source, a sentence a module. When nothing differs, the experiment is suspected.
    """
    data = [f"{name} {what}" for name, what in become(recorded.data, rerun.data)]
    versions = {"Python": (recorded.python, rerun.python)}
    versions |= _pairs(recorded.packages, rerun.packages)
    found = [Suspect("data", ", ".join(data))] if data else []
    found += [Suspect("code", "; ".join(code))] if code else []
    found += _differing("versions", versions)
    for source, fields in _FACTS:
        pairs: dict[str, tuple[Any, Any]] = {}
        for field in fields:
            one, two = getattr(recorded, field), getattr(rerun, field)
            pairs |= _pairs(one, two) if isinstance(one, Mapping) else {field: (one, two)}
        found += _differing(source, pairs)
    return tuple(found) or (Suspect("the experiment", _NOTHING),)


def _pairs(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {name: (first.get(name), second.get(name)) for name in sorted(first.keys() | second.keys())}


def _differing(source: str, pairs: Mapping[str, tuple[Any, Any]]) -> Iterator[Suspect]:
    said = [f"{name} {one} -> {two}" for name, (one, two) in pairs.items() if one != two]
    if said:
        yield Suspect(source, ", ".join(said))
