"""The first paragraph in words: right in number, and nothing that does not hold is left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.ledger.claim import Verdict
from assay.report.study import Study
from assay.report.summary import counted, evidence_in_words, findings, listed, verdict_in_words


def of(study: Study, *verdicts: Verdict) -> Study:
    """The study with claims of these verdicts."""
    claims = tuple(
        replace(study.claims[at], id=f"E{at}", verdict=verdict) for at, verdict in enumerate(verdicts, start=1)
    )
    return replace(study, claims=claims)


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ((), "No claim speaks of this study yet: nothing that a text says about it is checked."),
        (
            (Verdict.HOLDS,) * 2,
            "All 2 claims hold: each of the 8 numbers is what a registered run says, at the printed precision.",
        ),
        ((Verdict.HOLDS, Verdict.FAILS), "1 of 2 claims holds; E2 fails."),
        ((Verdict.PENDING,), "0 of 1 claim hold; E1 is pending."),
        ((Verdict.STALE, Verdict.STALE, Verdict.FAILS), "0 of 3 claims hold; E3 fails and E1 and E2 are stale."),
    ],
)
def test_how_many_hold_and_which_do_not(study: Study, verdicts: tuple[Verdict, ...], said: str) -> None:
    assert verdict_in_words(of(study, *verdicts)) == said


def test_one_claim_with_one_number(study: Study) -> None:
    one = replace(study, claims=study.claims[:1])
    assert verdict_in_words(one) == (
        "The one claim holds: the number is what a registered run says, at the printed precision."
    )


def test_the_runs_behind_them(study: Study, representations: Study) -> None:
    assert evidence_in_words(study) == "Behind them stand 3 registered runs (tiers small and tiny), all exploratory."
    assert evidence_in_words(representations).endswith("all exploratory. Nothing is stale, pending or failed.")
    assert evidence_in_words(replace(study, runs=())) == "No run is registered."


def test_the_first_claim_of_each_section_is_the_finding(study: Study) -> None:
    assert [claim.id for claim in findings(study)] == ["E1", "E3"]


def test_words_are_joined_as_people_do() -> None:
    assert [listed(words) for words in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    assert [counted(number, "row") for number in (0, 1, 1234)] == ["0 rows", "1 row", "1,234 rows"]
