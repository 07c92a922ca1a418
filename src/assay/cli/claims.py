"""``assay claims``: check the printed numbers against the record."""

from __future__ import annotations

import importlib

import click


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def claims(context: click.Context, arguments: tuple[str, ...], *, as_json: bool) -> None:
    """Check every claim under claims/; ARGUMENTS are passed on to pytest."""
    session = importlib.import_module("assay.ledger.session")
    context.exit(session.run_claims(list(arguments), as_json=as_json))
