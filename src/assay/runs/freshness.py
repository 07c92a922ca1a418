"""Which seeds and data sets the runs of a study have used, known from their manifests, and from nothing else.

Which runs there are is known from the events as well: one whose manifest is missing is an error, not a run less.

A run used a seed when a field of its configuration named ``seed``, ``seeds``, ``..._seed`` or ``..._seeds`` had that
value, and a data set (or a part of one) when ``data(config)`` declared its SHA-256, whether it
completed or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, final

from assay.errors import RecordError
from assay.runs.events import EventName, event_names, parse_names
from assay.runs.freeze import EVENTS, ROOT, study_of
from assay.runs.manifest import RunStatus
from assay.runs.storage import parse_json, read_bytes, shown

if TYPE_CHECKING:
    from assay.runs.history import History
    from assay.runs.registry import Record


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


def uses_on_disk(record: Record, study: str) -> list[Use]:
    """What the runs of ``study`` on disk used.

    Raises:
        RecordError: a manifest is missing or cannot be read, so that nobody can tell what its run used.
    """
    folder = record.root / "manifests"
    paths = sorted(folder.glob(f"{study}[._]*.json"))
    found = [_use(read_bytes(path), shown(path)) for path in paths]
    _refuse_missing(found, event_names(record.event_folder), study, folder=shown(folder))
    return [use for use in found if study_of(use.experiment) == study]


def uses_in(history: History, commit: str, study: str) -> list[Use]:
    """What the runs of ``study`` used whose manifests a commit holds; they were written before it.

    Raises:
        RecordError: a manifest there is missing or cannot be read.
    """
    folder = f"{ROOT}/manifests"
    paths = [path for path in history.files(commit, folder) if path.endswith(".json")]
    of_study = [path for path in paths if path.rpartition("/")[2].startswith((f"{study}.", f"{study}_"))]
    read = zip(of_study, history.contents(commit, of_study), strict=True)
    where = f" in commit {commit[:7]}"
    found = [_use(data, f"{path}{where}") for path, data in read]
    events = parse_names(path.rpartition("/")[2] for path in history.files(commit, EVENTS))
    _refuse_missing(found, events, study, folder=folder, where=where)
    return [use for use in found if study_of(use.experiment) == study]


def _refuse_missing(found: list[Use], events: Iterable[EventName], study: str, *, folder: str, where: str = "") -> None:
    """RecordError for a run of the study that has events and no manifest."""
    read = {use.run_id for use in found}
    for run_id in sorted({one.run_id for one in events if one.kind != RunStatus.FROZEN and _of(study, one.run_id)}):
        if run_id not in read:
            path = f"{folder}/{run_id}.json"
            written = f"git log --all --full-history -1 --diff-filter=AM --format=%h -- {path}"
            raise RecordError(
                f"run {run_id}: its manifest {path} is missing{where} and its events are there, so nobody can tell "
                f"which seeds and data it used. Restore it: git checkout $({written}) -- {path}"
            )


def _of(study: str, run_id: str) -> bool:
    """Whether a run id, ``<experiment>_<tag>_<hash>``, begins with an experiment of the study."""
    return study_of(run_id) == study or ("." not in run_id and run_id.startswith(f"{study}_"))


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


def reused(seeds: Mapping[str, int], data: Mapping[str, str], shared: Iterable[str], uses: Iterable[Use]) -> str:
    """The first seed or data set that must be fresh and that one of ``uses`` used, in words; empty when none did.

    Seeds are compared by value, data sets by digest, whatever their names.
    """
    patterns = tuple(shared)
    for use in uses:
        for name in fresh(seeds, patterns):
            if twin := next((other for other, value in use.seeds.items() if value == seeds[name]), ""):
                return f"{name} = {seeds[name]} was used by the {use.kind} run {use.run_id} (as {twin})"
        for name in fresh(data, patterns):
            if twin := next((other for other, value in use.data.items() if value == data[name]), ""):
                return f"data {name!r} was used by the {use.kind} run {use.run_id} (as {twin!r})"
    return ""
