"""What a failing claim says, on an opened run made by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from assay.errors import ClaimError, EvidenceError
from assay.ledger.claim import Claim, ClaimMark, Kind, RunMark, Verdict
from assay.ledger.evidence import Evidence, OpenedRun
from assay.ledger.explain import describe, explain
from assay.ledger.judge import judge, pending
from assay.ledger.sentence import read_sentence
from assay.ledger.text import citations_in
from assay.runs import Count

RUN = RunMark("study.effect", "tiny")
MANIFEST = SimpleNamespace(
    experiment="study.effect",
    kind="exploratory",
    tier="tiny",
    tag="tiny",
    ended="2026-11-30T19:04:00+01:00",
    commit="1a2b3c4d",
    dirty=False,
)


class Results:
    """Numbers by key."""

    run_id = "study.effect_tiny_5f0c1e9b2a77"
    manifest = MANIFEST

    def value(self, key: str) -> object:
        values = {"wins": Count(13, 20), "loss": 0.5, "nan": float("nan")}
        if key not in values:
            raise EvidenceError(f"no value {key!r}", reason="absent")
        return values[key]


class Record:
    """A record whose run may be stale."""

    def __init__(self, changed: tuple[str, ...] = ()) -> None:
        self.changed = changed

    def stale(self, run_id: str, repository: object) -> list[str]:
        return list(self.changed)


class Store:
    """Always the same run."""

    def __init__(self, changed: tuple[str, ...] = ()) -> None:
        self.run = OpenedRun(Record(changed), None, Results())

    def open(self, wanted: RunMark) -> OpenedRun:
        return self.run


def claim(sentence: str, **mark: object) -> Claim:
    return Claim(ClaimMark("M7", **mark), read_sentence(sentence), RUN, "claims/test_a.py", 4, "test_it")


def test_the_example_of_the_design() -> None:
    one = claim("The plan wins in {wins: 14/20} directions.")
    citations = citations_in("\n" * 40 + "The plan wins in 14/20 directions (M7).", "README.md")
    judgement = judge(one, Evidence(Store(), RUN), citations=citations)
    assert explain(judgement, line_of=lambda binding: 9, citations=citations) == (
        "M7  FAILS  claims/test_a.py:9\n"
        "    printed     14/20\n"
        "    registered  13/20   study.effect -> wins\n"
        "    run         study.effect_tiny_5f0c1e9b2a77, completed 2026-11-30T18:04Z, commit 1a2b3c4 (clean)\n"
        "    the text    README.md:41 prints 14/20 as well\n"
        "    what to do  correct the sentence, or --claims-accept M7 writes the registered numbers"
    )


def test_failures_outweigh_missing_evidence_and_both_are_told() -> None:
    judgement = judge(claim("{wins: 14/20} {gone: 1} {nan: 2}"), Evidence(Store(), RUN))
    assert judgement.verdict is Verdict.FAILS
    text = explain(judgement, line_of=lambda binding: 9)
    assert "absent: no value 'gone'" in text
    assert "non-finite" in text


def test_only_matching_claims_are_stale() -> None:
    assert judge(claim("{wins: 13/20}"), Evidence(Store(("experiments.a",)), RUN)).verdict is Verdict.STALE
    assert judge(claim("{wins: 14/20}"), Evidence(Store(("experiments.a",)), RUN)).verdict is Verdict.FAILS


def test_pending_is_a_kind_of_its_own() -> None:
    judgement = pending(claim("Later.", pending="no node"))
    assert (judgement.verdict, judgement.kind, judgement.note) == (Verdict.PENDING, Kind.PENDING, "no node")


def test_reads_are_recorded_in_their_order() -> None:
    evidence = Evidence(Store(), RUN)
    assert evidence["loss"] == 0.5
    evidence.bind(derived=2)
    judgement = judge(claim("{wins: 13/20} of {derived: 2}, {= 5}"), evidence)
    assert judgement.keys == ("loss", "wins", "derived (derived)", "= 5")
    assert judgement.verdict is Verdict.HOLDS


def test_a_bound_name_is_bound_once_and_hides_no_key() -> None:
    evidence = Evidence(Store(), RUN)
    evidence.bind(loss=1)
    with pytest.raises(ClaimError, match="bound already"):
        evidence.bind(loss=2)
    assert judge(claim("{loss: 1}"), evidence).verdict is Verdict.FAILS


def test_a_lost_sign_is_shown_and_a_stale_claim_says_how_to_run_again() -> None:
    text = explain(judge(claim("{loss: -0.5}"), Evidence(Store(), RUN)), line_of=lambda binding: 9)
    assert "    registered  +0.5   study.effect -> loss" in text
    stale = judge(claim("{wins: 13/20}"), Evidence(Store(("experiments.a",)), RUN))
    assert stale.note.endswith('; assay run study.effect --tier tiny --register "..."')


def test_a_missing_run_is_told_once_for_all_braces() -> None:
    one = claim("{a: 1} {b: 2} {c: 3}")
    bare = Claim(one.mark, one.sentence, None, one.path, one.line, one.qualname)
    judgement = judge(bare, Evidence(Store(), None))
    text = explain(judgement, line_of=lambda binding: 9)
    assert text.count("no run speaks for this claim") == 1
    assert text.endswith("    what to do  correct the claim, or the text that cites it")


def test_a_name_that_was_never_bound_says_how_to_bind_it() -> None:
    with pytest.raises(EvidenceError, match=r"no value 'los', or bind it in the body: evidence\.bind\(los=\.\.\.\)"):
        Evidence(Store(), RUN).read("los")


def test_without_a_run_nothing_can_be_read() -> None:
    with pytest.raises(ClaimError, match="no run speaks for this claim"):
        Evidence(Store(), None)["loss"]


def test_a_run_is_described_on_one_line() -> None:
    store = Store()
    store.run.manifest = SimpleNamespace(**vars(MANIFEST) | {"commit": None, "ended": None})
    assert describe(store.run) == "study.effect_tiny_5f0c1e9b2a77, no commit"
