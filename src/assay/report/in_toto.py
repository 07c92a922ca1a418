"""Verdicts as an in-toto statement, to be signed by whoever checked them (cosign attest-blob, gh attestation).

Subjects are the manifests of the runs that claims read, which hold the digests of all their files, and the texts that
cite claims; the configuration is the claim files. Sources: https://in-toto.io/Statement/v1 and the predicate
https://in-toto.io/attestation/test-result/v0.1. The statement is not signed: it says what was found, not who found it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from assay.errors import ClaimError
from assay.ledger.claim import Verdict
from assay.report.claims import ReportedClaim
from assay.runs.registry import Record
from assay.runs.storage import file_digest

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"


def statement(
    claims: Sequence[ReportedClaim], *, repository: Path, record: Record, texts: Iterable[Path]
) -> dict[str, Any]:
    """The statement; PASSED when every claim holds, WARNED when the rest is stale or pending, else FAILED.

    Raises:
        ClaimError: there is no claim, or neither a run nor a text to speak of, so that nothing was tested.
        RecordError: a file that was tested cannot be read.
    """
    if not claims:
        raise ClaimError("export in-toto: there is no claim under claims/, so nothing was tested. Write one first.")
    runs = sorted({run for claim in claims for run in claim.runs})
    subjects = _described([*map(record.manifest_path, runs), *texts], repository)
    if not subjects:
        raise ClaimError(
            "export in-toto: no claim could open a run, and no text cites one: there is nothing to attest."
        )
    passed, warned, failed = (
        [claim.id for claim in claims if claim.verdict in chosen]
        for chosen in ((Verdict.HOLDS,), (Verdict.STALE, Verdict.PENDING), (Verdict.FAILS, Verdict.UNVERIFIED))
    )
    return {
        "_type": STATEMENT,
        "subject": subjects,
        "predicateType": PREDICATE,
        "predicate": {
            "result": "FAILED" if failed else "WARNED" if warned else "PASSED",
            "configuration": _described({repository / claim.file for claim in claims}, repository),
            "passedTests": passed,
            "warnedTests": warned,
            "failedTests": failed,
        },
    }


def _described(paths: Iterable[Path], repository: Path) -> list[dict[str, Any]]:
    """Resource descriptors of the files that are there, by path in the repository."""
    return [
        {"name": path.relative_to(repository).as_posix(), "digest": {"sha256": file_digest(path)}}
        for path in sorted(paths)
        if path.is_file()
    ]
