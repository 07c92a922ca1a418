"""``assay runs``: what was run, what it found, what differs, and what is wrong with the record."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import click

from assay.cli.show import echo_json, echo_table, jsonable, reason_given, say
from assay.cli.stale import stale, waive
from assay.cli.verify import verify
from assay.errors import ConfigError, RecordError
from assay.runs.compare import diff
from assay.runs.configuration import nearest
from assay.runs.freeze import CONFIRMATORY
from assay.runs.manifest import STAGES, RunStatus
from assay.runs.order import order_of
from assay.runs.registry import Record, open_record
from assay.runs.results import unverified_values
from assay.runs.stale import standing_of
from assay.runs.storage import shown

UNREADABLE = "unreadable"
HARMLESS = ("interrupted", "temporary")
"""Findings that need nothing: the next start puts them right."""

_SHOWN = (
    *("experiment", "version", "tier", "kind", "config", "seeds", "data", "upstream", "commit", "dirty", "untracked"),
    *("started", "duration_seconds", "peak_memory_bytes", "python", "packages", "os", "cpu", "cores", "threads"),
    *("accelerator", "determinism"),
)

_record = click.option(
    "--record", "folder", type=click.Path(path_type=Path), help="Folder of the record (default: experiments/)."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


class _ListByDefault(click.Group):
    """A group that lists when no command is named: ``assay runs --status failed``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        if first not in (*self.commands, "-h", "--help") and (not first or first.startswith("-")):
            args = ["list", *args]
        return super().parse_args(ctx, args)


class Line(NamedTuple):
    """One run as the list shows it; what cannot be read is empty."""

    run_id: str
    status: str
    standing: str
    started: str
    seconds: float | None
    commit: str
    experiment: str


@click.group(cls=_ListByDefault, short_help="List runs; show, compare, register, verify, refresh them.")
def runs() -> None:
    """List all runs, or one of the commands below.

    `assay runs` is `assay runs list`, whose options go with it: `assay runs --status failed --json`.
    """


for _command in (verify, stale, waive):
    runs.add_command(_command)


@runs.command("list")
@click.option(
    "--status",
    type=click.Choice([*(str(stage) for stage in sorted(STAGES)), UNREADABLE]),
    help="Only runs of this status.",
)
@click.option("--experiment", help="Only runs of this experiment.")
@_record
@_json
def list_runs(*, status: str | None, experiment: str | None, folder: Path | None, as_json: bool) -> None:
    """List all runs, the latest last."""
    record = open_record(folder)
    lines = [_line(record, run_id) for run_id in record.attempts()]
    lines = [one for one in lines if status in (None, one.status) and experiment in (None, one.experiment)]
    lines.sort(key=lambda line: (line.started, line.run_id))
    if as_json:
        echo_json([line._asdict() for line in lines])
    elif lines:
        echo_table(("run", "status", "standing", "started", "seconds", "commit"), [line[:-1] for line in lines])
    else:
        what = "No such run" if status or experiment else "No run yet"
        say(f"{what} in {shown(record.root)}/.", err=True)


@runs.command(short_help="Show one run: how it stands, from what it came, its numbers.")
@click.argument("run_id")
@_record
@_json
def show(run_id: str, *, folder: Path | None, as_json: bool) -> None:
    """Show one run: how it stands, from what it came, and its numbers."""
    record = open_record(folder)
    status = _status(record, _known(record, run_id))
    completed = status == RunStatus.COMPLETED
    facts = _facts(record, run_id, status)
    if completed:
        results = record.results(run_id)
        numbers = {key: results.value(key) for key in (*results.keys(),)}
        facts["tables"] = ", ".join(results.tables())
    else:
        numbers = dict(unverified_values(record, run_id))
    if as_json:
        echo_json({**facts, "evidence": completed, "numbers": numbers})
        return
    echo_table(("", ""), [(name, _text(value)) for name, value in facts.items() if value not in (None, "", [], (), {})])
    if numbers:
        if not completed:
            say(f"Partial numbers of a run that is {status}; they can never be evidence:")
        echo_table(("number", "value"), list(numbers.items()))


@runs.command("diff", short_help="Show in what two completed runs differ.")
@click.argument("first")
@click.argument("second")
@_record
@_json
def show_diff(first: str, second: str, *, folder: Path | None, as_json: bool) -> None:
    """Show in which numbers, settings, modules and versions two completed runs differ."""
    record = open_record(folder)
    found = diff(record.results(_known(record, first)), record.results(_known(record, second)))
    parts = {
        "numbers": found.numbers,
        "configuration": found.configuration,
        "source": found.source,
        "environment": found.environment,
    }
    if as_json:
        changes = {name: [change._asdict() for change in part] for name, part in parts.items()}
        echo_json({"first": first, "second": second, "compared": found.compared, "largest": found.largest, **changes})
        return
    for name, part in parts.items():
        if part:
            echo_table((name, first, second), part)
        else:
            say(f"{name}: no difference")
    say(f"{len(found.numbers)} of {found.compared} numbers differ, by at most {found.largest:.2g} relative")


