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


def sarif(claims: Sequence[ReportedClaim]) -> str:
    """One result for each claim that does not simply hold; the counts of all verdicts are properties of the run."""
    rules = list(_LEVELS)
    document = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "assay", "version": __version__, "rules": [_rule(one) for one in rules]}},
                "columnKind": "unicodeCodePoints",
                "results": [_result(claim, rules) for claim in claims if claim.verdict in _LEVELS],
                "properties": {"verdicts": dict(sorted(Counter(str(claim.verdict) for claim in claims).items()))},
            }
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _rule(verdict: Verdict) -> dict[str, Any]:
    return {
        "id": str(verdict),
        "shortDescription": {"text": f"A claim {verdict}: {verdict.meaning}."},
        "defaultConfiguration": {"level": _LEVELS[verdict]},
    }


def _result(claim: ReportedClaim, rules: Sequence[Verdict]) -> dict[str, Any]:
    return {
        "ruleId": str(claim.verdict),
        "ruleIndex": rules.index(claim.verdict),
        "level": _LEVELS[claim.verdict],
        "message": {"text": f"{claim.id}: {claim.note or claim.verdict.meaning}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": quote(claim.file), "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": claim.line, "startColumn": claim.column},
                },
                "logicalLocations": [{"name": claim.id, "kind": "function"}],
            }
        ],
        "partialFingerprints": {"claim/v1": digest({"claim": claim.id, "verdict": str(claim.verdict)})},
    }
