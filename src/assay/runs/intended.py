"""The configuration and data that a run would have if it were started now; for this its experiment is imported."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.errors import AssayError
from assay.runs.compare import settings_changes
from assay.runs.configuration import from_plain, plain
from assay.runs.execution import data_hashes
from assay.runs.experiment import Experiment, find
from assay.runs.manifest import Manifest, RunStatus, config_hash
from assay.runs.overrides import override
from assay.runs.stale import Reason, Standing, become, explained, standing_of
from assay.runs.storage import digest

if TYPE_CHECKING:
    from assay.runs.registry import Record


class Intended(NamedTuple):
    """An experiment with the configuration of a run's tier as it is now, the run's ``--set`` applied again."""

    experiment: Experiment
    config: Any
    assignments: tuple[str, ...] | None


@dataclasses.dataclass(frozen=True)
class Examined:
    """How a run stands, configuration and data included; ``untold`` says why these could not be compared."""

    standing: Standing
    reasons: tuple[Reason, ...]
    untold: str
    inputs: str

    @property
    def waived(self) -> bool:
        """The waiver in force covers all that changed: it was given for these inputs too."""
        waiver = self.standing.waiver
        shallow = len(self.reasons) == len(self.standing.reasons)
        if waiver is None:
            return False
        return waiver.inputs == self.inputs if waiver.inputs and self.inputs else shallow

    @property
    def stale(self) -> bool:
        """Something changed that no waiver covers."""
        return bool(self.reasons) and not self.waived


def intended(record: Record, manifest: Manifest, repository: Path, *, same_source: bool) -> Intended:
    """What running the run's experiment and tier again would mean now.

    What was overridden by ``--set`` is overridden again. A run that does not tell (it was started from Python) keeps
    its own configuration if its code is the same, and else gets that of its tier.

    Raises:
        ConfigError: the experiment, its tier or an overridden field is gone, or the module cannot be imported.
    """
    experiment = find(manifest.experiment, repository)
    assignments = overridden(record, manifest.run_id)
    if assignments is None and same_source:
        return Intended(experiment, from_plain(experiment.config_type, manifest.config), None)
    return Intended(experiment, override(experiment.configuration(manifest.tier), assignments or ()), assignments)


def overridden(record: Record, run_id: str) -> tuple[str, ...] | None:
    """What ``--set`` said when a run was started; None when the run does not tell."""
    for event in record.events(run_id):
        if event.event is RunStatus.RUNNING and "set" in event.payload:
            return tuple(event.payload["set"])
    return None


def examine(record: Record, run_id: str, repository: Path) -> Examined:
    """Everything that changed since a run: definitions, data files, upstream runs, configuration and data.

    Raises:
        EvidenceError: the run did not complete, or was altered.
        RecordError: a source file or an event cannot be read.
    """
    manifest = record.results(run_id).manifest
    standing = standing_of(record, run_id, repository)
    reasons = explained(standing.reasons, manifest, repository)
    try:
        now = intended(record, manifest, repository, same_source=standing.modules == manifest.modules)
        config, data = plain(now.config), data_hashes(now.experiment, now.config)
    except AssayError as error:
        return Examined(standing, reasons, str(error), "")
    if config_hash(config, data) != manifest.config_hash:
        reasons += (*_configuration(manifest, config), *_data(manifest, data, known=reasons))
    return Examined(standing, reasons, "", digest({"config": config, "data": data}))


def _configuration(manifest: Manifest, config: dict[str, Any]) -> Iterator[Reason]:
    for change in settings_changes(manifest.config, config):
        yield Reason("configuration", change.where, f"{change.first!r} -> {change.second!r}")


def _data(manifest: Manifest, data: dict[str, str], *, known: tuple[Reason, ...]) -> Iterator[Reason]:
    told = {reason.where for reason in known if reason.kind == "data"}
    for name, what in become(manifest.data, data):
        if name not in told:
            yield Reason("data", name, what)
