"""Verdicts in SARIF 2.1.0, which code hosts and editors show beside the line of a claim.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0,
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from assay import __version__
from assay.ledger.claim import Verdict
from assay.report.claims import ReportedClaim
from assay.runs.storage import digest

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Verdict.FAILS: "error", Verdict.UNVERIFIED: "error", Verdict.STALE: "warning", Verdict.PENDING: "note"}
_ORDER = "ORDER"
_RULES = {str(verdict): (level, f"A claim {verdict}: {verdict.meaning}.") for verdict, level in _LEVELS.items()} | {
    _ORDER: (
        "warning",
        "A claim on a confirmatory run whose freeze cannot be shown to have come first, or was not kept in all.",
    )
}


def sarif(claims: Sequence[ReportedClaim]) -> str:
    """One result for each claim that does not simply hold, and one for each whose order is in doubt.

    The counts of all verdicts are properties of the run.
    """
    results = [_result(one, one.verdict, one.note or one.verdict.meaning) for one in claims if one.verdict in _LEVELS]
    results += [_result(one, _ORDER, f"order {', '.join(one.order)}: {one.doubt}") for one in claims if one.doubt]
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "assay", "version": __version__, "rules": [_rule(one) for one in _RULES]}},
                "columnKind": "unicodeCodePoints",
                "results": results,
                "properties": {"verdicts": dict(sorted(Counter(str(claim.verdict) for claim in claims).items()))},
            }
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _rule(name: str) -> dict[str, Any]:
    level, meaning = _RULES[name]
    return {"id": name, "shortDescription": {"text": meaning}, "defaultConfiguration": {"level": level}}


def _result(claim: ReportedClaim, rule: str, message: str) -> dict[str, Any]:
    return {
        "ruleId": str(rule),
        "ruleIndex": list(_RULES).index(str(rule)),
        "level": _RULES[str(rule)][0],
        "message": {"text": f"{claim.id}: {message}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(claim.file), "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": claim.line, "startColumn": claim.column},
                },
                "logicalLocations": [{"name": claim.id, "kind": "function"}],
            }
        ],
        "partialFingerprints": {"claim/v1": digest({"claim": claim.id, "verdict": str(rule)})},
    }
