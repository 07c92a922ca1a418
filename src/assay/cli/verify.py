"""``assay runs verify``: run a run again and say whether its numbers come out again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.show import echo_json, echo_table, say
from assay.errors import ConfigError
from assay.runs.compare import RELATIVE_TOLERANCE, Outcome
from assay.runs.configuration import nearest
from assay.runs.registry import Record, open_record
from assay.runs.reproduction import scratch_record
from assay.runs.reproduction import verify as run_again
from assay.runs.storage import find_repository, shown


@click.command()
@click.argument("run_or_experiment")
@click.option("--tier", help="Tier of the registered run, when an experiment is named.")
@click.option("--tolerance", type=click.FloatRange(min=0.0), default=RELATIVE_TOLERANCE, show_default=True)
@click.option("--workers", type=click.IntRange(min=1), help="Cells that run at once (default: the CPUs there are).")
@click.option("--record", "folder", type=click.Path(path_type=Path), help="Read the record under this folder.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def verify(
    context: click.Context,
    run_or_experiment: str,
    *,
    tier: str | None,
    tolerance: float,
    workers: int | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Run a run (or the registered run of an experiment) again and compare: numbers that claims print at the printed
    precision, the others within a relative tolerance, counts and words exactly. Exit 1 when a number drifted."""
    repository = find_repository()
    record = open_record(folder)
    run_id = _chosen(record, run_or_experiment, tier)
    manifest = record.results(run_id).manifest
    scratch = scratch_record(repository, run_id)
    say(f"Running {run_id} again, recorded in {shown(scratch.root)}/", err=as_json)
    outcome = run_again(
        record,
        run_id,
        repository=repository,
        printed=_printed(repository, manifest.experiment, manifest.tag),
        holds=_holds,
        tolerance=tolerance,
        workers=workers,
    )
    if as_json:
        echo_json(_document(outcome, scratch))
    else:
        _show(outcome, scratch)
    context.exit(0 if outcome.reproduced else 1)


def _chosen(record: Record, name: str, tier: str | None) -> str:
    known = record.attempts()
    if name in known:
        return name
    experiments = {registration.experiment for registration in record.registrations()}
    if name not in experiments:
        choices = [*sorted(experiments), *known[-12:]]
        raise ConfigError(f"verify: {name!r} is no run and has no registered run.{nearest(name, choices)}")
    return record.registered(name, tier).run_id


def _printed(repository: Path, experiment: str, tier: str) -> dict[str, tuple[str, ...]]:
    """The forms in which the claims of this repository print each key of a run; none without claims."""
    if not (repository / "claims").is_dir():
        return {}
    from assay.ledger.bindings import printed_bindings

    return printed_bindings(repository / "claims", experiment, tier)


def _holds(form: str, value: Any) -> bool:
    from assay.ledger.printed import matches, parse

    return matches(parse(form), value).holds


def _document(outcome: Outcome, scratch: Record) -> dict[str, Any]:
    changes = {name: getattr(outcome, name) for name in ("drifted", "source", "environment")}
    return {
        "run_id": outcome.run_id,
        "rerun_id": outcome.rerun_id,
        "verdict": "reproduced" if outcome.reproduced else "drifted",
        "identical_bytes": outcome.identical,
        "compared": outcome.compared,
        "held_at_printed_precision": outcome.printed,
        "tolerance": outcome.tolerance,
        "largest_relative_difference": outcome.largest,
        **{name: [change._asdict() for change in found] for name, found in changes.items()},
        "rerun": shown(scratch.summary_folder(outcome.rerun_id)),
    }


def _show(outcome: Outcome, scratch: Record) -> None:
    if outcome.drifted:
        echo_table(("drifted", "recorded", "now"), outcome.drifted)
    if outcome.source:
        echo_table(
            ("code changed", "recorded", "now"), [(x.where, _short(x.first), _short(x.second)) for x in outcome.source]
        )
    if outcome.environment:
        echo_table(("machine", "recorded", "now"), outcome.environment)
    word = "REPRODUCED" if outcome.reproduced else "DRIFTED"
    same = "identical bytes" if outcome.identical else f"largest relative difference {outcome.largest:.2g}"
    say(
        f"{word}  {outcome.run_id}: {outcome.compared} numbers and table cells, {same}\n"
        f"  {outcome.printed} held at the precision that claims print, the others within {outcome.tolerance:g} "
        f"relative; {len(outcome.drifted)} drifted\n"
        f"  rerun   {shown(scratch.summary_folder(outcome.rerun_id))}/"
    )


def _short(digest: Any) -> str:
    return str(digest)[:12] if digest else "-"
