"""Withdrawing: a run that spoke for its experiment speaks no more, and none takes its place; said on record, with why.

What says so is a superseded event that names no successor. The run, its numbers and its events stay.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import RecordError
from assay.runs.events import event_names, read_event
from assay.runs.manifest import RunStatus
from assay.runs.privacy import refuse_private
from assay.runs.registration import Registration, parse_registration, registration_path
from assay.runs.storage import read_bytes, shown, sync_folder

if TYPE_CHECKING:
    from assay.runs.registry import Record


def withdraw(record: Record, run_id: str, *, why: str) -> Registration:
    """Say that a run speaks no more, then remove its registration; the caller holds the registrations' lock.

    The event comes first: a death in between leaves a registration that nobody believes, and withdrawing again ends it.
    A run whose registration was removed by hand is withdrawn too.

    Raises:
        ConfigError: the reason tells whose machine this is, or a secret.
        RecordError: no reason is given, the run does not speak, or its registration cannot be read or removed.
    """
    if not why.strip():
        raise RecordError(f"withdraw {run_id}: no reason was given. Say in one sentence why it speaks no more (--why).")
    refuse_private(f"withdraw {run_id}", {"--why": why})
    found = _spoken(record, run_id)
    path = registration_path(record, found.experiment, found.tier)
    names_it = path.is_file() and parse_registration(path, read_bytes(path)).run_id == run_id
    standing = record.standing(run_id)
    if not names_it and standing != "registered":
        raise RecordError(f"withdraw {run_id}: it does not speak; it was {standing}. Nothing was changed.")
    said = {"experiment": found.experiment, "tier": found.tier, "why": why.strip()}
    event = record.append(RunStatus.SUPERSEDED, run_id, **said)
    if names_it:
        _remove(path, event)
    return Registration(run_id=run_id, at=read_event(event).at, **said)


def _spoken(record: Record, run_id: str) -> Registration:
    """The last registration of the run, as its own event tells it."""
    for event in reversed(record.events(run_id)):
        if event.event is RunStatus.REGISTERED:
            told = {name: str(event.payload[name]) for name in ("experiment", "tier", "why")}
            return Registration(run_id=run_id, at=event.at, **told)
    raise RecordError(f"withdraw {run_id}: it does not speak; it was never registered. Nothing was changed.")


def _remove(path: Path, event: Path) -> None:
    try:
        path.unlink()
        sync_folder(path.parent)
    except OSError as cause:
        if path.exists():
            event.unlink()  # it said what did not come to pass
        raise RecordError(f"{shown(path)} cannot be removed ({cause.strerror}). Allow writing there.") from cause


def withdrawn(record: Record, experiment: str, tier: str | None) -> str:
    """Which run spoke last and was withdrawn, when and why, as a sentence with a space before it; else nothing."""
    said: list[tuple[str, str]] = []
    for name in event_names(record.event_folder):
        if name.kind == RunStatus.SUPERSEDED and name.run_id.startswith(f"{experiment}_"):
            with contextlib.suppress(RecordError):  # a damaged event: doctor() names it
                event = read_event(record.event_folder / name.name)
                place = (event.payload.get("experiment"), event.payload.get("tier"))
                if place[0] == experiment and tier in (None, place[1]):
                    said.append((event.at, f" {event.run_id} was withdrawn at {event.at}: {event.payload['why']}."))
    return max(said)[1] if said else ""
