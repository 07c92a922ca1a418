"""A badge counts verdicts, and its colour is that of the worst."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from assay.ledger.claim import Verdict
from assay.report.badge import badge, said_of
from tests.unit.report.test_page import contrast


@pytest.mark.parametrize(
    ("verdicts", "said", "colour"),
    [
        (["HOLDS"] * 12, "12 hold", "#1a6b32"),
        (["HOLDS"], "1 holds", "#1a6b32"),
        (["HOLDS", "PENDING"], "1 holds, 1 pending", "#1a6b32"),
        (["HOLDS", "STALE"], "1 holds, 1 stale", "#7d5200"),
        (["FAILS", "HOLDS", "HOLDS"], "2 hold, 1 fails", "#a82019"),
        (["UNVERIFIED"], "1 unverified", "#a82019"),
        (["PENDING"], "1 pending", "#4b545d"),
        ([], "none", "#4b545d"),
    ],
)
def test_it_says_how_many_in_words_and_colour(verdicts: list[str], said: str, colour: str) -> None:
    drawn = ElementTree.fromstring(badge(verdicts))
    assert drawn.attrib["aria-label"] == f"claims: {said}"
    names = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert names == ["claims", said]
    fills = [element.attrib.get("fill") for element in drawn.iter("{http://www.w3.org/2000/svg}rect")]
    assert fills[-1] == colour
    assert contrast(colour, "#ffffff") >= 4.5


def test_an_unknown_verdict_is_refused() -> None:
    with pytest.raises(ValueError, match="MAYBE"):
        badge(["MAYBE"])


def test_nothing_is_counted_twice() -> None:
    assert said_of(dict.fromkeys(Verdict, 0)) == "none"
