"""The statement names what was tested by digest, and is as good as the worst verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.errors import ClaimError
from assay.ledger.claim import Verdict
from assay.report.claims import ReportedClaim
from assay.report.in_toto import PREDICATE, STATEMENT, statement
from assay.report.study import Study
from assay.runs import Record
from assay.runs.storage import file_digest


def stated(claims: tuple[ReportedClaim, ...], template: Path, *texts: Path) -> Any:
    return statement(claims, repository=template, record=Record(template / "experiments"), texts=texts)


def test_subjects_are_manifests_and_texts_with_their_digests(study: Study, template: Path) -> None:
    found = stated(study.claims, template, template / "README.md")
    assert (found["_type"], found["predicateType"]) == (STATEMENT, PREDICATE)
    names = {one["name"] for one in found["subject"]}
    assert names == {"README.md", *(f"experiments/manifests/{run.run_id}.json" for run in study.runs)}
    for one in (*found["subject"], *found["predicate"]["configuration"]):
        assert one["digest"] == {"sha256": file_digest(template / one["name"])}
    assert [one["name"] for one in found["predicate"]["configuration"]] == ["claims/study/test_study.py"]


@pytest.mark.parametrize(
    ("verdicts", "result"),
    [
        ((Verdict.HOLDS,), "PASSED"),
        ((Verdict.HOLDS, Verdict.PENDING), "WARNED"),
        ((Verdict.HOLDS, Verdict.STALE), "WARNED"),
        ((Verdict.PENDING, Verdict.FAILS, Verdict.HOLDS), "FAILED"),
        ((Verdict.HOLDS, Verdict.UNVERIFIED), "FAILED"),
    ],
)
def test_the_worst_verdict_is_the_result(
    study: Study, template: Path, verdicts: tuple[Verdict, ...], result: str
) -> None:
    chosen = tuple(claim for claim in study.claims if claim.verdict in verdicts)
    predicate = stated(chosen, template, template / "README.md")["predicate"]
    assert predicate["result"] == result
    named = (*predicate["passedTests"], *predicate["warnedTests"], *predicate["failedTests"])
    assert sorted(named) == sorted(claim.id for claim in chosen)


def test_nothing_tested_is_no_statement(study: Study, template: Path) -> None:
    with pytest.raises(ClaimError, match="no claim under claims/"):
        stated((), template)
    with pytest.raises(ClaimError, match="nothing to attest"):
        stated(study.with_verdict(Verdict.PENDING), template)