@runs.command(short_help="Let a run speak for its experiment, or no more.")
@click.argument("run_id")
@click.option(
    "--why",
    required=True,
    callback=reason_given,
    help="Why this run speaks for its experiment, or no more, in one sentence.",
)
@click.option("--withdraw", is_flag=True, help="Let the run speak no more, and no other in its place.")
@_record
@_json
def register(run_id: str, *, why: str, withdraw: bool, folder: Path | None, as_json: bool) -> None:
    """Let a completed run from a clean commit speak for its experiment and tier: claims read it from then on.

    The run that spoke before is superseded. --withdraw takes back the word of a run whose experiment is gone: claims
    on it are unverified then. Nothing of the run is removed.
    """
    record = open_record(folder)
    if not why.strip():
        what = "speak no more" if withdraw else "speak for its experiment"
        raise ConfigError(f"--why: say in one sentence why this run should {what}.")
    change = record.withdraw if withdraw else record.register
    done = change(_known(record, run_id), why=why)
    record.rebuild_index()
    if as_json:
        echo_json({**dataclasses.asdict(done), "withdrawn": withdraw})
    elif withdraw:
        say(f"withdrew {run_id}, which spoke for {done.experiment}, {done.tier}: {done.why}")
    else:
        say(f"registered {run_id} for {done.experiment}, {done.tier}: {done.why}")


@runs.command(short_help="Say what is wrong with the record.")
@_record
@_json
@click.pass_context
def doctor(context: click.Context, *, folder: Path | None, as_json: bool) -> None:
    """Say what is damaged, astray, interrupted or stale, and what to do; changes nothing.

    Exit 1 when something has to be done.
    """
    record = open_record(folder)
    findings = record.doctor()
    serious = [finding for finding in findings if finding.kind not in HARMLESS]
    if as_json:
        echo_json([{"kind": one.kind, "path": one.path, "advice": one.advice} for one in findings])
    elif findings:
        echo_table(("finding", "where", "what to do"), [(one.kind, one.path, one.advice) for one in findings])
    else:
        say(f"{shown(record.root)}/: {len(record.attempts())} runs, nothing wrong")
    context.exit(1 if serious else 0)


@runs.command()
@_record
@_json
def index(*, folder: Path | None, as_json: bool) -> None:
    """Make registry/runs.jsonl anew from the events."""
    record = open_record(folder)
    path = record.rebuild_index()
    if as_json:
        echo_json({"index": shown(path), "runs": len(record.attempts())})
    else:
        say(f"{shown(path)}: {len(record.attempts())} runs")


def _line(record: Record, run_id: str) -> Line:
    status = _status(record, run_id)
    standing = "" if status == UNREADABLE else record.standing(run_id)
    try:
        manifest = record.manifest(run_id)
    except RecordError:
        return Line(run_id, status, standing, "", None, "", run_id.split("_")[0])
    commit = (manifest.commit or "")[:7] + (" dirty" if manifest.dirty else "")
    experiment = manifest.experiment
    return Line(run_id, status, standing, manifest.started, manifest.duration_seconds, commit, experiment)


def _status(record: Record, run_id: str) -> str:
    try:
        return str(record.status(run_id))
    except RecordError:
        return UNREADABLE


def _known(record: Record, run_id: str) -> str:
    known = record.attempts()
    if run_id not in known:
        raise ConfigError(f"There is no run {run_id!r} in {shown(record.root)}/.{nearest(run_id, known[-12:])}")
    return run_id


def _facts(record: Record, run_id: str, status: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"run_id": run_id, "status": status}
    if status == UNREADABLE:
        damaged = [shown(path) for path in record.damaged() if f"-{run_id}-" in path.name]
        return {**facts, "damaged": damaged, "to do": f"git checkout -- {' '.join(damaged)}"}
    facts["standing"] = record.standing(run_id)
    for event in record.events(run_id):
        if event.event is not RunStatus.WAIVED:
            facts |= {name: event.payload[name] for name in ("error", "message", "by", "why") if name in event.payload}
    try:
        manifest = record.manifest(run_id)
    except RecordError as error:
        return {**facts, "manifest": str(error)}
    facts |= {name: getattr(manifest, name) for name in _SHOWN}
    if manifest.kind == CONFIRMATORY:
        facts["order"] = str(order_of(manifest, record.repository))
    try:
        found = standing_of(record, run_id, record.repository)
        facts["stale"] = [str(reason) for reason in found.reasons] if found.stale else []
        facts["waived"] = found.waiver.why if found.reasons and found.waiver else None
    except RecordError as error:
        facts["stale"] = str(error)
    return facts


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value)
    return str(jsonable(value))
