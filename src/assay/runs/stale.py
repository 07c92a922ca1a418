"""Whether a run is outgrown: its code, its data files or an upstream run are no longer those that it used.

Nothing is imported and no version control is asked, so that a claim can be judged by it in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from assay.errors import EvidenceError, RecordError
from assay.runs.data_files import files_now
from assay.runs.manifest import Manifest, RunStatus
from assay.runs.source import by_path, is_module, module_digests
from assay.runs.storage import digest

if TYPE_CHECKING:
    from assay.runs.registry import Record

ReasonKind = Literal["source", "data", "configuration", "upstream"]


@dataclass(frozen=True)
class Reason:
    """One thing that is not as it was when the run ran: ``where`` it lies, ``what`` became of it, and the details."""

    kind: ReasonKind
    where: str
    what: str
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        label = "" if self.kind == "source" else f"{self.kind} "
        return f"{label}{self.where} {self.what}" + (f": {', '.join(self.details)}" if self.details else "")


class Waiver(NamedTuple):
    """Somebody's word that what changed touches no number of the run, given ``at`` (UTC) for exactly this state."""

    why: str
    at: str
    inputs: str


@dataclass(frozen=True)
class Standing:
    """How a run stands to the present code and data: why it is outgrown, and the waiver in force, if there is one.

    ``void`` are the waivers, in the order of their giving, of another state than the present one.
    """

    reasons: tuple[Reason, ...]
    waiver: Waiver | None
    modules: Mapping[str, str]
    state: str
    void: tuple[Waiver, ...] = ()

    @property
    def stale(self) -> bool:
        """Something changed, and nobody waived it."""
        return bool(self.reasons) and self.waiver is None


def standing_of(record: Record, run_id: str, repository: Path) -> Standing:
    """Compare a run with what is here now: every module, data file and upstream run.

    Raises:
        RecordError: a manifest, an event or a source file cannot be read.
    """
    return _standing(record, run_id, repository, ())


def _standing(record: Record, run_id: str, repository: Path, below: tuple[str, ...]) -> Standing:
    if run_id in below:
        raise RecordError(f"{run_id} is upstream of itself ({' -> '.join(below)}): a manifest was changed by hand.")
    manifest = record.manifest(run_id)
    modules = modules_now(manifest, repository)
    files = files_now(manifest.data, repository)
    reasons = [*_source(manifest, modules), *_data(manifest, files)]
    upstream: dict[str, str] = {}
    for used in manifest.upstream:
        found, upstream[used] = _upstream(record, used, repository, (*below, run_id))
        reasons += found
    state = digest({"modules": modules, "files": files, "upstream": upstream})
    given = _waivers(record, run_id)
    in_force = [waiver for of, waiver in given if of == state]
    void = tuple(waiver for of, waiver in given if of != state)
    return Standing(tuple(reasons), in_force[-1] if in_force else None, modules, state, void)


def modules_now(manifest: Manifest, repository: Path) -> dict[str, str]:
    """Digests of the modules that the run's experiment reaches now, and of those that the run had loaded besides.

    There are none when the experiment's own module is gone.
    """
    module = f"experiments.{manifest.experiment}"
    if not is_module(module, repository):
        return {}
    loaded = by_path((name for name in manifest.modules if "/" in name), repository)
    return {**module_digests(module, repository), **loaded}


def become(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names under which two tables differ, sorted, each with ``changed``, ``is new`` or ``is gone``."""
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            what = "is gone" if not after.get(name) else "is new" if name not in before else "changed"
            yield name, what


def _source(manifest: Manifest, modules: Mapping[str, str]) -> Iterator[Reason]:
    for name, what in become(manifest.modules, modules):
        yield Reason("source", name, what)


def _data(manifest: Manifest, files: Mapping[str, str]) -> Iterator[Reason]:
    for name, what in become({name: manifest.data[name] for name in files}, files):
        yield Reason("data", name, what)


def _upstream(record: Record, used: str, repository: Path, below: tuple[str, ...]) -> tuple[list[Reason], str]:
    """Why an upstream run speaks no more, and a text that is another one whenever that becomes different."""
    home = _home_of(record, used, repository)
    if home is None:
        return [Reason("upstream", used, "is gone")], "gone"
    manifest = home.manifest(used)
    try:
        speaks = home.registered(manifest.experiment, manifest.tag).run_id
    except EvidenceError as error:
        if error.reason != "absent":
            return [Reason("upstream", used, f"cannot be trusted ({error.reason})")], error.reason
        return [Reason("upstream", used, "is not registered")], "not registered"
    if speaks != used:
        return [Reason("upstream", used, f"was superseded by {speaks}")], speaks
    now = _standing(home, used, repository, below)
    details = tuple(map(str, now.reasons))
    return [Reason("upstream", used, "is stale", details)] if now.stale else [], now.state


def _home_of(record: Record, run_id: str, repository: Path) -> Record | None:
    """The record that holds a run: a scratch record reads upstream runs of the repository's own."""
    for one in (record, type(record)(repository / "experiments")):
        if run_id in one.attempts() and one.manifest_path(run_id).is_file():
            return one
    return None


def _waivers(record: Record, run_id: str) -> list[tuple[str, Waiver]]:
    """Every waiver of a run with the state for which it was given, the latest last."""
    return [
        (
            str(event.payload.get("state")),
            Waiver(str(event.payload.get("why")), event.at, str(event.payload.get("inputs", ""))),
        )
        for event in record.events(run_id)
        if event.event is RunStatus.WAIVED
    ]


def explained(reasons: tuple[Reason, ...], manifest: Manifest, repository: Path) -> tuple[Reason, ...]:
    """The same reasons, changed modules with the definitions that changed where the commit of the run tells them."""
    from assay.runs.committed import definitions_since

    return tuple(
        replace(reason, details=definitions_since(manifest, reason.where, repository))
        if (reason.kind, reason.what) == ("source", "changed")
        else reason
        for reason in reasons
    )
