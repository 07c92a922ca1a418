"""``assay claims``: check the printed numbers against the record, or list what is claimed."""

from __future__ import annotations

import click

from assay.cli.show import echo_json, echo_table
from assay.runs.storage import find_repository


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--list", "only_list", is_flag=True, help="List the claims as they are written, without checking them.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def claims(context: click.Context, arguments: tuple[str, ...], *, only_list: bool, as_json: bool) -> None:
    """Check every claim under claims/ against the registered runs; ARGUMENTS go to pytest (files, -k, --claims-strict).

    Exit 0 when every claim holds, is pending, or (without --claims-strict) is stale; 1 when one does not.
    """
    from assay.ledger.session import configured_names, list_claims, run_claims

    if not only_list:
        context.exit(run_claims(list(arguments), as_json=as_json))
    repository = find_repository()
    found = list_claims(repository / "claims", names=configured_names(repository))
    if as_json:
        echo_json([claim._asdict() for claim in found])
    else:
        echo_table(("claim", "place", "section", "run", "sentence"), found)
