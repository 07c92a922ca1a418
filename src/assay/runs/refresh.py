"""Which registered runs are outgrown, and in which order running them again makes every one of them current."""

from __future__ import annotations

import graphlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.errors import AssayError, EvidenceError, RecordError
from assay.runs.engines import HandedOverError
from assay.runs.experiment import study
from assay.runs.intended import Examined, Intended, examine, intended
from assay.runs.manifest import Manifest
from assay.runs.registration import read_registration, registration_files

if TYPE_CHECKING:
    from assay.runs.registry import Record
    from assay.runs.results import Results

Place = tuple[str, str]
"""Experiment and tag: what a registered run speaks for."""

Upstream = Callable[[str, str | None], "Results"]


@dataclass(frozen=True)
class Registered:
    """A registered run and how it stands; ``problem`` says why it cannot be told, and then ``examined`` is None."""

    run_id: str
    experiment: str
    tag: str
    examined: Examined | None
    problem: str = ""

    @property
    def gone(self) -> bool:
        """The module of its experiment is no longer there, so it cannot be run again."""
        module = f"experiments.{self.experiment}"
        reasons = self.examined.reasons if self.examined else ()
        return any((one.kind, one.where, one.what) == ("source", module, "is gone") for one in reasons)

    @property
    def verdict(self) -> str:
        """``current``, ``stale``, ``waived`` or ``unreadable``."""
        if self.examined is None:
            return "unreadable"
        if not self.examined.reasons:
            return "current"
        return "waived" if self.examined.waived else "stale"


class Rerun(NamedTuple):
    """A run that is to be run again: what it was, why, and what it is now."""

    manifest: Manifest
    why: tuple[str, ...]
    now: Intended


def survey(record: Record, repository: Path) -> list[Registered]:
    """Every registered run of a record, by experiment and tier, with what changed since."""
    found: list[Registered] = []
    for path in registration_files(record):
        experiment, _, tag = path.name.removesuffix(".json").rpartition(".")
        run_id = ""
        try:
            run_id = read_registration(record, path).run_id
            found.append(Registered(run_id, experiment, tag, examine(record, run_id, repository)))
        except (EvidenceError, RecordError) as error:
            found.append(Registered(run_id or path.stem, experiment, tag, None, str(error)))
    return found


def withdrawing(run_id: str) -> str:
    """What to do about a registered run whose experiment or tier is gone, in one sentence."""
    return f'If its experiment or tier was removed on purpose: assay runs register {run_id} --withdraw --why "..."'


def reruns(record: Record, repository: Path, *, name: str | None = None, tier: str | None = None) -> list[Rerun]:
    """The stale runs of a study, experiment or of all, upstream first; stale runs that they read are among them.

    Raises:
        ConfigError: there is no experiment or study of that name, or a stale run's cannot be started any more.
        RecordError: registered runs cannot be read, or read each other in a circle.
    """
    found = survey(record, repository)
    unreadable = [one.problem for one in found if one.examined is None]
    if unreadable:
        raise RecordError(f"run --stale: {' '.join(unreadable)}")
    stale = {(one.experiment, one.tag): one for one in found if one.verdict == "stale"}
    manifests = {place: record.manifest(one.run_id) for place, one in stale.items()}
    wanted = set(stale)
    if name is not None:
        chosen = study(name, repository)
        wanted = {place for place in stale if place[0] in chosen}
    graph = _graph(record, manifests, {place for place in wanted if tier in (None, place[1])})
    return [_rerun(record, repository, stale[place], manifests[place]) for place in _ordered(graph)]


def _graph(record: Record, manifests: Mapping[Place, Manifest], wanted: set[Place]) -> dict[Place, list[Place]]:
    """The wanted places and all stale ones that they read from, each with those that it reads from directly."""
    graph: dict[Place, list[Place]] = {}
    waiting = sorted(wanted)
    while waiting:
        place = waiting.pop()
        if place in graph:
            continue
        graph[place] = []
        for used in manifests[place].upstream:
            try:
                upstream = record.manifest(used)
            except RecordError:
                continue  # gone, as the reasons of the run say: nothing can be put before it
            before = (upstream.experiment, upstream.tag)
            if before in manifests:
                graph[place].append(before)
                waiting.append(before)
    return graph


def _ordered(graph: Mapping[Place, list[Place]]) -> list[Place]:
    sorter = graphlib.TopologicalSorter({place: sorted(graph[place]) for place in sorted(graph)})
    try:
        return list(sorter.static_order())
    except graphlib.CycleError as error:
        circle = " -> ".join(" ".join(place) for place in error.args[1])
        raise RecordError(
            f"run --stale: the registered runs read each other in a circle ({circle}). Run one of them by name first."
        ) from None


def _rerun(record: Record, repository: Path, one: Registered, manifest: Manifest) -> Rerun:
    examined = one.examined
    same = examined is not None and examined.standing.modules == manifest.modules
    try:
        now = intended(record, manifest, repository, same_source=same)
    except AssayError as error:
        error.add_note(f"{one.run_id} is stale and cannot be run again as it is; nothing was run.")
        error.add_note(withdrawing(one.run_id))
        raise
    return Rerun(manifest, tuple(map(str, examined.reasons if examined else ())), now)


def fresh_first(record: Record, fresh: Mapping[Place, str], otherwise: Upstream) -> Upstream:
    """Finds upstream runs as ``otherwise`` does, and in their place those that were run again in this session."""

    def find(experiment: str, tier: str | None) -> Results:
        results = otherwise(experiment, tier)
        again = fresh.get((experiment, results.manifest.tag))
        return results if again is None else record.results(again)

    return find


def after_the_handed_over(handed: Collection[Place], otherwise: Upstream) -> Upstream:
    """Finds upstream runs as ``otherwise`` does; a run that reads one of ``handed``, which grows meanwhile, ends there.

    Raises (the finder that is returned):
        HandedOverError: the cells of the run that is asked for wait in a batch system.
    """

    def find(experiment: str, tier: str | None) -> Results:
        for name, tag in handed:
            if name == experiment and tier in (None, tag):
                raise HandedOverError(
                    f"It reads {name}, {tag}, whose cells wait for Slurm; once that is registered, this one goes on.",
                    script=None,
                )
        return otherwise(experiment, tier)

    return find
