"""Registration: which run speaks for an experiment and tier, and why; changed only by registering or withdrawing."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import EvidenceError, RecordError
from assay.runs.events import Event
from assay.runs.experiment import listing
from assay.runs.manifest import Manifest, RunStatus
from assay.runs.privacy import refuse_private
from assay.runs.storage import digest, find_repository, parse_json, read_bytes, readable_json, shown, write_durable

if TYPE_CHECKING:
    from assay.runs.registry import Record


@dataclass(frozen=True, kw_only=True)
class Registration:
    """``run_id`` speaks for ``experiment`` at ``tier`` since ``at`` (UTC with offset), because of ``why``."""

    experiment: str
    tier: str
    run_id: str
    why: str
    at: str


def registration_path(record: Record, experiment: str, tier: str) -> Path:
    """File of a registration, whether it exists or not."""
    return record.registered_folder / f"{experiment}.{tier}.json"


def register(record: Record, run_id: str, *, why: str) -> Registration:
    """Write the registration, then say so of the run that spoke before; the caller holds the registrations' lock.

    The order matters: the run's own event comes first and counts only once the file names it, so that a death at any
    point leaves either the earlier registration or the new one in force.
    """
    if not why.strip():
        raise RecordError(f"register {run_id}: no reason was given. Say in one sentence why this run speaks (--why).")
    refuse_private(f"register {run_id}", {"--why": why})
    manifest = _fit_to_speak(record, run_id)
    at = record.clock().isoformat(timespec="seconds")
    chosen = Registration(experiment=manifest.experiment, tier=manifest.tag, run_id=run_id, why=why.strip(), at=at)
    path = registration_path(record, chosen.experiment, chosen.tier)
    data = readable_json(asdict(chosen))
    event = record.append(
        RunStatus.REGISTERED,
        run_id,
        registration=digest(data),
        experiment=chosen.experiment,
        tier=chosen.tier,
        why=chosen.why,
    )
    try:
        write_durable(path, data)
    except RecordError:
        event.unlink()  # it said what did not come to pass
        raise
    for other in _spoke_before(record, chosen):
        record.append(RunStatus.SUPERSEDED, other, by=run_id, tier=chosen.tier)
    return chosen


def _spoke_before(record: Record, chosen: Registration) -> list[str]:
    """Other runs whose last word is that they speak for the same experiment and tier."""
    last: dict[str, Event] = {}
    for event in record.events():
        if event.event in (RunStatus.REGISTERED, RunStatus.SUPERSEDED):
            last[event.run_id] = event
    place = (chosen.experiment, chosen.tier)
    return [
        run_id
        for run_id, event in last.items()
        if event.event is RunStatus.REGISTERED
        and run_id != chosen.run_id
        and (event.payload.get("experiment"), event.payload.get("tier")) == place
    ]


def _fit_to_speak(record: Record, run_id: str) -> Manifest:
    status = record.status(run_id)
    if status is not RunStatus.COMPLETED:
        raise RecordError(f"register {run_id}: the run is {status}. Only a completed run can speak; run it again.")
    try:
        manifest = record.results(run_id).manifest
    except EvidenceError as cause:
        raise RecordError(f"register {run_id}: {cause}") from cause
    if manifest.commit is None:
        raise RecordError(
            f"register {run_id}: it ran outside a git commit, so its code cannot be told. Commit and run it again."
        )
    if manifest.dirty is not False:
        listed = f" (untracked: {', '.join(manifest.untracked)})" if manifest.untracked else ""
        raise RecordError(
            f"register {run_id}: it ran on a dirty tree on top of {manifest.commit[:7]}{listed}. "
            "Commit the changes and run it again."
        )
    return manifest


def standing(events: Sequence[Event]) -> str:
    """ "registered", "superseded" or "": the last of these that was said of a run, by its events in order."""
    said = [event.event for event in events if event.event in (RunStatus.REGISTERED, RunStatus.SUPERSEDED)]
    return str(said[-1]) if said else ""


def parse_registration(path: Path, data: bytes) -> Registration:
    """The registration in the bytes of the file ``path``; RecordError when they hold none, or another place's."""
    name = shown(path)
    table: Any = parse_json(data, name)
    wanted = Registration.__dataclass_fields__.keys()
    if (
        not isinstance(table, dict)
        or table.keys() != wanted
        or not all(isinstance(value, str) for value in table.values())
    ):
        raise RecordError(f"{name} is unreadable: a registration holds {', '.join(wanted)}, all text. Register again.")
    if path.name != f"{table['experiment']}.{table['tier']}.json":
        raise RecordError(f"{name} speaks for {table['experiment']} at tier {table['tier']}. Register again.")
    return Registration(**table)


