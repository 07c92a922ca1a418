"""Numbers of a claim rewritten in the sentences that cite it, and nothing else."""

from __future__ import annotations

import pytest

from assay.ledger.accept_texts import Accepted, accepted_text
from assay.ledger.coverage import Reader

OLD = "The plan wins in 45/45 pairs and in 45/45 trials, by 0.12 [0.11, 0.14] of 3,000."
NEW = "The plan wins in 44/45 pairs and in 45/45 trials, by 0.13 [0.11, 0.15] of 2,999."
OTHER = "Others win in 45/45, by 0.12."


def accept(text: str, path: str = "a.md", *, old: str = OLD, new: str = NEW) -> Accepted:
    return accepted_text(Reader({"M7": old, "M8": OTHER}), text, path, "M7", new)


def test_the_own_words_take_every_number_even_drifted_ones() -> None:
    text = (
        "In 45/45 (M8). **The plan** wins in 45/45\r\npairs and in 40/45 trials, by 0.12 [0.10, 0.14] of 3,000 (M7). "
        "45/45."
    )
    after = accept(text)
    assert after.after == text.replace(
        "45/45\r\npairs and in 40/45 trials, by 0.12 [0.10, 0.14] of 3,000",
        "44/45\r\npairs and in 45/45 trials, by 0.13 [0.11, 0.15] of 2,999",
    )
    assert after.by_hand == ()


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("By 0.12, of 3,000 (M7).", "By 0.13, of 2,999 (M7)."),
        ("An interval of [0.11, 0.14] (M7).", "An interval of [0.11, 0.15] (M7)."),
        ("First 45/45, then 45/45 (M7).", "First 44/45, then 45/45 (M7)."),
        ("Others 0.12 (M8), here 0.12 (M7).", "Others 0.12 (M8), here 0.13 (M7)."),
        ("Here 0.12 (M7), others 0.12 (M8).", "Here 0.13 (M7), others 0.12 (M8)."),
        ("As (M7) shows, 0.12.", "As (M7) shows, 0.13."),
        ("It was 0.12. It is `0.12` and L0.12 (M7).", "It was 0.12. It is `0.12` and L0.12 (M7)."),
        ("By 0.12, wrong 0.7 (M7).", "By 0.13, wrong 0.7 (M7)."),
        (
            "| a | 0.12 | 0.12 | (M7) |\n|---|---|---|---|\n| b | 0.12 | | |\n",
            "| a | 0.13 | 0.13 | (M7) |\n|---|---|---|---|\n| b | 0.12 | | |\n",
        ),
    ],
)
def test_in_other_words(text: str, after: str) -> None:
    assert accept(text) == (after, ())


def test_latex_keeps_its_spelling() -> None:
    text = "By $0.12$ of $3{,}000$ \\claimref{M7}.\n\nBy 0.12 of 3\\,000~\\claimref{M7}. Not 0.12."
    after = "By $0.13$ of $2{,}999$ \\claimref{M7}.\n\nBy 0.13 of 2\\,999~\\claimref{M7}. Not 0.12."
    assert accept(text, "a.tex") == (after, ())


@pytest.mark.parametrize(
    ("text", "number"),
    [("It is 45/45 (M7).", "45/45"), ("Both 0.12 (M7, M8).", "0.12"), ("\\def\\x{0.12}\\x{} (M7).", "0.12")],
)
def test_what_cannot_be_told_is_left_and_said(text: str, number: str) -> None:
    after = accept(text, "a.tex")
    assert after == (text, (f"a.tex:1 prints {number}: which number of M7 that is cannot be told",))


def test_16_of_585() -> None:
    old, new = "In 16/585 (2.7%) cases.", "In 16/580 (2.8%) cases."
    text = "It failed in 16/585 (2.7 %) cases, that is 16 of 585 (M7). The other 585 did not."
    after = "It failed in 16/580 (2.8 %) cases, that is 16 of 580 (M7). The other 585 did not."
    assert accept(text, old=old, new=new) == (after, ())
