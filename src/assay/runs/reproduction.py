"""Run a run again, into a scratch record, and hold the new numbers against the recorded ones."""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

from assay.errors import AssayError, ConfigError, EvidenceError, RecordError
from assay.runs.compare import RELATIVE_TOLERANCE, Holds, Outcome, judge
from assay.runs.configuration import from_plain
from assay.runs.execution import execute
from assay.runs.experiment import find
from assay.runs.manifest import Manifest
from assay.runs.recorder import Run
from assay.runs.registry import Record
from assay.runs.results import Results
from assay.runs.stale import explained, standing_of
from assay.runs.suspects import Suspect, suspects


@dataclasses.dataclass(frozen=True)
class Reproduction:
    """What came of running a run again: an outcome, or why there is none; and where a difference may come from.

    ``rerun_id`` is empty if nothing could be started; ``trace`` is the traceback of a rerun that raised.
    """

    run_id: str
    rerun_id: str
    outcome: Outcome | None
    failure: str
    trace: str
    suspects: tuple[Suspect, ...]

    @property
    def verdict(self) -> str:
        """``reproduced``, ``drifted`` or ``failed``."""
        if self.outcome is None:
            return "failed"
        return "reproduced" if self.outcome.reproduced else "drifted"


def verify(
    record: Record,
    run_id: str,
    *,
    repository: Path,
    printed: Mapping[str, tuple[str, ...]],
    holds: Holds,
    tolerance: float = RELATIVE_TOLERANCE,
    absolute: float = 0.0,
    workers: int | None = None,
    started: Callable[[str], None] | None = None,
    quiet: bool = False,
) -> Reproduction:
    """Run ``run_id``'s configuration again with the code and data that are here; say whether its numbers come again.

    The rerun is recorded in ``build/verify/<run_id>/`` and reads the same upstream runs. ``printed`` maps keys to the
    forms in which claims print them, ``holds(form, value)`` says whether a form holds; the other numbers are held
    against ``tolerance`` (relative) or ``absolute``, whichever allows more. A rerun that cannot be started
    or raises has failed, which is a verdict, no error.

    Raises:
        EvidenceError: the run did not complete or was altered.
    """
    recorded = record.results(run_id)
    manifest = recorded.manifest
    scratch = scratch_record(repository, run_id)
    attempt = _Attempt(started)
    with attempt:
        experiment = find(manifest.experiment, repository)
        execute(
            experiment,
            from_plain(experiment.config_type, manifest.config),
            record=scratch,
            repository=repository,
            tier=manifest.tier,
            workers=workers,
            upstream=_upstream_of(manifest, record),
            started=attempt.started,
            quiet=quiet,
            rerun=True,
        )
    rerun = scratch.manifest(attempt.run_id) if attempt.run_id else manifest
    outcome = None
    if not attempt.failure:
        again = scratch.results(attempt.run_id)
        outcome = judge(recorded, again, printed=printed, holds=holds, tolerance=tolerance, absolute=absolute)
    code = _code(record, manifest, repository)
    found = suspects(manifest, rerun, code=code) if attempt.run_id or code else ()
    return Reproduction(run_id, attempt.run_id, outcome, attempt.failure, attempt.trace, found)


class _Attempt:
    """A rerun on its way: its id once it has one, and what stopped it. Interrupts pass."""

    def __init__(self, started: Callable[[str], None] | None) -> None:
        self.run_id = ""
        self.failure = ""
        self.trace = ""
        self._told = started

    def started(self, run: Run) -> None:
        """Note the id, and pass it on."""
        self.run_id = run.run_id
        if self._told is not None:
            self._told(run.run_id)

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        if not isinstance(error, ConfigError) and not (self.run_id and isinstance(error, Exception | SystemExit)):
            return False
        on_purpose = isinstance(error, AssayError)
        self.failure = str(error) if on_purpose else f"{type(error).__name__}: {error}"
        self.trace = "" if on_purpose else "".join(traceback.format_exception(error))
        return True


def _code(record: Record, manifest: Manifest, repository: Path) -> list[str]:
    """What changed in the source since the run, a sentence a module."""
    try:
        reasons = [one for one in standing_of(record, manifest.run_id, repository).reasons if one.kind == "source"]
    except RecordError as error:
        return [str(error)]
    return [str(reason) for reason in explained(tuple(reasons), manifest, repository)]


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
