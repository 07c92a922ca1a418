"""The record: what happened to every run, one immutable file an event; everything else on disk follows from them."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import RecordError
from assay.runs.events import Event, check_run_id, event_files, event_names, read_event, write_event
from assay.runs.index import index_bytes, write_attributes
from assay.runs.locks import HeldError, hold, is_held
from assay.runs.manifest import STAGES, Manifest, RunStatus
from assay.runs.storage import find_repository, read_bytes, shown, sweep, utc_now, write_durable

if TYPE_CHECKING:
    from assay.runs.doctor import Finding
    from assay.runs.registration import Registration
    from assay.runs.results import Results

_ATTEMPT = re.compile(r"(.+?)(?:-r([1-9][0-9]*))?")
_START_PATIENCE = 0.2  # seconds; a glance at the lock by a reader is no second start
_WRITE_PATIENCE = 30.0  # seconds; index and registrations are written in milliseconds


def split_attempt(run_id: str) -> tuple[str, int]:
    """Base id and attempt of a run id: ``x-r3`` is the third attempt of ``x``, ``x`` the first."""
    match = _ATTEMPT.fullmatch(check_run_id(run_id))
    return (match[1], int(match[2] or 1)) if match else (run_id, 1)


class Record:
    """A record on disk. ``root`` holds registry/, manifests/, summaries/ and registered/; opening it reads nothing.

    ``artifacts`` is the folder for locks and heavy arrays: next to a root called experiments, inside any other root.
    ``clock`` gives the time of events; it may stand still or run backwards without an event being lost.
    """

    def __init__(
        self, root: Path | str, *, artifacts: Path | None = None, clock: Callable[[], datetime] = utc_now
    ) -> None:
        self.root = Path(os.path.abspath(root))
        inside = self.root.parent if self.root.name == "experiments" else self.root
        self.artifacts = inside / "artifacts" if artifacts is None else artifacts
        self.clock = clock
        self.event_folder = self.root / "registry" / "events"
        self.index_path = self.root / "registry" / "runs.jsonl"
        self.registered_folder = self.root / "registered"

    def __repr__(self) -> str:
        return f"Record({shown(self.root)!r})"

    @property
    def repository(self) -> Path:
        """Repository that the record lies in; of a scratch record elsewhere, that of the current folder."""
        with contextlib.suppress(RecordError):
            return find_repository(self.root.parent)
        return find_repository()

    def manifest_path(self, run_id: str) -> Path:
        """File of a run's manifest, whether it exists or not."""
        return self.root / "manifests" / f"{check_run_id(run_id)}.json"

    def summary_folder(self, run_id: str) -> Path:
        """Folder of a run's numbers, tables and figures, whether it exists or not."""
        return self.root / "summaries" / check_run_id(run_id)

    # -- events ----------------------------------------------------------------------------------------------------

    def append(self, event: RunStatus | str, run_id: str, **payload: Any) -> Path:
        """Add one event, durably, and return its file; parallel writers never lose each other's."""
        kind = RunStatus(event)
        sequence = 1 + len(self._files(run_id))
        return write_event(
            self.event_folder, kind, run_id=run_id, moment=self.clock(), sequence=sequence, payload=payload
        )

    def events(self, run_id: str | None = None) -> tuple[Event, ...]:
        """Events of a run as they happened; of all runs if none is named, and then without damaged ones.

        A damaged event of the named run is an error that names its file. :meth:`damaged` lists all such files.
        """
        if run_id is not None:
            return tuple(sorted((read_event(path) for path in self._files(run_id)), key=lambda event: event.order))
        intact, _ = self.read_all()
        return tuple(sorted(intact, key=lambda event: (split_attempt(event.run_id), event.order)))

    def damaged(self) -> tuple[Path, ...]:
        """Event files whose bytes are not those that their names promise."""
        return tuple(self.read_all()[1])

    def read_all(self) -> tuple[list[Event], list[Path]]:
        """All intact events, unsorted, and the files of the damaged ones."""
        intact: list[Event] = []
        damaged: list[Path] = []
        for path in event_files(self.event_folder):
            try:
                intact.append(read_event(path))
            except RecordError:
                damaged.append(path)
        return intact, damaged

    def _files(self, run_id: str) -> list[Path]:
        return event_files(self.event_folder, check_run_id(run_id))

    # -- runs ------------------------------------------------------------------------------------------------------

    def attempts(self, base_id: str | None = None) -> tuple[str, ...]:
        """Run ids in the record, damaged ones included, in the order of their names and attempts."""
        wanted = "" if base_id is None else base_id
        found = {
            entry.run_id for entry in event_names(self.event_folder) if entry.kind in STAGES and wanted in entry.run_id
        }
        known = sorted(found, key=split_attempt)
        return tuple(run_id for run_id in known if base_id is None or split_attempt(run_id)[0] == base_id)

    def next_attempt(self, base_id: str) -> str:
        """Run id of the attempt that would start now: the base id, then ``-r2``, ``-r3``...; no folder is shared."""
        taken = [split_attempt(run_id)[1] for run_id in self.attempts(base_id)]
        for folder in (self.root / "manifests", self.root / "summaries"):
            names = [path.name.removesuffix(".json") for path in folder.glob(f"{check_run_id(base_id)}*")]
            taken += [attempt for base, attempt in map(split_attempt, names) if base == base_id]
        latest = max(taken, default=0)
        return base_id if latest == 0 else f"{base_id}-r{latest + 1}"

    def stage(self, run_id: str) -> RunStatus:
        """Last stage that the events of a run tell, without asking whether its process lives."""
        stages = [event.event for event in self.events(run_id) if event.event in STAGES]
        if not stages:
            known = ", ".join(self.attempts()[-5:]) or "none"
            raise RecordError(f"run {run_id!r} is not in {shown(self.root)}. Known are {known} (assay runs list).")
        return stages[-1]

    def status(self, run_id: str) -> RunStatus:
        """Stage of a run's life; a running one whose process is gone is interrupted. Changes nothing."""
        stage = self.stage(run_id)
        if stage is not RunStatus.RUNNING:
            return stage
        base_id, _ = split_attempt(run_id)
        latest = self.attempts(base_id)[-1] == run_id
        return stage if latest and is_held(self._lock_path(base_id)) else RunStatus.INTERRUPTED

    def _lock_path(self, name: str) -> Path:
        return self.artifacts / "locks" / f"{check_run_id(name)}.lock"

    @contextlib.contextmanager
    def lock(self, base_id: str) -> Iterator[None]:
        """Hold the run while it lives; a second starter gets RecordError and writes nothing.

        Attempts that were left running by a dead process get their interrupted event here, and what that process left
        half written is swept, so that no start needs cleaning by hand.
        """
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(hold(self._lock_path(base_id), patience=_START_PATIENCE))
            except HeldError as held:
                owner = held.owner
                raise RecordError(
                    f"run {base_id} is already running: process {owner.get('pid', 'unknown')}, started "
                    f"{owner.get('started', 'at an unknown time')}. Wait for it, or stop that process and start again."
                ) from None
            for folder in (self.root, self.artifacts):
                sweep(folder)
            for run_id in self.attempts(base_id):
                if self._left_running(run_id):
                    self.append(RunStatus.INTERRUPTED, run_id)
            yield

    def _left_running(self, run_id: str) -> bool:
        try:
            return self.stage(run_id) is RunStatus.RUNNING
        except RecordError:
            return False  # a damaged event: named by events() and doctor(), and no reason not to start again

    def manifest(self, run_id: str) -> Manifest:
        """Manifest of a run, finished or not, as it is on disk; :meth:`results` also checks that nobody changed it."""
        path = self.manifest_path(run_id)
        return Manifest.from_json(read_bytes(path), shown(path))

    def write_manifest(self, manifest: Manifest) -> Path:
        """Write the manifest of a run durably, in place of an earlier version of the same run's."""
        path = self.manifest_path(manifest.run_id)
        write_durable(path, manifest.to_json())
        return path

    def results(self, run_id: str) -> Results:
        """Numbers and tables of a completed run, verified; EvidenceError says why they cannot be trusted."""
        from assay.runs.results import open_results

        return open_results(self, run_id)

    def stale(self, run_id: str, repository: Path | None = None) -> list[str]:
        """Modules, data files and upstream runs that are no longer what the run used; empty if none, or if waived."""
        from assay.runs.stale import standing_of

        found = standing_of(self, run_id, self.repository if repository is None else repository)
        return [reason.where for reason in found.reasons] if found.stale else []

    # -- registrations ---------------------------------------------------------------------------------------------

    def register(self, run_id: str, *, why: str) -> Registration:
        """Let a run speak for its experiment and tier; the run that did before is superseded."""
        from assay.runs.registration import register

        with self._writing("registrations"):
            return register(self, run_id, why=why)

    def withdraw(self, run_id: str, *, why: str) -> Registration:
        """Let a run speak no more; claims on it are then unverified until another one is registered."""
        from assay.runs.withdrawal import withdraw

        with self._writing("registrations"):
            return withdraw(self, run_id, why=why)

    def registered(self, experiment: str, tier: str | None = None) -> Registration:
        """Registration of an experiment; without ``tier`` the only one. EvidenceError when there is none to trust."""
        from assay.runs.registration import registered

        return registered(self, experiment, tier)

    def registrations(self) -> tuple[Registration, ...]:
        """All registrations that can be read and trusted, by experiment and tier; doctor() lists the others."""
        from assay.runs.registration import trusted

        return trusted(self)

    def standing(self, run_id: str) -> str:
        """ "registered", "superseded" or "": what was said about a run after its end."""
        from assay.runs.registration import standing

        return standing(self.events(run_id))

    # -- index and health ------------------------------------------------------------------------------------------

    def rebuild_index(self) -> Path:
        """Write registry/runs.jsonl anew from the events; equal events give equal bytes, whatever their order."""
        with self._writing("index"):
            write_attributes(self.root)
            write_durable(self.index_path, index_bytes(*self.read_all()))
        return self.index_path

    def index_is_current(self) -> bool:
        """Whether registry/runs.jsonl is what the events say; changes nothing."""
        current = index_bytes(*self.read_all())
        return (self.index_path.read_bytes() if self.index_path.is_file() else b"") == current

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        with hold(self.artifacts / "locks" / f".{name}.lock", patience=_WRITE_PATIENCE):
            yield

    def doctor(self) -> list[Finding]:
        """Everything in the record that is damaged, left over, interrupted, altered, stale or out of date."""
        from assay.runs.doctor import examine

        return examine(self)


def open_record(root: Path | str | None = None) -> Record:
    """Record under ``root``; without one, experiments/ of the repository that the current folder lies in."""
    return Record(find_repository() / "experiments" if root is None else root)
