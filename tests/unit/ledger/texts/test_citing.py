"""Sentences, and the claims that speak for them."""

from __future__ import annotations

import pytest

from assay.ledger.texts.citing import sentence_spans, sentences
from assay.ledger.texts.markdown import read_markdown


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three? (Four.) Five", 5),
        ("See e.g. Smith et al. 2019, Fig. 3 and J. Doe vs. Roe.", 1),
        ("It is 0.5. Then 3 of 4. mBERT is not upper.", 2),
        ("Nats (M7). And (M8). It holds. (M9) Next.", 4),
        ("It holds. (M9) shows it.", 2),
        ("", 1),
    ],
)
def test_sentences(text: str, count: int) -> None:
    spans = sentence_spans(text)
    assert len(spans) == count
    assert "".join(text[slice(*span)] for span in spans) == text


def cited(text: str, **sizes: int) -> list[tuple[tuple[str, ...], list[str]]]:
    (passage,), _ = read_markdown(text)
    return [(one.claims, [other.claim for other in one.unknown]) for one in sentences(passage, sizes)]


def test_a_citation_speaks_for_its_sentence_and_a_long_claim_for_more() -> None:
    text = "A is 1. B is 2. C is 3 (M1). D (M2) is 4."
    assert [one for one, _ in cited(text, M1=1, M2=3)] == [(), (), ("M1",), ("M2",)]
    assert [one for one, _ in cited(text, M1=2, M2=3)] == [(), ("M1",), ("M1",), ("M2",)]


def test_lists_and_strangers() -> None:
    assert cited("A (M1, M2; M9 and M1).", M1=1, M2=1) == [(("M1", "M2"), ["M9"])]
    assert cited("A (see M1), (this), (L0) and `(M1)`.", M1=1) == [((), [])]


def test_ids_are_whole_and_tell_case() -> None:
    known = {"x-y": 1, "x_y": 1, "X_Y": 1, "CON": 1, "a" * 300: 1}
    for claim in known:
        assert cited(f"It is 5 ({claim}).", **known) == [((claim,), [])]
