"""``assay export``: the record in the forms that archives, registries of software and verifiers read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from assay.cli.show import echo_json, say
from assay.errors import ConfigError
from assay.runs.registry import open_record
from assay.runs.storage import find_repository, shown, write_durable

_out = click.argument("out", required=False, type=click.Path(path_type=Path))
_json = click.option("--json", "as_json", is_flag=True, help="With OUT, print its name as one JSON document.")


@click.group(short_help="Export runs, metadata or verdicts: ro-crate, codemeta, in-toto.")
def export() -> None:
    """Export registered runs, metadata or verdicts in the forms that archives and verifiers read."""


@export.command("ro-crate", short_help="Registered runs and what made them, as an RO-Crate.")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--study", help="Only the runs of this study or experiment.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def ro_crate(out: Path, *, study: str | None, as_json: bool) -> None:
    """Write the registered runs, with what made them, as an RO-Crate into the new folder OUT.

    Name and license come from CITATION.cff or pyproject.toml.
    """
    from assay.report.project import read_project
    from assay.report.rocrate import is_occupied, write_crate

    repository = find_repository()
    record = open_record(repository / "experiments")
    known = sorted({one.experiment for one in record.registrations()})
    wanted = [name for name in known if study is None or name == study or name.startswith(f"{study}.")]
    lacking = [] if wanted else [_no_run(study, known)]
    lacking += [f"{shown(out)} is there already. Name a new folder."] if is_occupied(out) else []
    try:
        project = read_project(repository)
    except ConfigError as error:
        lacking.append(str(error).removeprefix("export: "))
    if len(lacking) == 1:
        raise ConfigError(f"export ro-crate: {lacking[0]}")
    if lacking:
        listed = "\n".join(f"{place}. {line}" for place, line in enumerate(lacking, start=1))
        raise ConfigError(
            f"export ro-crate: {len(lacking)} things stand against it, and nothing was written.\n{listed}"
        )
    files = write_crate(out, record=record, experiments=wanted, project=project)
    if as_json:
        echo_json({"folder": shown(out), "experiments": wanted, "files": files})
    else:
        say(f"{shown(out)}/: {len(files)} files, runs of {', '.join(wanted)}")


def _no_run(study: str | None, known: list[str]) -> str:
    of = f"of {study!r} " if study else ""
    registered = f"registered are {', '.join(known)}." if known else 'assay run NAME --register "..." registers one.'
    return f"No run {of}is registered; {registered}"


@export.command(short_help="What the project says of itself, as CodeMeta.")
@_out
@_json
def codemeta(out: Path | None, *, as_json: bool) -> None:
    """Write what CITATION.cff and pyproject.toml say as CodeMeta into the file OUT, or print it.

    They have to give name and license.
    """
    from assay.report.codemeta import codemeta as document
    from assay.report.project import read_project

    _give(document(read_project(find_repository())), out, as_json=as_json)


@export.command("in-toto", short_help="Check every claim; the verdicts as an in-toto test result.")
@_out
@_json
@click.pass_context
def in_toto(context: click.Context, out: Path | None, *, as_json: bool) -> None:
    """Check every claim and write the verdicts as an unsigned in-toto test result into the file OUT, or print it.

    Exit 1 when a claim fails or is unverified, and then the statement says so.
    """
    from assay.report.claims import cited_texts, read_claims
    from assay.report.in_toto import statement

    repository = find_repository()
    record = open_record(repository / "experiments")
    claims = read_claims(repository, record)
    found = statement(claims, repository=repository, record=record, texts=cited_texts(repository, claims))
    _give(found, out, as_json=as_json)
    context.exit(1 if found["predicate"]["result"] == "FAILED" else 0)


def _give(document: dict[str, Any], out: Path | None, *, as_json: bool) -> None:
    if out is None:
        echo_json(document)
        return
    if out.exists() and not _rewritable(out, document):
        raise ConfigError(
            f"export: {shown(out)} exists and is no such document. Nothing was written; name another OUT."
        )
    write_durable(out, (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode())
    if as_json:
        echo_json({"file": shown(out)})
    else:
        say(f"wrote {shown(out)}", err=True)


def _rewritable(out: Path, document: dict[str, Any]) -> bool:
    """Whether the file is an earlier export of the same kind."""
    try:
        there = json.loads(out.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    kinds = [name for name in ("_type", "@context") if name in document]
    return isinstance(there, dict) and all(there.get(name) == document[name] for name in kinds)
