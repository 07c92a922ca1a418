"""From a configuration to a finished attempt: lock, manifest, events, and what is left when it does not finish."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from assay.errors import ConfigError, EvidenceError, RecordError
from assay.runs.cells import CellStore
from assay.runs.configuration import KINDS, plain, seeds
from assay.runs.engines import LOCAL, Engine, HandedOverError, local
from assay.runs.events import run_of
from assay.runs.experiment import DEFAULT_TAG, Experiment
from assay.runs.jobs import NO_LIMITS, Limits
from assay.runs.loaded import loaded_beyond, together
from assay.runs.manifest import Manifest, RunStatus, config_hash
from assay.runs.overlooked import code_state_of, overlooked
from assay.runs.preparing import Preparing
from assay.runs.privacy import scrub
from assay.runs.processes import THREADS_PER_CELL
from assay.runs.provenance import machine, peak_memory_bytes
from assay.runs.recorder import Run
from assay.runs.registry import Record, open_record
from assay.runs.results import Results, summary_digests
from assay.runs.signals import signals_ignored, signals_interrupt
from assay.runs.source import module_digests
from assay.runs.starting import refuse_start
from assay.runs.storage import digest, file_digest

_LONGEST_MESSAGE = 20_000  # characters
_SHA256 = re.compile(r"[0-9a-f]{64}")

Upstream = Callable[[str, str | None], Results]


def execute(
    experiment: Experiment,
    config: Any,
    *,
    record: Record,
    repository: Path,
    tier: str | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    limits: Limits = NO_LIMITS,
    register: str | None = None,
    upstream: Upstream | None = None,
    started: Callable[[Run], None] | None = None,
    overrides: Sequence[str] | None = None,
    quiet: bool = False,
    rerun: bool = False,
) -> str:
    """Run an experiment on a configuration and return the run id of the completed attempt.

    ``workers`` is how many cells run at once (default: the CPUs this process may use), ``engine`` what computes them
    (default: local processes), ``limits`` replace those that the experiment gives its cells. ``register`` is the reason
    for which the run is registered when it completes; it then has to start from a clean commit. ``upstream`` finds the
    runs that ``run.uses`` asks for (default: what is registered in ``record``, else in the repository's record).
    ``started`` is given the run once the attempt is on record. ``overrides``, the ``field=value`` that were applied
    to the tier's configuration, are put on record, so that the run can be repeated on what the tier says later.
    ``rerun`` says that the run repeats one on record to check it; then a confirmatory configuration needs no freeze.

    Raises:
        ConfigError: the configuration or the data hashes are of the wrong type, or one of them, an override or the
            reason tells whose machine this is, or a secret; nothing was written.
        RecordError: the run goes on already in another process, is to be registered from a dirty tree, or is
            confirmatory and not provably frozen before; nothing was written. Any exception of the experiment itself
            leaves a failed attempt behind and is raised again.
    """
    values, data = plain(config), data_hashes(experiment, config)
    at_once = available_cpus() if workers is None else workers
    if at_once < 1:
        raise ConfigError(f"workers: wanted at least 1 process, got {workers}.")
    tag = experiment.tag(tier)
    base_id = f"{experiment.name}_{tag}_{config_hash(values, data)[:12]}"
    facts = _facts(experiment, repository, engine=LOCAL if engine is None else engine.name)
    manifest = _manifest(experiment, base_id, values, data, tag=tag, at=record.clock(), facts=facts)
    refuse_start(manifest, register=register, overrides=overrides, record=record, repository=repository, rerun=rerun)
    with local(at_once) if engine is None else contextlib.nullcontext(engine) as computing, record.lock(base_id):
        run_id = record.next_attempt(base_id)
        manifest = dataclasses.replace(manifest, run_id=run_id)
        run = Run(
            config,
            run_id=run_id,
            folder=record.summary_folder(run_id),
            place=_place(record, base_id, manifest, repository=repository),
            engine=computing,
            workers=at_once if engine is None else workers,
            limits=limits.checked(),
            upstream=upstream or registered_in(record, open_record(repository / "experiments")),
            quiet=quiet,
        )
        with _index_after(record), _Attempt(record, manifest, repository, overrides).lasting(run):
            if started is not None:
                started(run)
            experiment(config, run)
    if register is not None:
        record.register(run_id, why=register)
        record.rebuild_index()
    return run_id


def data_hashes(experiment: Experiment, config: Any) -> dict[str, str]:
    """SHA-256 of each data set that the experiment declares for a configuration, by name.

    Raises:
        ConfigError: the experiment's ``data`` gives something else.
    """
    if experiment.data is None:
        return {}
    with Preparing(f"experiment {experiment.name}, its data hashes"):
        found = experiment.data(config)
    if not isinstance(found, Mapping):
        raise ConfigError(
            f"experiment {experiment.name}: data(config) gave {found!r}; wanted a mapping name to SHA-256."
        )
    for name, value in found.items():
        if not (isinstance(name, str) and isinstance(value, str) and _SHA256.fullmatch(value)):
            raise ConfigError(f"experiment {experiment.name}: data {name!r} is {value!r}; wanted its SHA-256 in hex.")
    return dict(found)


def available_cpus() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _manifest(
    experiment: Experiment,
    run_id: str,
    values: dict[str, Any],
    data: dict[str, str],
    *,
    tag: str,
    at: datetime,
    facts: Mapping[str, Any],
) -> Manifest:
    """The manifest of an attempt that starts now."""
    return Manifest(
        run_id=run_id,
        experiment=experiment.name,
        version=experiment.version,
        tag=tag,
        tier=None if tag == DEFAULT_TAG else tag,
        kind=values.get("kind", KINDS[0]),
        config=values,
        config_hash=config_hash(values, data),
        seeds=seeds(values),
        data=data,
        upstream=(),
        started=at.isoformat(timespec="seconds"),
        summary={},
        **facts,
    )


@contextlib.contextmanager
def _index_after(record: Record) -> Iterator[None]:
    """Rebuild the index after the block, whichever way it ends; what stopped the run matters more than the index."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(RecordError):
            record.rebuild_index()
        raise
    record.rebuild_index()


class _Attempt:
    """The life of one attempt on record, from its running event to the event that says how it ended."""

    def __init__(self, record: Record, manifest: Manifest, repository: Path, overrides: Sequence[str] | None) -> None:
        self.record = record
        self.said = {} if overrides is None else {"set": list(overrides)}
        self.repository = repository
        self.manifest = manifest
        self.clock = time.monotonic()

    @contextlib.contextmanager
    def lasting(self, run: Run) -> Iterator[None]:
        """Put the attempt on record, run the block, and put on record how it ended; exceptions pass through."""
        with signals_interrupt():
            self.record.append(RunStatus.RUNNING, run.run_id, **self.said)
            try:
                self.record.write_manifest(self.manifest)
                yield
                with signals_ignored():
                    self._end(run, RunStatus.COMPLETED)
            except KeyboardInterrupt as interrupt:
                with signals_ignored():
                    self._end(run, RunStatus.INTERRUPTED, by=str(interrupt) or "SIGINT")
                raise
            except HandedOverError:
                with signals_ignored():
                    self._end(run, RunStatus.INTERRUPTED, by="slurm-script")
                raise
            except BaseException as error:
                with signals_ignored():
                    self._end(run, RunStatus.FAILED, error=type(error).__name__, message=self._message(error))
                raise

    def _message(self, error: BaseException) -> str:
        """What the exception says, as an event may hold it: without paths and secrets, valid Unicode, not endless."""
        text = scrub(f"{error}", self.repository).encode(errors="backslashreplace").decode()
        return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]} ... ({len(text)} characters)"

    def _end(self, run: Run, status: RunStatus, **said: str) -> None:
        """Write the manifest with the digests of the summary, then the event with the digest of the manifest."""
        try:
            run.save()
        except RecordError:
            if status is RunStatus.COMPLETED:
                raise  # else the numbers that were saved last stay, and how the run ended is still put on record
        manifest = dataclasses.replace(
            self._with_loaded(run) if status is RunStatus.COMPLETED else self.manifest,
            status=status,
            upstream=tuple(run.upstream_ids),
            ended=self.record.clock().isoformat(timespec="seconds"),
            duration_seconds=round(time.monotonic() - self.clock, 3),
            peak_memory_bytes=peak_memory_bytes(),
            summary=summary_digests(self.record.summary_folder(run.run_id)),
        )
        path = self.record.write_manifest(manifest)
        self.record.append(status, run.run_id, manifest=file_digest(path), **said)

    def _with_loaded(self, run: Run) -> Manifest:
        """The manifest with the files that were loaded since it began and that no import statement leads to."""
        begun = self.manifest
        later = loaded_beyond(begun.modules, self.repository)
        modules = together(begun.modules, {*run.loaded, *later.items()}, self.repository)
        new = modules.keys() - begun.modules.keys()
        hidden = overlooked(new, self.repository, since=None if begun.dirty else begun.commit) if begun.commit else ()
        return dataclasses.replace(
            begun,
            modules=modules,
            dirty=True if hidden else begun.dirty,
            untracked=tuple(sorted({*begun.untracked, *hidden})),
        )


