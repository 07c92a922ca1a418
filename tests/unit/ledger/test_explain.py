"""What a failing claim says, on runs as they lie on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ClaimError, EvidenceError
from assay.ledger.citations import citations_in
from assay.ledger.claim import Claim, ClaimMark, Kind, RunMark, Verdict
from assay.ledger.evidence import Evidence, EvidenceStore
from assay.ledger.explain import describe, explain
from assay.ledger.judge import judge, pending
from assay.ledger.sentence import read_sentence
from assay.runs import Count, Record
from assay.runs.source import module_digests
from tests.unit.runs.completed_run import complete

RUN = RunMark("study.effect", "tiny")
RUN_ID = "study.effect_tiny_5f0c1e9b2a77"
NUMBERS = {"wins": Count(13, 20), "loss": 0.5, "nan": float("nan")}
SOURCE = Path("experiments/study/effect.py")


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    """One registered run and the source that it ran."""
    (tmp_path / SOURCE).parent.mkdir(parents=True)
    (tmp_path / SOURCE).write_text("LIMIT = 3\n")
    record = Record(tmp_path / "experiments")
    modules = module_digests("experiments.study.effect", tmp_path)
    complete(record, "study.effect", run_id=RUN_ID, numbers=NUMBERS, modules=modules)
    record.register(RUN_ID, why="the test")
    return EvidenceStore(tmp_path / "experiments", tmp_path)


@pytest.fixture
def stale(store: EvidenceStore, tmp_path: Path) -> EvidenceStore:
    """The same run after its source changed."""
    (tmp_path / SOURCE).write_text("LIMIT = 40\n")
    return store


def claim(sentence: str, **mark: object) -> Claim:
    return Claim(ClaimMark("M7", **mark), read_sentence(sentence), RUN, "claims/test_a.py", 4, "test_it")


def test_the_example_of_the_design(store: EvidenceStore) -> None:
    one = claim("The plan wins in {wins: 14/20} directions.")
    citations = citations_in("\n" * 40 + "The plan wins in 14/20 directions (M7).", "README.md")
    judgement = judge(one, Evidence(store, RUN), citations=citations)
    assert explain(judgement, line_of=lambda binding: 9, citations=citations) == (
        "M7  FAILS  claims/test_a.py:9\n"
        "    printed     14/20\n"
        "    registered  13/20   study.effect -> wins\n"
        "    run         study.effect_tiny_5f0c1e9b2a77, completed 2026-11-30T18:04Z, commit 1a2b3c4 (clean)\n"
        "    the text    README.md:41 prints 14/20 as well\n"
        "    what to do  correct the sentence, or --claims-accept M7 writes the registered numbers"
    )


def test_failures_outweigh_missing_evidence_and_both_are_told(store: EvidenceStore) -> None:
    judgement = judge(claim("{wins: 14/20} {gone: 1} {nan: 2}"), Evidence(store, RUN))
    assert judgement.verdict is Verdict.FAILS
    text = explain(judgement, line_of=lambda binding: 9)
    assert f"absent: {RUN_ID} has no value 'gone'" in text
    assert "non-finite" in text


def test_only_matching_claims_are_stale(stale: EvidenceStore) -> None:
    assert judge(claim("{wins: 13/20}"), Evidence(stale, RUN)).verdict is Verdict.STALE
    assert judge(claim("{wins: 14/20}"), Evidence(stale, RUN)).verdict is Verdict.FAILS


def test_pending_is_a_kind_of_its_own() -> None:
    judgement = pending(claim("Later.", pending="no node"))
    assert (judgement.verdict, judgement.kind, judgement.note) == (Verdict.PENDING, Kind.PENDING, "no node")


def test_reads_are_recorded_in_their_order(store: EvidenceStore) -> None:
    evidence = Evidence(store, RUN)
    assert evidence["loss"] == 0.5
    evidence.bind(derived=2)
    judgement = judge(claim("{wins: 13/20} of {derived: 2}, {= 5}"), evidence)
    assert judgement.keys == ("loss", "wins", "derived (derived)", "= 5")
    assert judgement.verdict is Verdict.HOLDS


def test_a_bound_name_is_bound_once_and_hides_no_key(store: EvidenceStore) -> None:
    evidence = Evidence(store, RUN)
    evidence.bind(loss=1)
    with pytest.raises(ClaimError, match="bound already"):
        evidence.bind(loss=2)
    assert judge(claim("{loss: 1}"), evidence).verdict is Verdict.FAILS


def test_a_lost_sign_is_shown_and_a_stale_claim_says_how_to_run_again(
    store: EvidenceStore, stale: EvidenceStore
) -> None:
    text = explain(judge(claim("{loss: -0.5}"), Evidence(store, RUN)), line_of=lambda binding: 9)
    assert "    registered  +0.5   study.effect -> loss" in text
    outgrown = judge(claim("{wins: 13/20}"), Evidence(stale, RUN))
    assert outgrown.note.endswith('; assay run study.effect --tier tiny --register "..."')


def test_a_missing_run_is_told_once_for_all_braces(store: EvidenceStore) -> None:
    one = claim("{a: 1} {b: 2} {c: 3}")
    bare = Claim(one.mark, one.sentence, None, one.path, one.line, one.qualname)
    judgement = judge(bare, Evidence(store, None))
    text = explain(judgement, line_of=lambda binding: 9)
    assert text.count("no run speaks for this claim") == 1
    assert text.endswith("    what to do  correct the claim, or the text that cites it")


def test_a_name_that_was_never_bound_says_how_to_bind_it(store: EvidenceStore) -> None:
    with pytest.raises(
        EvidenceError, match=r"no value 'los'\. Did you mean loss\? Or bind .* evidence\.bind\(los=\.\.\.\)"
    ):
        Evidence(store, RUN).read("los")


def test_without_a_run_nothing_can_be_read(store: EvidenceStore) -> None:
    with pytest.raises(ClaimError, match="no run speaks for this claim"):
        Evidence(store, None)["loss"]


def test_a_run_is_described_on_one_line(store: EvidenceStore) -> None:
    assert describe(store.open(RUN)) == f"{RUN_ID}, completed 2026-11-30T18:04Z, commit 1a2b3c4 (clean)"
