"""``assay run``: say what will be done and where, do it, and show the numbers beside those of the registered run."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from assay.cli.executors import Computing, computing_options
from assay.cli.show import echo_json, echo_table, jsonable, reason_given, say
from assay.errors import AssayError, ConfigError, EvidenceError
from assay.ledger.printed import finite
from assay.runs.compare import diff
from assay.runs.configuration import plain
from assay.runs.engines import HandedOverError
from assay.runs.execution import Upstream, execute, registered_in
from assay.runs.experiment import Experiment, description, find, study
from assay.runs.manifest import RunStatus
from assay.runs.overrides import override
from assay.runs.recorder import Run
from assay.runs.refresh import Place, after_the_handed_over
from assay.runs.registry import Record, open_record
from assay.runs.storage import find_repository, shown

_STDOUT, _STDERR = 1, 2
_HEADLINES = 40
_DIFFERENCES = 12


class Plan(NamedTuple):
    """One run that a command asks for, resolved before anything starts."""

    experiment: Experiment
    config: Any
    tier: str | None
    overrides: tuple[str, ...] | None


@click.command(short_help="Run an experiment, a study, or what is stale.")
@click.argument("name", required=False)
@click.option("--tier", help="Which configuration, of those that the experiment has (a wrong name lists them).")
@click.option("--set", "assignments", multiple=True, metavar="FIELD=VALUE", help="Override a field; nested: a.b=VALUE.")
@click.option(
    "--register",
    metavar="WHY",
    callback=reason_given,
    help="Register the run when it completes, and why; needs a clean commit.",
)
@click.option("--record", "folder", type=click.Path(path_type=Path), help="Write the record under this folder instead.")
@computing_options
@click.option("--stale", is_flag=True, help="Run again, upstream first, the registered runs that are outgrown.")
@click.option("--dry-run", is_flag=True, help="With --stale: print what would be run, and run nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document with run_id and status.")
def run(
    name: str | None,
    *,
    tier: str | None,
    assignments: tuple[str, ...],
    register: str | None,
    folder: Path | None,
    computing: Computing,
    stale: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run the experiment NAME, or every experiment of the study NAME; with --stale what is outgrown of it or of all.

    NAME is study.experiment, as in experiments/study/experiment.py, or study. The run is recorded, and compared with
    the registered one; the same command after a kill or failure computes only the cells that are missing.

    \b
      assay run coins.heads --tier small --set seed=2
      assay run coins.heads --register "the first run"
      assay run --stale --dry-run

    Exit 0 when every run completed, or its cells were handed to Slurm; 1 when one failed.
    """
    if stale:
        from assay.cli.refresh import refresh

        refresh(
            name,
            tier=tier,
            assignments=assignments,
            register=register,
            folder=folder,
            computing=computing,
            dry_run=dry_run,
            as_json=as_json,
        )
        return
    if dry_run or name is None:
        raise ConfigError("run: name an experiment or study, or say --stale; --dry-run goes with --stale.")
    repository = find_repository()
    if register is not None and not register.strip():
        raise ConfigError("--register: say in one sentence why this run should speak for its experiment.")
    record = open_record(folder or repository / "experiments")
    experiments = [find(one, repository) for one in study(name, repository)]
    plans = [Plan(one, override(one.configuration(tier), assignments), tier, assignments) for one in experiments]
    for plan in plans:
        plain(plan.config)
    reports = run_plans(plans, record, repository, register=register, computing=computing, as_json=as_json)
    warnings = warn_of_unused(reports, computing)
    if as_json:
        echo_json({**document(reports), "warnings": warnings})


def run_plans(
    plans: Sequence[Plan],
    record: Record,
    repository: Path,
    *,
    register: str | None,
    computing: Computing,
    as_json: bool,
    upstream: Upstream | None = None,
    ended: Callable[[Plan, str], None] = lambda plan, run_id: None,
) -> list[dict[str, Any]]:
    """Run one plan after the other and report each; ``ended`` is told the run id of each as it completes.

    A plan whose cells are handed to a batch system ends there, and the next one goes on. One that would read the new
    run of that plan (given ``upstream``, or ``register``) waits for it: it ends where it asks for it.
    """
    reports: list[dict[str, Any]] = []
    handed: list[Place] = []
    stale = upstream is not None
    if stale or register is not None:
        main = open_record(repository / "experiments")
        upstream = after_the_handed_over(handed, upstream or registered_in(record, main))
    for plan in plans:
        _announce(plan, record, repository, computing=computing, err=as_json)
        try:
            with computing.opened() as engine, _reporting(record, plan, as_json=as_json, reports=reports) as started:
                with prints_to_stderr() if as_json else contextlib.nullcontext():
                    run_id = execute(
                        plan.experiment,
                        plan.config,
                        record=record,
                        repository=repository,
                        tier=plan.tier,
                        workers=computing.workers,
                        engine=engine,
                        limits=computing.limits,
                        register=register,
                        upstream=upstream,
                        started=started,
                        overrides=plan.overrides,
                    )
                reports[-1] |= _report(record, run_id, register=register)
                ended(plan, run_id)
        except HandedOverError as error:
            handed.append((plan.experiment.name, plan.experiment.tag(plan.tier)))
            again = _command(plan, record, stale=stale, register=register, computing=computing)
            reports[-1] |= {"script": error.script, "message": str(error), "then": again}
            say(f"{error}\n  then: {again}", err=as_json)
        else:
            if not as_json:
                _conclude(record, run_id, plan)
    return reports


