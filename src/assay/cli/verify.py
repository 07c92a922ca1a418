"""``assay runs verify``: run a run again and say whether its numbers come out again."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import Any

import click

from assay.cli.run import prints_to_stderr
from assay.cli.show import echo_json, echo_table, say
from assay.cli.show import shown as text
from assay.errors import ConfigError
from assay.runs.compare import RELATIVE_TOLERANCE, ZERO_TOLERANCE, Outcome, relative
from assay.runs.configuration import nearest
from assay.runs.registry import Record, open_record
from assay.runs.reproduction import Reproduction, scratch_record
from assay.runs.reproduction import verify as run_again
from assay.runs.storage import find_repository, shown


def _finite(context: click.Context, parameter: click.Parameter, value: float) -> float:
    if not math.isfinite(value):
        raise click.BadParameter(f"{value} is no tolerance; say a number such as 1e-9.")
    return value


@click.command(short_help="Run a run again: reproduced, drifted or failed.")
@click.argument("run_or_experiment")
@click.option("--tier", help="Tier of the registered run, when an experiment is named.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0.0),
    callback=_finite,
    default=RELATIVE_TOLERANCE,
    show_default=True,
    help="Largest relative difference of a number that no claim prints.",
)
@click.option(
    "--absolute",
    type=click.FloatRange(min=0.0),
    callback=_finite,
    default=0.0,
    show_default=True,
    help="Absolute difference that is allowed as well, for numbers that are noise around 0.",
)
@click.option("--workers", type=click.IntRange(min=1), help="Cells that run at once (default: the CPUs there are).")
@click.option(
    "--record", "folder", type=click.Path(path_type=Path), help="Folder of the record (default: experiments/)."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def verify(
    context: click.Context,
    run_or_experiment: str,
    *,
    tier: str | None,
    tolerance: float,
    absolute: float,
    workers: int | None,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Run a run (or the registered run of an experiment) again and compare: numbers that claims print at the printed
    precision, the others within a relative tolerance (one recorded as exactly 0: up to 1e-9), counts and words exactly.

    Says reproduced, drifted (by what, and from where that is likely to come) or failed. The rerun goes to
    build/verify/; the record does not change. Exit 1 unless it is reproduced.
    """
    repository = find_repository()
    record = open_record(folder)
    run_id = _chosen(record, run_or_experiment, tier)
    manifest = record.results(run_id).manifest
    scratch = scratch_record(repository, run_id)
    say(f"Running {run_id} again, recorded in {shown(scratch.root)}/", err=as_json)
    with prints_to_stderr() if as_json else contextlib.nullcontext():
        found = run_again(
            record,
            run_id,
            repository=repository,
            printed=_printed(repository, manifest.experiment, manifest.tag),
            holds=_holds,
            tolerance=tolerance,
            absolute=absolute,
            workers=workers,
        )
    say(found.trace, err=True, nl=False)
    if as_json:
        echo_json(_document(found, scratch, tolerance=tolerance, absolute=absolute))
    else:
        _show(found, scratch)
    context.exit(0 if found.verdict == "reproduced" else 1)


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


def _document(found: Reproduction, scratch: Record, *, tolerance: float, absolute: float) -> dict[str, Any]:
    outcome = found.outcome
    listed = ("drifted", "source", "environment")
    changes = {name: [one._asdict() for one in getattr(outcome, name)] if outcome else [] for name in listed}
    return {
        "run_id": found.run_id,
        "rerun_id": found.rerun_id,
        "verdict": found.verdict,
        "failure": found.failure,
        "identical_bytes": outcome.identical if outcome else False,
        "compared": outcome.compared if outcome else 0,
        "held_at_printed_precision": outcome.printed if outcome else 0,
        "tolerance": tolerance,
        "absolute_tolerance": absolute,
        "zero_tolerance": ZERO_TOLERANCE,
        "largest_relative_difference": outcome.largest if outcome else 0.0,
        **changes,
        "likely_sources": [one._asdict() for one in found.suspects],
        "rerun": shown(scratch.summary_folder(found.rerun_id)) if found.rerun_id else "",
    }


def _show(found: Reproduction, scratch: Record) -> None:
    outcome = found.outcome
    if outcome is None:
        say(f"FAILED  {found.run_id}: {found.failure}")
    else:
        _show_outcome(outcome, found.verdict)
    if found.suspects and found.verdict != "reproduced":
        echo_table(("likely source", "recorded -> now"), found.suspects)
    elif found.suspects and outcome and not outcome.identical:
        say("  differs " + "; ".join(f"{one.source}: {one.detail}" for one in found.suspects))
    if found.rerun_id:
        say(f"  rerun   {shown(scratch.summary_folder(found.rerun_id))}/")


def _show_outcome(outcome: Outcome, verdict: str) -> None:
    if outcome.drifted:
        gaps = [relative(change.first, change.second) for change in outcome.drifted]
        rows = [(*change, "-" if gap != gap else text(gap)) for change, gap in zip(outcome.drifted, gaps, strict=True)]
        echo_table(("drifted", "recorded", "now", "relative"), rows)
    same = "identical bytes" if outcome.identical else f"largest relative difference {outcome.largest:.2g}"
    absolute = f" or {outcome.absolute:g} absolute" if outcome.absolute else ""
    say(
        f"{verdict.upper()}  {outcome.run_id}: {outcome.compared} numbers and table cells, {same}\n"
        f"  {outcome.printed} held at the precision that claims print, the others within {outcome.tolerance:g} "
        f"relative{absolute} ({ZERO_TOLERANCE:g} beside an exact 0); {len(outcome.drifted)} drifted"
    )