def _place(record: Record, base_id: str, manifest: Manifest, *, repository: Path) -> CellStore:
    """Cells of this attempt, and of those before it back to the last that completed."""
    folder = record.artifacts / "cells"
    earlier: list[Path] = []
    unreadable = {run_of(path) for path in record.damaged()}
    for attempt in reversed(record.attempts(base_id)):
        if attempt not in unreadable and record.status(attempt) is RunStatus.COMPLETED:
            break
        earlier.append(folder / attempt)
    inputs = {"data": dict(manifest.data), "python": manifest.python, "packages": dict(manifest.packages)}
    return CellStore(folder / manifest.run_id, tuple(earlier), record.artifacts, repository, inputs)


def registered_in(record: Record, main: Record) -> Upstream:
    """Finds the registered runs of ``record``; a scratch record without one uses the repository's own."""

    def find(experiment: str, tier: str | None) -> Results:
        try:
            return record.results(record.registered(experiment, tier).run_id)
        except EvidenceError as error:
            if error.reason != "absent" or record.root == main.root:
                raise
        return main.results(main.registered(experiment, tier).run_id)

    return find


def _facts(experiment: Experiment, repository: Path, *, engine: str) -> dict[str, Any]:
    """The manifest's fields on code and machine."""
    reached = module_digests(f"experiments.{experiment.name}", repository)
    modules = {**reached, **loaded_beyond(reached, repository)}
    facts = {
        **dataclasses.asdict(code_state_of(modules, repository)),
        "source_digest": digest(reached),
        "modules": modules,
    }
    facts |= machine()
    facts["determinism"] = {**facts["determinism"], "threads_per_cell": THREADS_PER_CELL}
    if engine != LOCAL:
        facts["determinism"]["executor"] = engine
    return facts
