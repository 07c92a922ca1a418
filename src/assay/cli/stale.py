"""``assay runs stale`` and ``assay runs waive``: what changed since the registered runs, and whether that matters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from assay.cli.run import prints_to_stderr
from assay.cli.show import echo_json, echo_table, reason_given, say
from assay.errors import ConfigError
from assay.runs.configuration import nearest
from assay.runs.refresh import Registered, survey, withdrawing
from assay.runs.registry import open_record
from assay.runs.storage import find_repository, shown
from assay.runs.waivers import waive as put_waiver

_record = click.option(
    "--record", "folder", type=click.Path(path_type=Path), help="Folder of the record (default: experiments/)."
)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.command(short_help="Say what changed since each registered run.")
@_record
@_json
@click.pass_context
def stale(context: click.Context, *, folder: Path | None, as_json: bool) -> None:
    """Say of each registered run what changed since: definitions, configuration, data, upstream runs.

    Imports the experiments to ask for their configuration and data. Exit 1 when one is stale or unreadable.
    `assay run --stale` runs them again.
    """
    repository = find_repository()
    record = open_record(folder)
    with prints_to_stderr():
        found = survey(record, repository)
    bad = [one for one in found if one.verdict in ("stale", "unreadable")]
    if as_json:
        echo_json([_document(one) for one in found])
    elif found:
        echo_table(("run", "verdict", "because"), [row for one in found for row in _rows(one)])
        many = "registered run" if len(found) == 1 else "registered runs"
        again = ". Run again: assay run --stale" if any(one.verdict == "stale" and not one.gone for one in bad) else ""
        say(f"{len(bad)} of {len(found)} {many} stale or unreadable{again}")
        for one in bad:
            if one.gone:
                say(withdrawing(one.run_id))
    else:
        say(f"No registered run in {shown(record.root)}/.", err=True)
    context.exit(1 if bad else 0)


@click.command(short_help="Say that what changed touches no number of a run.")
@click.argument("run_id")
@click.option(
    "--why",
    required=True,
    callback=reason_given,
    help="Why what changed touches no number of the run, in one sentence.",
)
@_record
@_json
def waive(run_id: str, *, why: str, folder: Path | None, as_json: bool) -> None:
    """Say, on record, that what changed since a run touches none of its numbers; void at the next change.

    Its claims then hold again, with your reason beside them. `assay runs stale` lists what changed.
    """
    if not why.strip():
        raise ConfigError("--why: say in one sentence why what changed touches no number of this run.")
    repository = find_repository()
    record = open_record(folder)
    known = record.attempts()
    if run_id not in known:
        raise ConfigError(f"There is no run {run_id!r} in {shown(record.root)}/.{nearest(run_id, known[-12:])}")
    with prints_to_stderr():
        changes = put_waiver(record, run_id, why=why, repository=repository)
    record.rebuild_index()
    if as_json:
        echo_json({"run_id": run_id, "why": why.strip(), "changes": [str(change) for change in changes]})
    else:
        say(f"waived {run_id}: {why.strip()}")
        for change in changes:
            say(f"  {change}")


def _rows(one: Registered) -> Iterator[tuple[str, str, str]]:
    reasons = [one.problem] if one.examined is None else [str(reason) for reason in one.examined.reasons]
    if one.verdict == "waived" and one.examined and one.examined.standing.waiver:
        reasons.insert(0, f'"{one.examined.standing.waiver.why}"')
    if one.examined and one.examined.untold:
        reasons.append(f"configuration and data were not compared: {one.examined.untold}")
    for place, reason in enumerate(reasons or [""]):
        yield (one.run_id, one.verdict, reason) if place == 0 else ("", "", reason)


def _document(one: Registered) -> dict[str, Any]:
    document: dict[str, Any] = {
        "run_id": one.run_id,
        "experiment": one.experiment,
        "tier": one.tag,
        "verdict": one.verdict,
        "problem": one.problem,
        "reasons": [],
        "waiver": None,
        "untold": "",
    }
    if one.examined is not None:
        waiver = one.examined.standing.waiver if one.examined.waived else None
        document["reasons"] = [
            {"kind": x.kind, "where": x.where, "what": x.what, "details": list(x.details)} for x in one.examined.reasons
        ]
        document["waiver"] = {"why": waiver.why, "at": waiver.at} if waiver else None
        document["untold"] = one.examined.untold
    return document
