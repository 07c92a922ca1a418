"""The manifest of a run: who, what, with which code, data and machine; an allowlist and nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from typing import Any

from assay.errors import RecordError
from assay.runs.storage import digest, parse_json, readable_json


class RunStatus(StrEnum):
    """What can happen to a run. The first five are stages of its life; the others are said about it afterwards."""

    PLANNED = "planned"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    SUPERSEDED = "superseded"
    REGISTERED = "registered"
    FROZEN = "frozen"
    WAIVED = "waived"


STAGES = frozenset({RunStatus.PLANNED, RunStatus.RUNNING, RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.INTERRUPTED})


def config_hash(config: Mapping[str, Any], data: Mapping[str, str]) -> str:
    """SHA-256 (hex) over the canonical JSON of the resolved configuration and the data hashes; 12 digits name a run."""
    return digest({"config": dict(config), "data": dict(data)})


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Everything that is written about a run besides its numbers; times in UTC with offset, bytes and seconds."""

    run_id: str
    experiment: str
    version: int
    tag: str
    kind: str
    tier: str | None
    config: Mapping[str, Any]
    config_hash: str
    seeds: Mapping[str, int]
    data: Mapping[str, str]
    upstream: tuple[str, ...]
    commit: str | None
    dirty: bool | None
    diff_digest: str | None
    untracked: tuple[str, ...]
    source_digest: str
    modules: Mapping[str, str]
    python: str
    packages: Mapping[str, str]
    os: str
    cpu: str
    cores: int
    threads: int
    accelerator: str | None
    determinism: Mapping[str, Any]
    started: str
    ended: str | None = None
    duration_seconds: float | None = None
    peak_memory_bytes: int | None = None
    status: RunStatus = RunStatus.RUNNING
    summary: Mapping[str, str]

    def __post_init__(self) -> None:
        for name, (accepts, meaning) in _KINDS.items():
            value = getattr(self, name)
            if not accepts(value):
                raise RecordError(f"manifest of {self.run_id}: {name} is {value!r}; it is {meaning}.")
        object.__setattr__(self, "upstream", tuple(self.upstream))
        object.__setattr__(self, "untracked", tuple(self.untracked))
        object.__setattr__(self, "status", RunStatus(self.status))

    def to_json(self) -> bytes:
        """The manifest as the bytes of its file."""
        return readable_json({field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def from_json(cls, data: bytes, name: str) -> Manifest:
        """The manifest in the bytes of the file ``name``; an unknown, missing or mistyped field is an error."""
        table = parse_json(data, name)
        if not isinstance(table, dict):
            raise RecordError(f"{name}: a manifest is a JSON object, {type(table).__name__} came.")
        known = {field.name for field in fields(cls)}
        wrong = [f"unknown field {key!r}" for key in sorted(table.keys() - known)]
        wrong += [f"missing field {key!r}" for key in sorted(known - table.keys())]
        if wrong:
            raise RecordError(f"{name}: {', '.join(wrong)}. Restore it from version control, or run again.")
        try:
            return cls(**table)
        except RecordError as cause:
            raise RecordError(f"{name}: {cause}") from cause


def _text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _moment(value: object) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).utcoffset() is not None
    except ValueError:
        return False


def _seconds(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _table(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) for key in value)


def _words(value: object) -> bool:
    return isinstance(value, tuple | list) and all(isinstance(entry, str) for entry in value)


def _digests(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(entry, str) for pair in value.items() for entry in pair)


def _numbers(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(key, str) and isinstance(value[key], int) for key in value)


def _status(value: object) -> bool:
    return isinstance(value, str) and value in STAGES


def _or_none(accepts: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or accepts(value)


_TIME = "a time with its UTC offset, such as 2026-11-30T18:04:00+00:00"
_KINDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "run_id": (_text, "text"),
    "experiment": (_text, "text"),
    "version": (_whole, "a whole number"),
    "tag": (_text, "text"),
    "kind": (_text, "text"),
    "tier": (_or_none(_text), "text or nothing"),
    "config": (_table, "a table"),
    "config_hash": (_text, "text"),
    "seeds": (_numbers, "a table of whole numbers"),
    "data": (_digests, "a table of digests"),
    "upstream": (_words, "a list of run ids"),
    "commit": (_or_none(_text), "text or nothing"),
    "dirty": (lambda value: value is None or isinstance(value, bool), "true, false or nothing"),
    "diff_digest": (_or_none(_text), "text or nothing"),
    "untracked": (_words, "a list of file names"),
    "source_digest": (_text, "text"),
    "modules": (_digests, "a table of digests"),
    "python": (_text, "text"),
    "packages": (_digests, "a table of versions"),
    "os": (_text, "text"),
    "cpu": (_text, "text"),
    "cores": (_whole, "a whole number"),
    "threads": (_whole, "a whole number"),
    "accelerator": (_or_none(_text), "text or nothing"),
    "determinism": (_table, "a table"),
    "started": (_moment, _TIME),
    "ended": (_or_none(_moment), f"{_TIME}, or nothing"),
    "duration_seconds": (_or_none(_seconds), "seconds, or nothing"),
    "peak_memory_bytes": (_or_none(_whole), "bytes, or nothing"),
    "status": (_status, "one of " + ", ".join(sorted(STAGES))),
    "summary": (_digests, "a table of digests"),
}
