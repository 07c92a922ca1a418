"""Claims of a report: each number beside the registered one, with the run, the place and the verdict of the session."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.ledger.claim import Verdict
from assay.ledger.printed import parse
from assay.ledger.sentence import read_sentence
from assay.report.claims import cited_texts, closer, parts, read_claims
from assay.report.study import Study
from assay.runs import Count, Record
from assay.stats.estimate import Estimate
from tests.unit.report.study_repository import write

VERDICTS = {
    "E1": "HOLDS",
    "E2": "HOLDS",
    "E3": "FAILS",
    "E4": "PENDING",
    "E5": "UNVERIFIED",
    "E6": "STALE",
    "E7": "HOLDS",
}


def test_every_claim_has_the_verdict_of_the_session(study: Study) -> None:
    assert {claim.id: str(claim.verdict) for claim in study.claims} == VERDICTS


def test_each_number_stands_beside_the_registered_one(study: Study) -> None:
    claims = {claim.id: claim for claim in study.claims}
    numbers = {number.key: number for number in claims["E2"].numbers}
    assert {key: (number.registered, number.closer) for key, number in numbers.items()} == {
        "cka": ("0.85 [0.83, 0.87]", "0.8512 [0.8312, 0.8712]"),
        "delta.median": ("-0.012", "-0.01234"),
        "share": ("87.5%", "87.500%"),
        "p": ("< 0.001", "0.0004"),
        "best": ("SmolLM2-135M", "SmolLM2-135M"),
    }
    assert all(number.holds for number in numbers.values())
    assert numbers["cka"].value == Estimate(0.8512345, 0.8312345, 0.8712345, 100)


def test_a_number_that_differs_is_told_apart_and_a_derived_one_has_no_value(study: Study) -> None:
    numbers = {number.key: number for claim in study.claims if claim.id == "E3" for number in claim.numbers}
    assert (numbers["items"].registered, numbers["items"].holds) == ("3,000", False)
    assert (numbers["ratio"].registered, numbers["ratio"].value) == ("1.50", None)


def test_the_place_is_that_of_the_sentence(study: Study, template: Path) -> None:
    lines = (template / "claims/study/test_study.py").read_text().splitlines()
    for claim in study.claims:
        assert lines[claim.line - 1].lstrip().startswith('"""')
        assert lines[claim.line - 2].startswith(f"def test_{claim.id.lower()}")


def test_a_sentence_falls_into_text_numbers_and_constants() -> None:
    found = parts(read_sentence("In {a.b: 1/2} of\n  {= 3} {{sets}}. More."))
    assert [part.text for part in found] == ["In ", "1/2", " of ", "3", " {sets}. More."]
    assert [(part.key, part.constant) for part in found if part.key or part.constant] == [("a.b", False), ("", True)]


def test_the_first_sentence_is_cut_at_its_end(study: Study) -> None:
    claim = next(claim for claim in study.claims if claim.id == "E2")
    assert "".join(part.text for part in claim.first_sentence).endswith("p < 0.001.")


@pytest.mark.parametrize(
    ("printed", "value", "text"),
    [
        ("14/20", Count(13, 20), "13/20"),
        ("+0.1", 0.12345, "+0.123"),
        ("1.2e-3", 0.00123456, "1.235e-3"),
        ("3,000", 3000, "3,000"),
        ("0.85 +- 0.02", Estimate(0.851, 0.8312, 0.8712, 9), "0.8510 +- 0.0200"),
        ("supported", False, "not supported"),
        (".25", 0.2468, ".2468"),
    ],
)
def test_two_digits_more_than_printed(printed: str, value: object, text: str) -> None:
    assert closer(parse(printed), value) == text


def test_a_claim_whose_file_cannot_be_collected_is_not_lost(repository: Path) -> None:
    write(repository, "claims/study/test_study.py", "import no_such_module\n" + _claims(repository))
    found = read_claims(repository, Record(repository / "experiments"))
    assert [claim.id for claim in found] == list(VERDICTS)
    assert {claim.verdict for claim in found} == {Verdict.UNVERIFIED}
    assert "did not run" in found[0].note


def _claims(repository: Path) -> str:
    return (repository / "claims/study/test_study.py").read_text()


def test_texts_that_cite_a_claim_are_found(study: Study, template: Path) -> None:
    assert [path.name for path in cited_texts(template, study.claims)] == ["README.md"]
    assert cited_texts(template, ()) == []
