"""Coverage of texts as lines for people, annotations for GitHub, and SARIF for code scanning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from assay import __version__
from assay.ledger.annotation import annotation
from assay.ledger.texts.coverage import Coverage, Found, Standing

_RULES = {
    "wrong-number": "A sentence cites a claim and prints a number that the claim does not print.",
    "loose-number": "A number among results that no cited claim prints.",
    "unknown-claim": "A sentence cites a claim that does not exist.",
    "not-read": "A file or a command that is not read, and in which numbers may stand.",
}


def rule(found: Found) -> str:
    """The rule that a finding breaks."""
    if found.standing is Standing.LOOSE:
        return "loose-number"
    if found.standing is Standing.UNREAD:
        return "not-read"
    return "unknown-claim" if found.why.endswith("no claim has this id") else "wrong-number"


UNBOUND = (Standing.LOOSE, Standing.WRONG, Standing.UNREAD)
"""What is listed unless everything is asked for."""


def listing(coverages: Sequence[Coverage], *, standings: Sequence[Standing] = UNBOUND) -> list[str]:
    """A line for each number that stands so, with its place and, where it is set aside, the reason."""
    return [
        f"{one.path}:{one.line}:{one.column}: {one.message}"
        for coverage in coverages
        for one in coverage.found
        if one.standing in standings
    ]


def summary(coverages: Sequence[Coverage]) -> list[tuple[str, ...]]:
    """A row for each text: bound, set aside, loose, of these among results, wrong, not read, covered."""
    return [
        (
            one.path,
            str(one.count(Standing.BOUND)),
            str(one.count(Standing.ASIDE)),
            str(one.count(Standing.LOOSE)),
            str(sum(found.standing is Standing.LOOSE for found in one.failing)),
            str(one.count(Standing.WRONG)),
            str(one.count(Standing.UNREAD)),
            "-" if one.share is None else f"{one.share:.0%}",
        )
        for one in coverages
    ]


COLUMNS = ("text", "bound", "set aside", "loose", "in results", "wrong", "not read", "covered")


def github(coverages: Sequence[Coverage]) -> Iterator[str]:
    """Workflow commands: an error for what fails a text, a notice for any other loose number or what is not read."""
    for coverage in coverages:
        for one in coverage.found:
            if one.standing in UNBOUND:
                level = "error" if one.fails else "notice"
                yield annotation(
                    level, path=one.path, line=one.line, column=one.column, title=rule(one), message=one.message
                )


def as_json(coverages: Sequence[Coverage]) -> dict[str, Any]:
    """Every number of every text, set-aside ones included."""
    texts = [
        {
            "text": one.path,
            **{str(standing): one.count(standing) for standing in Standing},
            "covered": one.share,
            "numbers": [found._asdict() for found in one.found],
        }
        for one in coverages
    ]
    return {"texts": texts, "failing": sum(len(one.failing) for one in coverages)}


def sarif(coverages: Sequence[Coverage]) -> dict[str, Any]:
    """A SARIF 2.1.0 log: an error for what fails a text, a note for any other loose number or what is not read."""
    shown = [one for coverage in coverages for one in coverage.found]
    results = [_result(one) for one in shown if one.standing in UNBOUND]
    rules = [{"id": name, "shortDescription": {"text": text}} for name, text in _RULES.items()]
    driver = {"name": "assay claims text", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _result(found: Found) -> dict[str, Any]:
    region = {"startLine": found.line, "startColumn": found.column}
    return {
        "ruleId": rule(found),
        "level": "error" if found.fails else "note",
        "message": {"text": found.message},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": quote(found.path)}, "region": region}}],
    }
