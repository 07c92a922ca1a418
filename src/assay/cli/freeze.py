"""``assay freeze``: fix a study's preregistration and confirmatory configurations, and say which came first."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from assay.cli.show import echo_json, echo_table, say
from assay.errors import ConfigError, RecordError
from assay.runs.configuration import nearest
from assay.runs.freeze import ROOT, Freeze, copy_problem, freezes
from assay.runs.freeze_status import OrderedRun, confirmatory_runs, stands
from assay.runs.order import OrderVerdict
from assay.runs.registry import Record
from assay.runs.storage import find_repository

_file = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command(short_help="Fix a study's plan on record before it is run; say which came first.")
@click.argument("study", required=False)
@click.option("--tier", help="Freeze the configuration of this tier alone (default: every confirmatory one).")
@click.option("--set", "assignments", multiple=True, metavar="FIELD=VALUE", help="Override a field, as for the run.")
@click.option(
    "--shared", multiple=True, metavar="NAME", help="A seed or data set that other runs may use; * is any text."
)
@click.option("--status", is_flag=True, help="Say how the freezes stand, and which came first: freeze or run.")
@click.option("--stamp", type=_file, metavar="REPLY", help="Keep an RFC 3161 timestamp of the last freeze's event.")
@click.option(
    "--certificates", type=_file, metavar="PEM", help="With --stamp: certificates of the authority, root included."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def freeze(
    context: click.Context,
    study: str | None,
    *,
    tier: str | None,
    assignments: tuple[str, ...],
    shared: tuple[str, ...],
    status: bool,
    stamp: Path | None,
    certificates: Path | None,
    as_json: bool,
) -> None:
    """Freeze STUDY: copy its PREREGISTRATION.md, and put its hash, the commit and the configurations on record.

    The study's tiers of kind confirmatory are frozen, or --tier with --set. A confirmatory run then needs the freeze
    committed. --status writes nothing; it exits 0 when every order is proven or witnessed, and 1 when one is
    unprovable or violated, or when a frozen copy is missing or edited.
    """
    repository = find_repository()
    making = bool(tier or assignments or shared)
    if status + bool(stamp or certificates) + making > 1 or bool(stamp) != bool(certificates):
        raise ConfigError(
            "assay freeze: --status, --stamp REPLY --certificates PEM, and making a freeze (--tier, --set, --shared) "
            "exclude each other."
        )
    if status:
        context.exit(_status(repository, study, as_json=as_json))
    if study is None:
        raise ConfigError("assay freeze: name the study, the folder under experiments/ with PREREGISTRATION.md.")
    if stamp and certificates:
        _stamp(repository, study, reply=stamp, certificates=certificates, as_json=as_json)
        return
    from assay.runs.freezing import freeze_study

    made = freeze_study(study, repository=repository, tier=tier, assignments=assignments, shared=shared)
    if as_json:
        echo_json(made.document())
        return
    say(f"froze {made.study} as {made.label}: {made.copy}")
    _show_configurations(made)
    say(f'commit it, then run: git add {ROOT} && git commit -m "Freeze {made.study}"')
    say(f"to have its time witnessed, let a timestamp authority stamp {made.event_path}")


def _show_configurations(made: Freeze) -> None:
    rows = [(one.experiment, one.tag, one.config_hash[:12], one.seeds, one.data) for one in made.configurations]
    shown = [(name, tag, digest, _listed(seeds), _listed(data, digits=12)) for name, tag, digest, seeds, data in rows]
    echo_table(("experiment", "tier", "configuration", "seeds", "data"), shown)


def _listed(values: Any, *, digits: int | None = None) -> str:
    return ", ".join(f"{name} {str(value)[:digits]}" for name, value in values.items()) or "none"


def _stamp(repository: Path, study: str, *, reply: Path, certificates: Path, as_json: bool) -> None:
    from assay.runs.timestamp import keep_stamp, reply_path

    known = freezes(Record(repository / ROOT), study)
    if not known:
        raise RecordError(f"freeze {study}: there is nothing to stamp. Freeze it first: assay freeze {study}.")
    stamp = keep_stamp(known[-1], repository, reply=reply, certificates=certificates)
    if as_json:
        when = stamp.at.isoformat()
        echo_json({"study": study, "freeze": known[-1].label, "at": when, "authority": stamp.authority})
        return
    say(
        f"kept {reply_path(known[-1])}: {stamp.authority} saw freeze {known[-1].label} at {stamp.at:%Y-%m-%dT%H:%M:%SZ}"
    )


def _status(repository: Path, study: str | None, *, as_json: bool) -> int:
    record = Record(repository / ROOT)
    known = freezes(record, study)
    runs = confirmatory_runs(record, repository, study)
    if study is not None and not known and not runs and not (repository / ROOT / study).is_dir():
        folders = sorted(path.parent.name for path in (repository / ROOT).glob("*/PREREGISTRATION.md"))
        raise ConfigError(f"There is no study {study!r} in {ROOT}/.{nearest(study, folders)}")
    standing = [(one, stands(one, known, repository)) for one in known]
    if as_json:
        made = [{**one.document(), "stands": text} for one, text in standing]
        echo_json({"freezes": made, "runs": [one._asdict() for one in runs]})
    else:
        rows = [(one.study, one.label, one.commit[:7], len(one.configurations), text) for one, text in standing]
        if rows:
            echo_table(("study", "freeze", "on commit", "configurations", "stands"), rows)
        if runs:
            echo_table(("confirmatory run", "status", "order", "freeze", "why"), runs)
        if not rows and not runs:
            say(f"{study or 'No study'}: {'not frozen' if study else 'is frozen'}, no confirmatory run.", err=True)
    return _fell_short(runs, [one for one in known if copy_problem(one, repository)], err=as_json)


def _fell_short(runs: list[OrderedRun], damaged: list[Freeze], *, err: bool) -> int:
    """Say how many orders are not shown and how many copies are not whole; 1 when there are any, else 0."""
    short = [one for one in runs if one.order not in (OrderVerdict.PROVEN, OrderVerdict.WITNESSED)]
    if short:
        of = "1 confirmatory run" if len(runs) == 1 else f"{len(runs)} confirmatory runs"
        counts = Counter(str(one.order) for one in short)
        words = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
        say(f"order not shown for {len(short)} of {of}: {words}", err=err)
    if damaged:
        say(f"frozen copies missing or edited: {', '.join(one.copy for one in damaged)}", err=err)
    return 1 if short or damaged else 0
