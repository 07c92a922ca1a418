"""What a lens shows, and what is concluded from the verdicts under it: on real runs, without pytest in between."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from assay.errors import EvidenceError
from assay.ledger.claim import Claim, ClaimMark, RunMark
from assay.ledger.evidence import Evidence, EvidenceStore
from assay.ledger.judge import Judgement, judge
from assay.ledger.mutation import Effects, Lens, Move, effects, moves_of
from assay.ledger.sentence import read_sentence
from assay.runs import Count, Record
from assay.stats.estimate import Estimate
from tests.unit.runs.completed_run import complete

RUN = RunMark("merging.transport", "tiny")
NUMBERS = {"wins": Count(14, 20), "loss": 0.5, "cka": Estimate(0.85, 0.83, 0.87, 100), "H2": True, "value.low": 2}
Body = Callable[[Evidence], None]


@pytest.fixture
def store(tmp_path: Path) -> EvidenceStore:
    """A record in which one run of merging.transport is registered."""
    record = Record(tmp_path / "experiments")
    table = pd.DataFrame({"pair": ["a", "b"], "delta": [0.5, -0.25]})
    record.register(complete(record, numbers=NUMBERS, tables={"pairs": table}), why="the test")
    return EvidenceStore(tmp_path / "experiments", tmp_path)


def claim(written: str) -> Claim:
    return Claim(ClaimMark("M1"), read_sentence(written), RUN, "claims/test_m.py", 3, "test_m1")


def outcome(store: EvidenceStore, written: str, body: Body) -> Effects:
    """Effects of all moves on a claim whose body is a function."""
    one, seen = claim(written), Lens()

    def run(lens: Lens) -> Judgement:
        evidence = Evidence(store, RUN, lens)
        try:
            body(evidence)
        except (AssertionError, EvidenceError, KeyError) as error:
            return judge(one, evidence, raised=error)
        return judge(one, evidence)

    assert not run(seen).failed
    return effects(one, seen, run)


def nothing(evidence: Evidence) -> None:
    pass


def test_a_lens_shows_one_value_moved_and_its_parts_with_it(store: EvidenceStore) -> None:
    lens = Lens(Move("wins", "wins", "15/20", Count(15, 20)))
    evidence = Evidence(store, RUN, lens)
    assert evidence["wins"] == Count(15, 20)
    assert evidence["wins.share"] == 0.75
    assert evidence["loss"] == 0.5
    assert list(evidence.reads) == ["wins", "wins.share", "loss"]
    assert Evidence(store, RUN)["wins"] == Count(14, 20)


def test_a_moved_value_that_is_not_finite_cannot_be_read(store: EvidenceStore) -> None:
    evidence = Evidence(store, RUN, Lens(Move("loss", "loss", "NaN", float("nan"), finite=False)))
    with pytest.raises(EvidenceError, match="loss is nan, which is not finite"):
        evidence["loss"]


def test_a_key_that_only_looks_like_a_part_is_a_number_of_its_own(store: EvidenceStore) -> None:
    seen = Lens()
    Evidence(store, RUN, seen)["value.low"]
    assert {move.target for move in moves_of(claim("Good."), seen)} == {"value.low"}


def test_a_part_is_moved_in_its_whole(store: EvidenceStore) -> None:
    seen = Lens()
    Evidence(store, RUN, seen)["cka.low"]
    moves = moves_of(claim("{cka.low: 0.83}"), seen)
    assert {(move.subject, move.target) for move in moves} == {("cka.low", "cka")}
    assert [round(move.value.low, 4) for move in moves if move.finite] == [0.8355, 0.8245]


def test_moves_come_in_the_same_order_each_time(store: EvidenceStore) -> None:
    def said() -> list[tuple[str, str]]:
        seen = Lens()
        evidence = Evidence(store, RUN, seen)
        evidence.table("pairs"), evidence["cka"], evidence["H2"], evidence["wins"]
        return [(move.subject, move.said) for move in moves_of(claim("{wins: 14/20}"), seen)]

    assert said() == said()
    assert list(dict.fromkeys(subject for subject, _ in said())) == ["cka", "H2", "wins", "table pairs"]


def test_counts_of_moves_and_faults(store: EvidenceStore) -> None:
    found = outcome(store, "{wins: 14/20}, {loss: 0.5}", nothing)
    assert (found.tried, found.noticed, found.faults) == (7, 7, ())
    read = outcome(store, "{wins: 14/20}", lambda evidence: evidence["loss"])
    assert (read.tried, read.noticed) == (9, 5)
    assert read.faults == ("loss had no effect: the claim holds with -0.5, 500.0, 0.0005, 0.5005",)
    assert dict(read.properties())["claim_faults"] == read.faults[0]
    assert read.explain(claim("{wins: 14/20}")).splitlines() == [
        "M1  CANNOT FAIL  claims/test_m.py:3",
        "    why         loss had no effect: the claim holds with -0.5, 500.0, 0.0005, 0.5005",
        "    tried       9 moves, 5 noticed",
        "    what to do  print it in braces, assert what the sentence says of it, or do not read it",
    ]


def test_what_reads_nothing_that_can_be_moved_cannot_fail(store: EvidenceStore) -> None:
    def never(lens: Lens) -> Judgement:
        raise AssertionError("there is nothing to judge again")

    found = effects(claim("Good."), Lens(), never)
    assert (found.tried, found.faults) == (
        0,
        ("nothing that it read can be moved: neither a number, a word nor a table of a run decides it",),
    )
    theorem = Claim(ClaimMark("T1", theorem="by hand"), read_sentence("Good."), None, "claims/test_m.py", 3, "test_t1")
    assert effects(theorem, Lens(), never).faults == ()


def test_a_lookup_in_vain_is_no_check_of_a_table(store: EvidenceStore) -> None:
    def looks_up(evidence: Evidence) -> None:
        evidence.table("pairs").set_index("pair").loc["a"]

    def asserts(evidence: Evidence) -> None:
        assert set(evidence.table("pairs")["pair"]) == {"a", "b"}

    assert outcome(store, "Good.", looks_up).faults[0].startswith("table pairs had no effect")
    assert outcome(store, "Good.", asserts).faults == ()


def test_a_derived_number_follows_what_is_read(store: EvidenceStore) -> None:
    honest = outcome(store, "{twice: 1.0}", lambda evidence: evidence.bind(twice=2 * evidence["loss"]))
    assert honest.faults == ()
    fixed = outcome(store, "{twice: 1.0}, {loss: 0.5}", lambda evidence: evidence.bind(twice=1.0))
    assert fixed.faults == ("twice is bound to 1.0 whatever is read",)


def test_tables_of_older_and_newer_pandas_are_one(tmp_path: Path) -> None:
    pairs = {"pair": ["a", "b"], "n": [1, 2]}
    older = pd.DataFrame(pairs).astype({"pair": "object", "n": "int32"})
    newer = pd.DataFrame(pairs).astype({"pair": "str", "n": "int64"})
    record = Record(tmp_path / "experiments")
    record.register(complete(record, numbers={"x": 1}, tables={"older": older, "newer": newer}), why="the test")
    store = EvidenceStore(tmp_path / "experiments", tmp_path)
    evidence = Evidence(store, RUN)
    pd.testing.assert_frame_equal(evidence.table("older"), evidence.table("newer"))

    def body(name: str) -> Body:
        def reads(evidence: Evidence) -> None:
            assert evidence.table(name)["n"].sum() == 3

        return reads

    found = [outcome(store, "Good.", body(name)) for name in ("older", "newer")]
    assert found[0] == found[1]
    assert found[0].faults == ()
