"""``assay report``: the page, Markdown, LaTeX numbers and tables, figures and badge of a study, from its record."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.show import echo_json, say
from assay.runs.registry import open_record
from assay.runs.storage import find_repository, shown


@click.command(short_help="Make the page, LaTeX numbers and badge of a study.")
@click.argument("study")
@click.option("--out", "folder", type=click.Path(path_type=Path), help="Write there (default: build/report/STUDY/).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def report(context: click.Context, study: str, *, folder: Path | None, as_json: bool) -> None:
    """Report on STUDY (a study or one experiment): check its claims, and write what its registered runs say.

    The folder gets index.html (opens offline), report.md, numbers.tex, tables/, figures/ and badge.svg. Exit 0 when
    every claim holds, is pending or is stale; 1 when one does not, and then the report is written all the same.
    """
    from assay.ledger.claim import Verdict
    from assay.report.badge import said_of
    from assay.report.document import document
    from assay.report.folder import write_report
    from assay.report.study import read_study
    from assay.report.summary import verdict_in_words

    repository = find_repository()
    found = read_study(study, repository, open_record(repository / "experiments"))
    place = folder or repository / "build" / "report" / study
    files = write_report(found, place)
    if as_json:
        echo_json({**document(found), "folder": shown(place), "files": files})
    else:
        say(verdict_in_words(found))
        say(f"{shown(place)}/index.html and {len(files) - 1} more ({said_of(found.verdicts)})")
    context.exit(1 if found.with_verdict(Verdict.FAILS, Verdict.UNVERIFIED) else 0)
