"""Markers of claims and the order of ids."""

from __future__ import annotations

import pytest

from assay.errors import ClaimError
from assay.ledger.claim import ClaimMark, Kind, RunMark, Verdict, claim_mark, natural, run_mark


def test_a_marker_is_read() -> None:
    assert claim_mark(("M7",), {"section": "7", "kind": "confirmatory"}) == ClaimMark(
        "M7", section="7", kind=Kind.CONFIRMATORY
    )
    assert run_mark(("a.b",), {"tier": "open"}) == RunMark("a.b", "open")


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "nothing came"),
        (("M7", "M8"), {}, "one id"),
        ((7,), {}, "one id"),
        (("7",), {}, "one id"),
        (("M 7",), {}, "one id"),
        (("M7|",), {}, "one id"),
        (("M7",), {"sektion": "7"}, "unknown sektion"),
        (("M7",), {"section": 7}, "must be a text"),
        (("M7",), {"pending": " "}, "must be a text"),
        (("M7",), {"kind": "proof"}, "not one of"),
        (("M7",), {"kind": "theorem"}, "names what carries it"),
        (("M7",), {"pending": "later", "theorem": "t"}, "exclude each other"),
    ],
)
def test_a_wrong_marker_is_refused(args: tuple, kwargs: dict, message: str) -> None:
    with pytest.raises(ClaimError, match=message):
        claim_mark(args, kwargs)


@pytest.mark.parametrize(("args", "kwargs"), [((), {}), ((1,), {}), (("",), {}), (("a", "b"), {})])
def test_a_wrong_run_marker_is_refused(args: tuple, kwargs: dict) -> None:
    with pytest.raises(ClaimError, match="registered names one experiment"):
        run_mark(args, kwargs)


def test_a_word_that_a_run_marker_does_not_take_is_named() -> None:
    with pytest.raises(ClaimError, match="registered takes no teir; it is written "):
        run_mark(("a",), {"teir": "full"})


def test_a_tier_is_text() -> None:
    with pytest.raises(ClaimError, match="must be a text"):
        run_mark(("a",), {"tier": 1})


def test_ids_sort_as_people_count() -> None:
    assert sorted(["M10", "C19", "M2", "M2b"], key=natural) == ["C19", "M2", "M2b", "M10"]


def test_every_verdict_has_a_meaning() -> None:
    assert all(verdict.meaning for verdict in Verdict)
