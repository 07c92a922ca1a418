"""``assay claims text``: sort every number of a README or paper into bound, set aside, loose and wrong."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.show import echo_json, echo_table, say
from assay.errors import ConfigError
from assay.runs.storage import find_repository

_FORMATS = ("table", "github", "sarif", "json")


@click.command("text", short_help="Compare the numbers of a text with the claims.")
@click.argument("files", nargs=-1)
@click.option("--format", "shape", type=click.Choice(_FORMATS), default="table", help="How to show what was found.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document (--format json).")
@click.option("--all", "everything", is_flag=True, help="List every number, with the reason why it is set aside.")
@click.pass_context
def text(context: click.Context, files: tuple[str, ...], *, shape: str, as_json: bool, everything: bool) -> None:
    """Compare the numbers of FILES (Markdown or LaTeX; those of `claims_texts` if none is named) with the claims.

    A number in a sentence that cites claims, (M7) or \\claimref{M7}, must be one that these claims print. Any other
    number is loose, unless a rule sets it aside. Nothing is run: `assay claims` compares the claims with the runs.

    Exit 0 when nothing is wrong and no number is loose among results; 1 otherwise; 2 for a wrong use.
    """
    if as_json and shape not in ("table", "json"):
        raise ConfigError(f"claims text: --json and --format {shape} exclude each other. Drop one.")
    from assay.ledger.texts import formats, manuscripts
    from assay.ledger.texts.coverage import Standing

    repository = find_repository()
    settings = manuscripts.read_settings(repository)
    paths = manuscripts.find_texts(Path(), files) if files else manuscripts.configured_texts(repository, settings)
    if not paths:
        raise ConfigError(f"No text matches {', '.join(settings.texts)}: name files, or set claims_texts")
    reader = manuscripts.reader_of(repository, settings)
    found = manuscripts.cover_texts(reader, paths, repository)
    if as_json or shape == "json":
        echo_json(formats.as_json(found))
    elif shape == "sarif":
        echo_json(formats.sarif(found))
    elif shape == "github":
        for line in formats.github(found):
            say(line)
    else:
        standings = tuple(Standing) if everything else formats.UNBOUND
        for line in formats.listing(found, standings=standings):
            say(line)
        echo_table(formats.COLUMNS, formats.summary(found))
    context.exit(1 if any(one.failing for one in found) else 0)
