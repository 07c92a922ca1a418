"""Verdicts as GitHub shows them beside the line of a claim: workflow commands on standard output."""

from __future__ import annotations

from collections.abc import Iterable

from assay.ledger.claim import Verdict
from assay.report.claims import ReportedClaim

LEVELS = {Verdict.FAILS: "error", Verdict.UNVERIFIED: "error", Verdict.STALE: "warning", Verdict.PENDING: "notice"}
"""Level of an annotation by verdict; a claim that holds needs none."""


def workflow_commands(claims: Iterable[ReportedClaim]) -> str:
    """One line for each claim that does not simply hold (GitHub's workflow command syntax, percent-encoded)."""
    return "".join(
        f"::{LEVELS[claim.verdict]} file={_value(claim.file)},line={claim.line},col={claim.column},"
        f"title={_value(f'{claim.id} {claim.verdict}')}::{_text(claim.note or claim.verdict.meaning)}\n"
        for claim in claims
        if claim.verdict in LEVELS
    )


def _text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