def read_registration(record: Record, path: Path) -> Registration:
    """The registration in ``path``, checked against the events of the run that it names."""
    name = shown(path)
    try:
        data = read_bytes(path)
        found = parse_registration(path, data)
        events = record.events(found.run_id)
    except RecordError as cause:
        raise EvidenceError(str(cause), reason="unreadable") from cause
    if not events:
        raise EvidenceError(
            f"{name} names the run {found.run_id}, which is not in the record. Register another run.", reason="absent"
        )
    if standing(events) == "superseded":
        raise EvidenceError(
            f"{name} names the run {found.run_id}, which was superseded or withdrawn. "
            "Register the run that should speak.",
            reason="superseded",
        )
    if not any(event.payload.get("registration") == digest(data) for event in events):
        raise EvidenceError(
            f"{name} was changed by hand: no registered event of {found.run_id} has its digest. "
            f'Restore it, or register the run (assay runs register {found.run_id} --why "...").',
            reason="altered",
        )
    return found


def registration_files(record: Record) -> list[Path]:
    """Files of all registrations, sorted."""
    return sorted(record.registered_folder.glob("*.json"))


def trusted(record: Record) -> tuple[Registration, ...]:
    """Registrations that can be read and trusted."""
    found: list[Registration] = []
    for path in registration_files(record):
        try:
            found.append(read_registration(record, path))
        except EvidenceError:
            continue  # named, with its reason, by doctor() and by whoever asks for it
    return tuple(found)


def registered(record: Record, experiment: str, tier: str | None) -> Registration:
    """Registration of an experiment at a tier; without a tier the only one."""
    tiers = [
        path.name.removesuffix(".json").removeprefix(f"{experiment}.")
        for path in registration_files(record)
        if path.name.removesuffix(".json").rpartition(".")[0] == experiment
    ]
    if tier is None and len(tiers) > 1:
        raise EvidenceError(
            f"{experiment} has registered runs at tiers {', '.join(tiers)}. Say which is meant: tier=... in a claim, "
            "--tier on the command line.",
            reason="absent",
        )
    wanted = tier if tier is not None else tiers[0] if tiers else None
    if wanted not in tiers or wanted is None:
        from assay.runs.withdrawal import withdrawn

        near = difflib.get_close_matches(tier, tiers, n=1) if tier else []
        told = withdrawn(record, experiment, tier) or (f" Did you mean tier {near[0]!r}?" if near else "")
        told = told or _meant(record, experiment)
        if "Did you mean" not in told:
            told += f" Run it and register it: {_command(record, experiment, tier)}"
        at = f" at tier {tier} (registered: {', '.join(tiers) or 'none'})" if tier is not None else ""
        raise EvidenceError(
            f"{experiment} has no registered run{at} in {shown(record.root)}.{told}",
            reason="absent",
        )
    return read_registration(record, registration_path(record, experiment, wanted))


def _meant(record: Record, experiment: str) -> str:
    """The nearest experiment that is registered or written, for a name that is neither."""
    known = {path.name.removesuffix(".json").rpartition(".")[0] for path in registration_files(record)}
    with contextlib.suppress(RecordError):  # a record outside any repository has no sources
        known |= {one.name for one in listing(record.repository)}
    near = [] if experiment in known else difflib.get_close_matches(experiment, sorted(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def _command(record: Record, experiment: str, tier: str | None) -> str:
    """The command that registers a run in this record; a folder outside the current one is not told."""
    words = ["assay run", experiment] + ([f"--tier {tier}"] if tier else [])
    with contextlib.suppress(RecordError):
        if record.root == find_repository(record.root.parent) / "experiments":
            return " ".join((*words, '--register "..."'))
    here = record.root.is_relative_to(Path.cwd())
    folder = record.root.relative_to(Path.cwd()).as_posix() if here else "FOLDER"
    return " ".join((*words, f"--record {folder}", '--register "..."'))
