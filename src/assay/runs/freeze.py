"""A freeze: the text of a study's preregistration and its confirmatory configurations, fixed before they are run.

The copy ``experiments/<study>/frozen/<n>-<12 hex>.md`` holds the text, a ``frozen`` event of the study holds its
SHA-256, the commit it was made on, and the configurations. The event's name carries its own digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from assay.errors import RecordError
from assay.runs.events import Event, event_names, parse_event, read_event
from assay.runs.manifest import RunStatus
from assay.runs.storage import digest, read_bytes, shown

if TYPE_CHECKING:
    from assay.runs.history import History
    from assay.runs.registry import Record

ROOT = "experiments"
EVENTS = f"{ROOT}/registry/events"
CONFIRMATORY = "confirmatory"


def study_of(experiment: str) -> str:
    """Study of an experiment: the first word of its name, which is its folder under ``experiments/``."""
    return experiment.partition(".")[0]


def preregistration(study: str) -> str:
    """Path, relative to the repository, of the text that a study freezes."""
    return f"{ROOT}/{study}/PREREGISTRATION.md"


@final
@dataclass(frozen=True, kw_only=True)
class Configuration:
    """A confirmatory configuration as it was frozen; ``source_digest`` is of the code that would have run it then."""

    experiment: str
    version: int
    tag: str
    config: Mapping[str, Any]
    config_hash: str
    seeds: Mapping[str, int]
    data: Mapping[str, str]
    source_digest: str


@final
@dataclass(frozen=True, kw_only=True)
class Freeze:
    """One freeze of a study, ``at`` by its author's clock; ``shared`` names seeds and data that need not be fresh."""

    study: str
    number: int
    at: str
    sha256: str
    commit: str
    shared: tuple[str, ...]
    configurations: tuple[Configuration, ...]
    event: str

    @property
    def label(self) -> str:
        """Number and first digits of the text's hash, as the copy is named."""
        return f"{self.number}-{self.sha256[:12]}"

    @property
    def copy(self) -> str:
        """Path of the frozen text, relative to the repository."""
        return f"{ROOT}/{self.study}/frozen/{self.label}.md"

    @property
    def event_path(self) -> str:
        """Path of the frozen event, relative to the repository."""
        return f"{EVENTS}/{self.event}"

    def payload(self) -> dict[str, Any]:
        """What the frozen event records."""
        return {
            "number": self.number,
            "sha256": self.sha256,
            "commit": self.commit,
            "shared": list(self.shared),
            "configurations": [asdict(one) for one in self.configurations],
        }

    def document(self) -> dict[str, Any]:
        """The freeze as JSON documents show it."""
        named = {"study": self.study, "freeze": self.label, "copy": self.copy, "event": self.event_path, "at": self.at}
        return named | self.payload()

    def configuration(self, experiment: str, version: int, config_hash: str) -> Configuration | None:
        """The frozen configuration that a run has, or None."""
        wanted = (experiment, version, config_hash)
        found = [one for one in self.configurations if (one.experiment, one.version, one.config_hash) == wanted]
        return found[0] if found else None


def freeze_of(event: Event) -> Freeze:
    """The freeze that a frozen event records; RecordError when the event does not hold one."""
    try:
        table = event.payload
        return Freeze(
            study=event.run_id,
            number=int(table["number"]),
            at=event.at,
            sha256=str(table["sha256"]),
            commit=str(table["commit"]),
            shared=tuple(map(str, table["shared"])),
            configurations=tuple(_configuration(entry) for entry in table["configurations"]),
            event=event.path.name,
        )
    except (KeyError, TypeError, ValueError) as cause:
        raise RecordError(
            f"{shown(event.path)} is no freeze: {cause!r}. Restore it from version control (git checkout)."
        ) from cause


def _configuration(table: Mapping[str, Any]) -> Configuration:
    return Configuration(**{field.name: table[field.name] for field in fields(Configuration)})


def freezes(record: Record, study: str | None = None) -> list[Freeze]:
    """Freezes on disk, of one study if it is named, by study and number.

    Raises:
        RecordError: a frozen event is damaged; it is named.
    """
    named = event_names(record.event_folder, study or "")
    found = [freeze_of(read_event(record.event_folder / one.name)) for one in named if one.kind == RunStatus.FROZEN]
    return sorted(found, key=lambda freeze: (freeze.study, freeze.number, freeze.event))


def freezes_in(history: History, commit: str, study: str) -> list[Freeze]:
    """Freezes of a study that a commit holds, by number.

    Raises:
        RecordError: a frozen event is damaged there; it is named.
    """
    found = []
    for path in history.files(commit, EVENTS):
        if f"-{study}-{RunStatus.FROZEN}-" in path:
            event = parse_event(history.content(commit, path) or b"", Path(path))
            found += [freeze_of(event)] if event.run_id == study else []
    return sorted(found, key=lambda freeze: (freeze.number, freeze.event))


def copy_problem(freeze: Freeze, repository: Path) -> str:
    """What is wrong with the frozen copy on disk: ``missing``, ``edited``, or nothing."""
    path = repository / freeze.copy
    if not path.is_file():
        return "missing"
    return "" if digest(read_bytes(path)) == freeze.sha256 else "edited"
