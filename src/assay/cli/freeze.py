"""``assay freeze``: fix a study's preregistration and confirmatory configurations, and say which came first."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import click

from assay.cli.show import echo_json, echo_table, say
from assay.errors import ConfigError, RecordError
from assay.runs.configuration import nearest
from assay.runs.freeze import CONFIRMATORY, ROOT, Freeze, copy_problem, freezes, preregistration, study_of
from assay.runs.order import OrderVerdict, order_of
from assay.runs.registry import Record
from assay.runs.storage import find_repository, read_bytes

_file = click.Path(path_type=Path, exists=True, dir_okay=False)


class Line(NamedTuple):
    """One confirmatory run, and the verdict on its order."""

    run_id: str
    status: str
    order: str
    freeze: str
    reason: str


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
        echo_json(_facts(made))
        return
    say(f"froze {made.study} as {made.label}: {made.copy}")
    _show_configurations(made)
    say(f'commit it, then run: git add {ROOT} && git commit -m "Freeze {made.study}"')
    say(f"to have its time witnessed, let a timestamp authority stamp {made.event_path}")


def _facts(made: Freeze) -> dict[str, Any]:
    return {
        "study": made.study,
        "freeze": made.label,
        "copy": made.copy,
        "event": made.event_path,
        "at": made.at,
        **made.payload(),
    }


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
    lines = _lines(record, repository, study)
    if study is not None and not known and not lines and not (repository / ROOT / study).is_dir():
        folders = sorted(path.parent.name for path in (repository / ROOT).glob("*/PREREGISTRATION.md"))
        raise ConfigError(f"There is no study {study!r} in {ROOT}/.{nearest(study, folders)}")
    stands = [(one, _stands(one, known, repository)) for one in known]
    if as_json:
        made = [{**_facts(one), "stands": text} for one, text in stands]
        echo_json({"freezes": made, "runs": [line._asdict() for line in lines]})
    else:
        rows = [(one.study, one.label, one.commit[:7], len(one.configurations), text) for one, text in stands]
        if rows:
            echo_table(("study", "freeze", "on commit", "configurations", "stands"), rows)
        if lines:
            echo_table(("confirmatory run", "status", "order", "freeze", "why"), lines)
        if not rows and not lines:
            say(f"{study or 'No study'}: {'not frozen' if study else 'is frozen'}, no confirmatory run.", err=True)
    return _fell_short(lines, [one for one in known if copy_problem(one, repository)], err=as_json)


def _fell_short(lines: list[Line], damaged: list[Freeze], *, err: bool) -> int:
    """Say how many orders are not shown and how many copies are not whole; 1 when there are any, else 0."""
    short = [line for line in lines if line.order not in (OrderVerdict.PROVEN, OrderVerdict.WITNESSED)]
    if short:
        runs = "1 confirmatory run" if len(lines) == 1 else f"{len(lines)} confirmatory runs"
        counts = Counter(str(line.order) for line in short)
        words = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
        say(f"order not shown for {len(short)} of {runs}: {words}", err=err)
    if damaged:
        say(f"frozen copies missing or edited: {', '.join(one.copy for one in damaged)}", err=err)
    return 1 if short or damaged else 0


def _lines(record: Record, repository: Path, study: str | None) -> list[Line]:
    """Every confirmatory run of the study; one whose record cannot be read is unprovable."""
    lines = []
    for run_id in record.attempts():
        try:
            manifest, status = record.manifest(run_id), str(record.status(run_id))
        except RecordError as error:
            if study in (None, study_of(run_id.partition("_")[0])):
                lines.append(Line(run_id, "unreadable", OrderVerdict.UNPROVABLE, "", str(error)))
            continue
        if manifest.kind == CONFIRMATORY and study in (None, study_of(manifest.experiment)):
            order = order_of(manifest, repository)
            lines.append(Line(run_id, status, order.verdict, order.freeze, order.reason))
    return lines


def _stands(one: Freeze, known: list[Freeze], repository: Path) -> str:
    """Whether the freeze is in force, its copy is whole, its text is still that of the study, and who stamped it."""
    if problem := copy_problem(one, repository):
        return f"copy {problem} (git checkout -- {one.copy})"
    words = []
    if any(other.study == one.study and other.number > one.number for other in known):
        words.append("replaced")
    elif any(other.study == one.study and other.number == one.number and other != one for other in known):
        words.append("ambiguous: two freezes of one number")
    else:
        text = repository / preregistration(one.study)
        changed = not text.is_file() or read_bytes(text) != read_bytes(repository / one.copy)
        words.append(f"in force{', PREREGISTRATION.md changed since' if changed else ''}")
    from assay.runs.timestamp import stamp_of

    try:
        stamp = stamp_of(one, repository)
    except RecordError as error:
        return "; ".join((*words, str(error)))
    return "; ".join((*words, f"stamped {stamp.at:%Y-%m-%dT%H:%M:%SZ} by {stamp.authority}") if stamp else words)
