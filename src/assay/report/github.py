"""Verdicts as GitHub shows them beside the line of a claim: workflow commands on standard output."""

from __future__ import annotations

from collections.abc import Iterable

from assay.ledger.annotation import annotation
from assay.ledger.claim import Verdict
from assay.report.claims import ReportedClaim

LEVELS = {Verdict.FAILS: "error", Verdict.UNVERIFIED: "error", Verdict.STALE: "warning", Verdict.PENDING: "notice"}
"""Level of an annotation by verdict; a claim that holds needs none."""


def workflow_commands(claims: Iterable[ReportedClaim]) -> str:
    """One line for each claim that does not simply hold, and one for each whose order of freeze and run is in doubt.

    The syntax is that of GitHub's workflow commands, percent-encoded.
    """
    lines = []
    for claim in claims:
        if claim.verdict in LEVELS:
            lines.append(_line(claim, LEVELS[claim.verdict], claim.verdict, claim.note or claim.verdict.meaning))
        if claim.doubt:
            lines.append(_line(claim, "warning", f"order {', '.join(claim.order)}", claim.doubt))
    return "".join(lines)


def _line(claim: ReportedClaim, level: str, title: str, message: str) -> str:
    command = annotation(
        level, path=claim.file, line=claim.line, column=claim.column, title=f"{claim.id} {title}", message=message
    )
    return f"{command}\n"
