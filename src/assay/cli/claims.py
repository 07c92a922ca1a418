"""``assay claims``: check the printed numbers against the record, list what is claimed, or look at the texts."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from assay.cli.claims_text import text
from assay.cli.show import echo_json, echo_table, say
from assay.errors import ConfigError
from assay.runs.storage import find_repository


class _CheckByDefault(click.Group):
    """A group that checks when no command is named: ``assay claims -k M7``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        if first not in (*self.commands, "-h", "--help"):
            near = difflib.get_close_matches(first, self.commands, n=1)
            if near and not Path(first).exists():
                raise ConfigError(f"claims: {first!r} is neither a command nor a file. Did you mean {near[0]!r}?")
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_CheckByDefault, short_help="Check every claim, list them, or check the numbers of a text.")
def claims() -> None:
    """Check every claim, or, with text, the numbers of a text.

    `assay claims` is `assay claims check`, whose options (`assay claims check --help`) and those of pytest go with it:

    \b
      assay claims                          every claim under claims/
      assay claims -k M7 --claims-strict    one claim; a stale run fails it
      assay claims --list                   what is claimed, and where
      assay claims --format github          annotations beside the lines
      assay claims text README.md           numbers that no claim prints
    """


claims.add_command(text)


@claims.command(
    context_settings={"ignore_unknown_options": True}, short_help="Check every claim against the registered runs."
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--list", "only_list", is_flag=True, help="List the claims as they are written, without checking them.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["github", "sarif", "badge"]),
    help="The verdicts as annotations, SARIF or SVG.",
)
@click.pass_context
def check(
    context: click.Context, arguments: tuple[str, ...], *, only_list: bool, as_json: bool, form: str | None
) -> None:
    """Check every claim under claims/ against the registered runs; ARGUMENTS go to pytest (files, -k, --claims-strict).

    `pytest --help` lists the options on claims: --claims-strict, --claims-table, --claims-accept, --claims-mutate ...
    --json prints the verdicts as one document, and what pytest says on standard error.

    Exit 0 when every claim holds, is pending, or (without --claims-strict) is stale; 1 when one does not.
    """
    from assay.ledger.session import configured_names, list_claims, run_claims

    shapes = {f"--format {form}": form is not None, "--list": only_list, "--json": as_json and form is not None}
    if len(chosen := [option for option, given in shapes.items() if given]) > 1:
        raise ConfigError(f"claims: {' and '.join(chosen)} exclude each other. Drop one.")
    if arguments and (form or only_list):
        raise ConfigError(f"claims {chosen[0]} speaks of all claims; {' '.join(arguments)} came as well. Drop it.")
    if form is not None:
        context.exit(_formatted(form))
    if not only_list:
        context.exit(run_claims(list(arguments), as_json=as_json))
    repository = find_repository()
    found = list_claims(repository / "claims", names=configured_names(repository))
    if as_json:
        echo_json([claim._asdict() for claim in found])
    else:
        echo_table(("claim", "place", "section", "run", "sentence"), found)


def _formatted(form: str) -> int:
    """Check every claim and print the verdicts as annotations, SARIF or a badge; the exit status of the check."""
    from assay.ledger.claim import Verdict
    from assay.report.badge import badge
    from assay.report.claims import read_claims
    from assay.report.github import workflow_commands
    from assay.report.sarif import sarif
    from assay.runs.registry import open_record

    repository = find_repository()
    found = read_claims(repository, open_record(repository / "experiments"))
    if form == "badge":
        say(badge(one.verdict for one in found), nl=False)
    else:
        say(sarif(found) if form == "sarif" else workflow_commands(found), nl=False)
    return 1 if any(one.verdict in (Verdict.FAILS, Verdict.UNVERIFIED) for one in found) or not found else 0