def _command(plan: Plan, record: Record, *, stale: bool, register: str | None, computing: Computing) -> str:
    """What to type to go on with this run alone, in the current folder."""
    words = ["assay", "run", *(["--stale"] if stale else []), plan.experiment.name]
    words += ["--tier", plan.tier] if plan.tier else []
    words += [word for field in (() if stale else plan.overrides or ()) for word in ("--set", field)]
    if record.root != find_repository() / "experiments":
        words += ["--record", os.path.relpath(record.root)]
    words += computing.words()
    return shlex.join([*words, *(["--register", register] if register else [])])


def document(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """What runs that ended come to as one JSON document: the report of one, or the reports of several."""
    if len(reports) == 1:
        return reports[0]
    statuses = [one["status"] for one in reports if one["status"] != RunStatus.COMPLETED]
    return {"status": statuses[-1] if statuses else str(RunStatus.COMPLETED), "runs": reports}


def warn_of_unused(reports: Sequence[dict[str, Any]], computing: Computing) -> list[str]:
    """Say that options on cells did nothing where no run had any; what was said."""
    names = dict.fromkeys(one["experiment"] for one in reports)
    warnings = computing.unused(list(names), n_cells=sum(one["cells"] for one in reports))
    for line in warnings:
        say(f"warning: {line}", err=True)
    return warnings


def _announce(plan: Plan, record: Record, repository: Path, *, computing: Computing, err: bool) -> None:
    name = plan.experiment.name
    tag = plan.experiment.tag(plan.tier)
    say(f"{name}, {tag}: {description(name, repository)}", err=err)
    say(f"  record {shown(record.root)}/, artifacts {shown(record.artifacts)}/, {computing}", err=err)


@contextlib.contextmanager
def prints_to_stderr() -> Iterator[None]:
    """Let what an experiment and its cells print go to standard error, so that standard output is one document."""
    sys.stdout.flush()
    kept = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, _STDOUT)
        os.close(kept)


@contextlib.contextmanager
def _reporting(record: Record, plan: Plan, *, as_json: bool, reports: list[dict[str, Any]]) -> Iterator[Any]:
    """Name the run as soon as it has a name; when it does not complete, say so before the exception goes on."""
    runs: list[Run] = []

    def started(run: Run) -> None:
        runs.append(run)
        reports.append({"experiment": plan.experiment.name, "run_id": run.run_id, "status": str(RunStatus.RUNNING)})
        say(f"  run    {run.run_id}", err=as_json)

    try:
        yield started
        reports[-1]["cells"] = runs[0].n_cells
    except BaseException as error:
        if not runs:
            raise
        status = record.status(runs[0].run_id)
        reports[-1] |= {"status": str(status), "cells": runs[0].n_cells}
        if isinstance(error, HandedOverError):
            raise
        reports[-1]["error"] = f"{type(error).__name__}: {error}".rstrip(": ")
        if as_json:
            echo_json(document(reports))
        partial = "" if status is RunStatus.COMPLETED else "; its partial numbers are no evidence"
        say(f"Run {runs[0].run_id} {status}{partial}.", err=True)
        if isinstance(error, KeyboardInterrupt | AssayError):
            raise
        say("".join(traceback.format_exception(error)), err=True, nl=False)
        raise SystemExit(1) from error


def _report(record: Record, run_id: str, *, register: str | None) -> dict[str, Any]:
    results = record.results(run_id)
    keys = results.keys()
    return {
        "run_id": run_id,
        "status": str(RunStatus.COMPLETED),
        "registered": register is not None,
        "record": shown(record.root),
        "summary": shown(record.summary_folder(run_id)),
        "numbers": jsonable(dict(zip(keys, map(results.value, keys), strict=True))),
    }


def _conclude(record: Record, run_id: str, plan: Plan) -> None:
    results = record.results(run_id)
    keys = results.keys()
    if keys:
        echo_table(("number", "value"), [(key, results.value(key)) for key in keys[:_HEADLINES]])
    if len(keys) > _HEADLINES:
        say(f"... and {len(keys) - _HEADLINES} more: assay runs show {run_id}")
    if empty := [key for key in keys if not finite(results.value(key))]:
        say(f"no claim holds on {', '.join(empty)}: not finite, or a count of nothing")
    figures = [Path(name).stem for name in results.manifest.summary if name.startswith("figures/")]
    listed = (("tables", results.tables()), ("figures", dict.fromkeys(figures)))
    more = "".join(f", {what} {', '.join(names)}" for what, names in listed if names)
    say(f"summary {shown(record.summary_folder(run_id))}/{more}")
    seconds = results.manifest.duration_seconds or 0.0
    say(f"completed {run_id} in {seconds:.1f} s")
    say(_beside_registered(record, run_id, plan))


def _beside_registered(record: Record, run_id: str, plan: Plan) -> str:
    tag = plan.experiment.tag(plan.tier)
    try:
        registered = record.registered(plan.experiment.name, tag).run_id
        if registered == run_id:
            return "registered: this run"
        difference = diff(record.results(registered), record.results(run_id))
    except EvidenceError as error:
        why = "" if error.reason == "absent" else f": {error.reason}, see assay runs doctor"
        return f"registered: none to compare with{why}"
    if not difference.numbers:
        return f"registered: {registered}, all {difference.compared} numbers and table cells equal"
    lines = [
        f"registered: {registered}, {len(difference.numbers)} of {difference.compared} numbers and table cells differ, "
        f"by at most {difference.largest:.2g} relative"
    ]
    lines += [f"  {one.where}: registered {one.first}, now {one.second}" for one in difference.numbers[:_DIFFERENCES]]
    if len(difference.numbers) > _DIFFERENCES:
        lines.append(f"  ... assay runs diff {registered} {run_id} lists all")
    return "\n".join(lines)
