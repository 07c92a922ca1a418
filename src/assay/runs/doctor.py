"""What is wrong with a record, each finding with its file and what to do about it; looking changes nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import EvidenceError, RecordError
from assay.runs.events import read_event, stray_files
from assay.runs.freeze import copy_problem, freeze_of
from assay.runs.manifest import RunStatus
from assay.runs.registration import read_registration, registration_files
from assay.runs.registry import split_attempt
from assay.runs.results import summary_digests
from assay.runs.storage import abandoned, shown

if TYPE_CHECKING:
    from assay.runs.registry import Record


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: its ``kind`` in a word or two, the file or run, and what to do."""

    kind: str
    path: str
    advice: str


def examine(record: Record) -> list[Finding]:
    """All findings in a record, in the order: damage, leftovers, runs, registrations, freezes, index."""
    found = [*_damage(record), *_leftovers(record), *_runs(record), *_registrations(record)]
    return [*found, *_freezes(record), *_index(record)]


def _damage(record: Record) -> Iterator[Finding]:
    for path in record.damaged():
        name = shown(path)
        yield Finding("damaged event", name, f"Restore it (git checkout -- {name}). Its run is unreadable until then.")


def _leftovers(record: Record) -> Iterator[Finding]:
    for folder in (record.root, record.artifacts):
        for path in abandoned(folder):
            if folder == record.root or not path.is_relative_to(record.root):
                yield Finding("temporary", shown(path), "Left by a dead process; the next run removes it.")
    for path in stray_files(record.event_folder):
        yield Finding("stray", shown(path), "Not an event. Remove it.")
    known = set(record.attempts())
    for path in sorted((record.root / "manifests").glob("*")):
        if not path.name.startswith(".") and path.name.removesuffix(".json") not in known:
            yield Finding("stray", shown(path), "No event speaks of this run. Restore its events or remove the file.")
    for path in sorted((record.root / "summaries").glob("*")):
        if path.name not in known:
            yield Finding("stray", shown(path), "No event speaks of this run. Restore its events or remove the folder.")


def _runs(record: Record) -> Iterator[Finding]:
    statuses: dict[str, RunStatus] = {}
    for run_id in record.attempts():
        with contextlib.suppress(RecordError):  # its damaged event is named above
            statuses[run_id] = record.status(run_id)
    done = {split_attempt(run_id) for run_id, status in statuses.items() if status is RunStatus.COMPLETED}
    for run_id, status in statuses.items():
        base_id, attempt = split_attempt(run_id)
        made_up = any(base == base_id and later > attempt for base, later in done)
        if status is RunStatus.INTERRUPTED and not made_up:
            yield Finding(
                "interrupted", run_id, "Its process is gone. Start it again; finished cells are not repeated."
            )
        if status is RunStatus.COMPLETED:
            yield from _completed(record, run_id)


def _completed(record: Record, run_id: str) -> Iterator[Finding]:
    try:
        results = record.results(run_id)
    except EvidenceError as cause:
        yield Finding(cause.reason, run_id, str(cause))
        return
    folder = record.summary_folder(run_id)
    for name in sorted(summary_digests(folder).keys() - results.manifest.summary.keys()) if folder.is_dir() else ():
        yield Finding("stray", shown(folder / name), f"Not part of {run_id}: its manifest lacks it. Remove it.")


def _registrations(record: Record) -> Iterator[Finding]:
    speaking: set[str] = set()
    for path in registration_files(record):
        try:
            found = read_registration(record, path)
            speaking.add(found.run_id)
            yield from _stale(record, found.run_id, path)
        except (EvidenceError, RecordError) as cause:
            yield Finding("registration", shown(path), str(cause))
    for run_id in record.attempts():
        try:
            registered = record.standing(run_id) == "registered"
        except RecordError:
            continue  # its damaged event is named above
        if registered and run_id not in speaking:
            command = f'assay runs register {run_id} --why "..."'
            advice = f"Its registration is not in force. Register it, or the run that should speak ({command})."
            yield Finding("registration", run_id, advice)


def _stale(record: Record, run_id: str, path: Path) -> Iterator[Finding]:
    changed = record.stale(run_id)
    if changed:
        listed = ", ".join(changed[:5]) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")
        yield Finding(
            "stale",
            shown(path),
            f"{run_id} is outgrown: {listed}. assay runs stale says how; assay run --stale runs it again.",
        )


def _freezes(record: Record) -> Iterator[Finding]:
    for path in sorted(record.event_folder.glob(f"*-{RunStatus.FROZEN}-*.json")):
        with contextlib.suppress(RecordError):  # a damaged event is named above
            freeze = freeze_of(read_event(path))
            if problem := copy_problem(freeze, record.root.parent):
                advice = f"The copy of freeze {freeze.label} is {problem}. Restore it: git checkout -- {freeze.copy}."
                yield Finding("freeze", freeze.copy, advice)


def _index(record: Record) -> Iterator[Finding]:
    if (record.event_folder.is_dir() or record.index_path.exists()) and not record.index_is_current():
        yield Finding("index", shown(record.index_path), "Out of date. Make it anew: assay runs index.")
