"""Run a run again, into a scratch record, and hold the new numbers against the recorded ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from assay.errors import ConfigError, EvidenceError
from assay.runs.compare import RELATIVE_TOLERANCE, Holds, Outcome, judge
from assay.runs.configuration import from_plain, plain
from assay.runs.execution import data_hashes, execute
from assay.runs.experiment import find
from assay.runs.manifest import Manifest, config_hash
from assay.runs.registry import Record
from assay.runs.results import Results


def verify(
    record: Record,
    run_id: str,
    *,
    repository: Path,
    printed: Mapping[str, tuple[str, ...]],
    holds: Holds,
    tolerance: float = RELATIVE_TOLERANCE,
    workers: int | None = None,
    started: Callable[[str], None] | None = None,
    quiet: bool = False,
) -> Outcome:
    """Run ``run_id``'s configuration again with the code that is here and say whether its numbers come out again.

    The rerun is recorded in ``build/verify/<run_id>/`` and reads the same upstream runs. ``printed`` maps keys to the
    forms in which claims print them, ``holds(form, value)`` says whether a form holds; the other numbers are held
    against ``tolerance`` (relative).

    Raises:
        EvidenceError: the run did not complete or was altered.
        ConfigError: its configuration does not fit the experiment any more, or its data are others now.
    """
    recorded = record.results(run_id)
    manifest = recorded.manifest
    experiment = find(manifest.experiment, repository)
    config = from_plain(experiment.config_type, manifest.config)
    if config_hash(plain(config), data_hashes(experiment, config)) != manifest.config_hash:
        raise ConfigError(
            f"verify {run_id}: the data of {manifest.experiment} are not those of the run; their hashes differ. "
            "Run and register the experiment on the present data."
        )
    scratch = scratch_record(repository, run_id)
    again = execute(
        experiment,
        config,
        record=scratch,
        repository=repository,
        tier=manifest.tier,
        workers=workers,
        upstream=_upstream_of(manifest, record),
        started=started,
        quiet=quiet,
        rerun=True,
    )
    return judge(recorded, scratch.results(again), printed=printed, holds=holds, tolerance=tolerance)


def scratch_record(repository: Path, run_id: str) -> Record:
    """The record of reruns of a run: ``build/verify/<run_id>/``, which git ignores."""
    return Record(repository / "build" / "verify" / run_id)


def _upstream_of(manifest: Manifest, record: Record) -> Callable[[str, str | None], Results]:
    """The runs that the recorded run read, whoever speaks for their experiments today."""

    def find_upstream(experiment: str, tier: str | None) -> Results:
        for run_id in manifest.upstream:
            found = record.manifest(run_id)
            if found.experiment == experiment and tier in (None, found.tag):
                return record.results(run_id)
        raise EvidenceError(
            f"verify {manifest.run_id}: it asks for {experiment}, which it did not read when it was recorded "
            f"(it read {', '.join(manifest.upstream) or 'no other run'}). Its code has changed: run it anew.",
            reason="absent",
        )

    return find_upstream
