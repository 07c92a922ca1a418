"""Events: one immutable file each, named by its time, run, kind and the head of its own digest."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import RecordError
from assay.runs.manifest import RunStatus
from assay.runs.storage import digest, parse_json, read_bytes, readable_json, shown, write_durable

_NAME = re.compile(r"(\d{8}T\d{6}\.\d{6}Z)-([A-Za-z0-9_.-]+)-([a-z]+)-([0-9a-f]{8})\.json")
_RUN_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_FIELDS = {"event", "run_id", "at", "sequence", "nonce", "payload"}


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened to a run; ``sequence`` counts the run's events and keeps their order without a clock."""

    event: RunStatus
    run_id: str
    at: str
    sequence: int
    payload: Mapping[str, Any]
    path: Path

    @property
    def order(self) -> tuple[int, str, str]:
        """Key that sorts the events of one run as they happened, the same on every machine and after every merge."""
        return (self.sequence, self.at, self.path.name)


def check_run_id(run_id: str) -> str:
    """``run_id`` if it can be part of a file name; else RecordError."""
    if not _RUN_ID.fullmatch(run_id):
        raise RecordError(
            f"run id {run_id!r}: letters, digits, '.', '_' and '-' only, as in merging.train_tiny_0c2257f6803e."
        )
    return run_id


class EventName(NamedTuple):
    """What the name of an event's file tells without opening it, in a damaged one too."""

    name: str
    run_id: str
    kind: str


def event_names(folder: Path, run_id: str = "") -> list[EventName]:
    """Names of the event files of ``folder``, of one run if it is given, sorted; strays are not among them."""
    found = parse_names(name for name in _names(folder) if run_id in name)
    return [entry for entry in found if run_id in ("", entry.run_id)]


def parse_names(names: Iterable[str]) -> list[EventName]:
    """What those of ``names`` tell that are names of event files, in their order."""
    matches = (_NAME.fullmatch(name) for name in names)
    return [EventName(match[0], match[2], match[3]) for match in matches if match is not None]


def event_files(folder: Path, run_id: str = "") -> list[Path]:
    """Event files of ``folder``, of one run if it is given, sorted; temporary files and strays are not among them."""
    return [folder / entry.name for entry in event_names(folder, run_id)]


def stray_files(folder: Path) -> list[Path]:
    """Files of ``folder`` that are no events and no temporary files."""
    return [folder / name for name in _names(folder) if not name.startswith(".") and not _NAME.fullmatch(name)]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    except OSError as cause:
        raise RecordError(
            f"{shown(folder)} cannot be read ({cause.strerror}). A record is a folder: give it with --record."
        ) from cause


def run_of(path: Path) -> str:
    """Run id in the name of an event file, which can be told even when its content is damaged."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise RecordError(f"{shown(path)} does not have the name of an event: <utc>-<run_id>-<event>-<8 hex>.json.")
    return match[2]


def write_event(
    folder: Path, event: RunStatus, *, run_id: str, moment: datetime, sequence: int, payload: Mapping[str, Any]
) -> Path:
    """Write one event durably and return its file; it never replaces another, whatever the clock says."""
    moment = moment.astimezone(UTC)
    while True:
        content = {
            "event": event,
            "run_id": check_run_id(run_id),
            "at": moment.isoformat(timespec="microseconds"),
            "sequence": sequence,
            "nonce": secrets.token_hex(8),
            "payload": payload,
        }
        data = readable_json(content)
        path = folder / f"{moment:%Y%m%dT%H%M%S.%f}Z-{run_id}-{event}-{digest(data)[:8]}.json"
        try:
            write_durable(path, data, exclusive=True)
        except FileExistsError:
            continue  # two digests share their first 32 bits: a new nonce gives a new one
        return path


def read_event(path: Path) -> Event:
    """The event in ``path``; RecordError naming the file when its bytes are not those that its name promises."""
    return parse_event(read_bytes(path), path)


def parse_event(data: bytes, path: Path) -> Event:
    """The event in the bytes of the file ``path``, on disk or in a commit; RecordError as for :func:`read_event`."""
    name = shown(path)
    match = _NAME.fullmatch(path.name)
    if match is None or digest(data)[:8] != match[4]:
        raise RecordError(
            f"{name} is damaged (truncated or edited): its bytes do not have the digest in its name. "
            f"Restore it (git checkout -- {name}); other runs are not affected."
        )
    table = parse_json(data, name)
    if not isinstance(table, dict) or table.keys() != _FIELDS:
        raise RecordError(f"{name} is no event: its fields are not {', '.join(sorted(_FIELDS))}. Remove it.")
    if table["run_id"] != match[2] or table["event"] != match[3]:
        raise RecordError(f"{name} was renamed: it holds {table['event']} of {table['run_id']}. Give it back its name.")
    try:
        kind = RunStatus(table["event"])
    except ValueError:
        known = ", ".join(RunStatus)
        raise RecordError(f"{name}: unknown event {table['event']!r}; known are {known}. Use a newer assay.") from None
    return Event(
        event=kind,
        run_id=table["run_id"],
        at=table["at"],
        sequence=table["sequence"],
        payload=table["payload"],
        path=path,
    )
