"""Which seeds and data sets earlier runs have used, known from their manifests, and from nothing else.

Which runs there are is known from the events as well: one whose manifest is missing is an error, not a run less.

A run used a seed when a field of its configuration named ``seed``, ``seeds``, ``..._seed`` or ``..._seeds`` had that
value, and a data set (or a part of one) when ``data(config)`` declared its SHA-256, whether it
completed or not. Data that were seen were seen, whatever study looked at them. A seed says nothing by itself: it
counts in its own study, and in another one only on data that both used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol, final

from assay.errors import RecordError
from assay.runs.events import EventName, event_names, parse_names
from assay.runs.freeze import CONFIRMATORY, EVENTS, ROOT, study_of
from assay.runs.manifest import RunStatus
from assay.runs.storage import parse_json, read_bytes, shown

if TYPE_CHECKING:
    from assay.runs.history import History
    from assay.runs.registry import Record

_KILLED = ". If git never held it and the run was killed as it started, it used nothing: remove {files}"


@final
@dataclass(frozen=True, kw_only=True)
class Use:
    """Seeds by field and data digests by name that a run used, and the commit it started from."""

    run_id: str
    experiment: str
    kind: str
    commit: str | None
    seeds: Mapping[str, int]
    data: Mapping[str, str]


class Planned(Protocol):
    """What has to be fresh: a configuration that is frozen, or a run of it."""

    @property
    def experiment(self) -> str:
        """Name of the experiment; its first word is the study."""

    @property
    def seeds(self) -> Mapping[str, int]:
        """Seeds by field."""

    @property
    def data(self) -> Mapping[str, str]:
        """Data digests by name."""


def uses_on_disk(record: Record, study: str) -> list[Use]:
    """What runs on disk used: all of ``study``, and those of other studies that are not confirmatory.

    Raises:
        RecordError: a manifest is missing or cannot be read, so that nobody can tell what its run used.
    """
    folder = record.root / "manifests"
    found = [_use(read_bytes(path), shown(path)) for path in sorted(folder.glob("*.json"))]
    _refuse_missing(found, event_names(record.event_folder), folder=shown(folder))
    return _that_count(found, study)


def uses_in(history: History, commit: str, study: str) -> list[Use]:
    """What the runs used whose manifests a commit holds, written before it; the same runs as :func:`uses_on_disk`.

    Raises:
        RecordError: a manifest there is missing or cannot be read.
    """
    folder = f"{ROOT}/manifests"
    paths = [path for path in history.files(commit, folder) if path.endswith(".json")]
    read = zip(paths, history.contents(commit, paths), strict=True)
    where = f" in commit {commit[:7]}"
    found = [_use(data, f"{path}{where}") for path, data in read]
    events = parse_names(path.rpartition("/")[2] for path in history.files(commit, EVENTS))
    _refuse_missing(found, events, folder=folder, where=where)
    return _that_count(found, study)


def _that_count(uses: Iterable[Use], study: str) -> list[Use]:
    return [use for use in uses if study_of(use.experiment) == study or use.kind != CONFIRMATORY]


def _refuse_missing(found: list[Use], events: Iterable[EventName], *, folder: str, where: str = "") -> None:
    """RecordError for a run that has events and no manifest."""
    read = {use.run_id for use in found}
    known = [one for one in events if one.kind != RunStatus.FROZEN]
    went_on = {one.run_id for one in known if one.kind not in (RunStatus.RUNNING, RunStatus.INTERRUPTED)}
    for run_id in sorted({one.run_id for one in known}):
        if run_id not in read:
            path = f"{folder}/{run_id}.json"
            written = f"git log --all --full-history -1 --diff-filter=AM --format=%h -- {path}"
            files = " ".join(f"{EVENTS}/{one.name}" for one in known if one.run_id == run_id)
            killed = "" if run_id in went_on else _KILLED.format(files=files)
            raise RecordError(
                f"run {run_id}: its manifest {path} is missing{where} and its events are there, so nobody can tell "
                f"which seeds and data it used. Restore it: git checkout $({written}) -- {path}{killed}"
            )


def _use(data: bytes, name: str) -> Use:
    table: Any = parse_json(data, name)
    try:
        return Use(
            run_id=table["run_id"],
            experiment=table["experiment"],
            kind=table["kind"],
            commit=table["commit"],
            seeds=dict(table["seeds"]),
            data=dict(table["data"]),
        )
    except (KeyError, TypeError, ValueError) as cause:
        raise RecordError(f"{name} does not tell what its run used: {cause!r}. Restore it.") from cause


def fresh(names: Iterable[str], shared: Iterable[str]) -> list[str]:
    """Names that match none of the patterns in ``shared`` (``*`` stands for anything)."""
    patterns = tuple(shared)
    return [name for name in names if not any(fnmatchcase(name, pattern) for pattern in patterns)]


def reused(run: Planned, shared: Iterable[str], uses: Iterable[Use]) -> str:
    """The first seed or data set of ``run`` that must be fresh and that one of ``uses`` used, in words; else empty.

    Seeds are compared by value, data sets by digest, whatever their names. ``shared`` are patterns of names that need
    not be fresh.
    """
    patterns = tuple(shared)
    for use in uses:
        same_study = study_of(use.experiment) == study_of(run.experiment)
        common = {name: _name_of(value, use.data) for name, value in run.data.items() if value in use.data.values()}
        by = f"was used by the {use.kind} run {use.run_id}"
        for name in fresh(run.seeds, patterns) if same_study or common else ():
            if run.seeds[name] in use.seeds.values():
                on = "" if same_study else f", on the same data {', '.join(map(repr, common))}"
                return f"{name} = {run.seeds[name]} {by} (as {_name_of(run.seeds[name], use.seeds)}{on})"
        for name in fresh(common, patterns):
            return f"data {name!r} {by} (as {common[name]!r}, SHA-256 {run.data[name][:12]}...)"
    return ""


def _name_of(value: object, named: Mapping[str, object]) -> str:
    return next(name for name, other in named.items() if other == value)
