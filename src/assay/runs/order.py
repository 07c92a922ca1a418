"""Did the freeze come before the run? Four answers by name, from what commits hold; no clock and no date is asked.

The run's commit holds its files by their digests. So the freeze that counts for a run is the last one in its commit,
and nothing that is done to the record afterwards changes which that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import final

from assay.errors import RecordError
from assay.runs.compare import settings_changes
from assay.runs.events import read_event
from assay.runs.freeze import (
    CONFIRMATORY,
    EVENTS,
    ROOT,
    Freeze,
    copy_problem,
    freezes,
    freezes_in,
    preregistration,
    study_of,
)
from assay.runs.freshness import Use, reused, uses_in
from assay.runs.history import History
from assay.runs.manifest import Manifest
from assay.runs.registry import Record
from assay.runs.storage import digest


class OrderVerdict(StrEnum):
    """What can be said of the order of a freeze and a confirmatory run.

    Proven: the run's commit is in the history of HEAD, holds the freeze, and descends from the commit it was made on.
    Witnessed: the same in the history of a tag only, or a timestamp authority dates the freeze before the run's start.
    Unprovable: commits or files that would show the order are not here. Violated: the freeze was not kept.
    """

    PROVEN = "proven"
    WITNESSED = "witnessed"
    UNPROVABLE = "unprovable"
    VIOLATED = "violated"


@final
@dataclass(frozen=True, kw_only=True)
class Order:
    """The verdict, why, the freeze that counts (empty when none does), and in what it was not kept."""

    verdict: OrderVerdict
    reason: str
    freeze: str = ""
    deviation: str = ""

    @property
    def doubt(self) -> str:
        """Why the order cannot be shown, or what changed between freeze and run; empty if neither."""
        return self.reason if self.verdict is OrderVerdict.UNPROVABLE else self.deviation

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}"


def order_of(run: Manifest, repository: Path) -> Order:
    """The verdict on a confirmatory run, on record or about to start; the freezes are those of ``repository``."""
    try:
        return _Inquiry(run, repository).answer()
    except RecordError as cause:
        return Order(verdict=OrderVerdict.UNPROVABLE, reason=str(cause))


class _Inquiry:
    """One run, the commits, and the freezes of its study."""

    def __init__(self, run: Manifest, repository: Path) -> None:
        self.run = run
        self.repository = repository
        self.record = Record(repository / ROOT)
        self.history = History(repository)
        self.study = study_of(run.experiment)
        self.commit = run.commit or ""
        self.at = f"commit {self.commit[:7]} of the run"
        self._events = f"{EVENTS}/*-{self.study}-frozen-*.json"
        self._known_uses: dict[str, list[Use]] = {}

    def answer(self) -> Order:
        if not self.run.commit or self.run.dirty is not False:
            where = "on a dirty tree" if self.run.commit else "outside a git commit"
            return self._unprovable(f"the run started {where}, so nobody can tell what it knew")
        if lost := self._lost(self.commit, self.at):
            return self._timestamped() or self._unprovable(lost)
        held = freezes_in(self.history, self.commit, self.study)
        if not held:
            return self._without_freeze()
        freeze = held[-1]
        if len(held) > 1 and held[-2].number == freeze.number:
            both = f"{held[-2].label} and {freeze.label}"
            return self._unprovable(f"{self.at} holds two freezes {both}, made on parallel branches: which one counts?")
        if violation := self._violation(freeze):
            return Order(verdict=OrderVerdict.VIOLATED, reason=violation, freeze=freeze.label)
        if lost := self._lost(freeze.commit, f"commit {freeze.commit[:7]}, on which freeze {freeze.label} was made,"):
            return self._timestamped() or self._unprovable(lost, freeze)
        if gap := self._gap(freeze, held):
            return self._unprovable(gap, freeze)
        return self._shown(freeze)

    def _unprovable(self, reason: str, freeze: Freeze | None = None) -> Order:
        return Order(verdict=OrderVerdict.UNPROVABLE, reason=reason, freeze=freeze.label if freeze else "")

    def _in_head(self, commit: str) -> bool:
        return self.history.head is not None and self.history.leads_to(commit, self.history.head)

    def _lost(self, commit: str, what: str) -> str:
        """Why a commit cannot be looked at as part of the history, or nothing."""
        known = self.history.has(commit)
        if known and (self._in_head(commit) or self.history.tags_after(commit)):
            return ""
        if self.history.shallow:
            return f"{what} is not in this shallow clone (git fetch --unshallow)"
        place = "in the history of HEAD or of a tag" if known else "in this repository"
        return f"{what} is not {place}: its history was rewritten (squash, rebase, amend)"

    def _violation(self, freeze: Freeze) -> str:
        """How the freeze that the run's commit holds was not kept, or nothing."""
        run = self.run
        if freeze.configuration(run.experiment, run.version, run.config_hash) is None:
            mine = f"{run.experiment}, version {run.version}, {run.config_hash[:12]}{_differing(freeze, run)}"
            return f"freeze {freeze.label} does not hold the configuration of the run ({mine})"
        copy = self.history.content(self.commit, freeze.copy)
        if copy is not None and digest(copy) != freeze.sha256:
            return f"{freeze.copy} was edited before the run: {self.at} holds it with another hash"
        if copy_problem(freeze, self.repository) == "edited":
            return f"{freeze.copy} was edited after the freeze (git checkout {self.commit[:7]} -- {freeze.copy})"
        earlier = self._uses(freeze.commit) if self.history.has(freeze.commit) else []
        earlier = [*earlier, *(use for use in self._uses(self.commit) if use.kind != CONFIRMATORY)]
        found = reused(run, freeze.shared, earlier)
        return f"results before the freeze: {found}" if found else ""

    def _gap(self, freeze: Freeze, held: list[Freeze]) -> str:
        """What is missing between the freeze and the run, or nothing."""
        history = self.history
        if missing := set(range(1, freeze.number)) - {one.number for one in held}:
            return f"freeze {min(missing)} of {self.study} is missing from {self.at}"
        removed = history.removed(self.commit, self._events)
        if gone := set(removed) - {one.event_path for one in held}:
            return f"{min(gone)} was removed before the run: which freeze counts cannot be told"
        files = [path for one in held for path in (one.event_path, one.copy)]
        if gone := {path for path in files if not (self.repository / path).is_file()}:
            restore = f"git checkout {self.commit[:7]} -- {min(gone)}"
            return f"{min(gone)}, which {self.at} holds, is no longer there ({restore})"
        for one in held:
            read_event(self.repository / one.event_path)  # raises when it was edited
        if history.content(self.commit, freeze.copy) is None:
            return f"{self.at} does not hold {freeze.copy}"
        if not history.leads_to(freeze.commit, self.commit):
            return f"freeze {freeze.label} was made on commit {freeze.commit[:7]}, which is no ancestor of {self.at}"
        others = [use for use in self._uses(self.commit) if not self._under(freeze, use)]
        if found := reused(self.run, freeze.shared, others):
            return f"{found}, which did not start under freeze {freeze.label}: nothing shows which came first"
        text = history.content(freeze.commit, preregistration(self.study))
        if text is None or digest(text) != freeze.sha256:
            return (
                f"commit {freeze.commit[:7]} does not hold {preregistration(self.study)} as freeze {freeze.label} says"
            )
        return ""

    def _uses(self, commit: str) -> list[Use]:
        """What the runs used that a commit holds, as far as it counts for the study; looked up once."""
        if commit not in self._known_uses:
            self._known_uses[commit] = uses_in(self.history, commit, self.study)
        return self._known_uses[commit]

    def _under(self, freeze: Freeze, use: Use) -> bool:
        """Whether the commit of another run holds the freeze as well."""
        return self.history.has(use.commit) and self.history.content(use.commit or "", freeze.event_path) is not None

    def _shown(self, freeze: Freeze) -> Order:
        frozen = freeze.configuration(self.run.experiment, self.run.version, self.run.config_hash)
        same = frozen is not None and frozen.source_digest == self.run.source_digest
        deviation = "" if same else f"the code changed between freeze {freeze.label} and the run"
        code = "" if same else "; the code changed in between"
        reason = f"{self.at} holds freeze {freeze.label}, made on its ancestor {freeze.commit[:7]}{code}"
        if not self._in_head(self.commit):
            reason = f"tag {self.history.tags_after(self.commit)[0]} keeps it, HEAD does not: {reason}"
            return Order(verdict=OrderVerdict.WITNESSED, reason=reason, freeze=freeze.label, deviation=deviation)
        return Order(verdict=OrderVerdict.PROVEN, reason=reason, freeze=freeze.label, deviation=deviation)

    def _without_freeze(self) -> Order:
        """The run's commit is here and holds no freeze: did one come later, on the side, or never?"""
        head = self.history.head or self.commit
        known = freezes(self.record, self.study) or freezes_in(self.history, head, self.study)
        if not known:
            return self._never_frozen(head)
        freeze = known[0]
        made = self.history.added_in(head, freeze.event_path)
        if made is None:
            results = f"{ROOT}/manifests/{self.run.run_id}.json"
            if self.history.content(head, results) is None:
                return self._unprovable(f"freeze {freeze.label} is not committed, and neither is the run", freeze)
            reason = f"results before the freeze: the run is committed, freeze {freeze.label} is not"
            return Order(verdict=OrderVerdict.VIOLATED, reason=reason, freeze=freeze.label)
        if self.history.shallow:
            return self._unprovable("this clone is shallow (git fetch --unshallow)", freeze)
        if self.history.leads_to(self.commit, made):
            reason = f"freeze after the run: {made[:7]}, which made freeze {freeze.label}, came after {self.at}"
            return Order(verdict=OrderVerdict.VIOLATED, reason=reason, freeze=freeze.label)
        if self.history.leads_to(made, self.commit):
            return self._unprovable(f"freeze {freeze.label} was removed before {self.at}", freeze)
        return self._unprovable(f"freeze {freeze.label} and {self.at} are on parallel branches", freeze)

    def _never_frozen(self, head: str) -> Order:
        """No freeze is here: there was none, unless one was removed or lies beyond the end of a shallow clone."""
        if self.history.shallow:
            return self._unprovable("this clone is shallow (git fetch --unshallow)")
        if removed := self.history.removed(head, self._events):
            return self._unprovable(f"{removed[0]} was removed from the record")
        return Order(verdict=OrderVerdict.VIOLATED, reason=f"{self.study} was never frozen, and the run is here")

    def _timestamped(self) -> Order | None:
        """What a timestamp authority says where commits are missing: it dates the freeze, not the run."""
        from assay.runs.timestamp import stamp_of

        run = self.run
        for freeze in reversed(freezes(self.record, self.study)):
            named = freeze.configuration(run.experiment, run.version, run.config_hash) is not None
            stamp = stamp_of(freeze, self.repository) if named and not copy_problem(freeze, self.repository) else None
            if stamp is not None and stamp.at < datetime.fromisoformat(run.started):
                reason = (
                    f"{stamp.authority} saw freeze {freeze.label} at {stamp.at:%Y-%m-%dT%H:%M:%SZ}; "
                    f"the run says that it started at {run.started}"
                )
                return Order(verdict=OrderVerdict.WITNESSED, reason=reason, freeze=freeze.label)
        return None


def _differing(freeze: Freeze, run: Manifest) -> str:
    """The fields in which the run differs from the frozen configuration of its experiment that is nearest to it."""
    frozen = [one for one in freeze.configurations if one.experiment == run.experiment and one.version == run.version]
    changes = min((settings_changes(one.config, run.config) for one in frozen), key=len, default=())
    return "".join(f"; {one.where} is {one.second!r}, frozen as {one.first!r}" for one in changes)
