"""Sentences of texts that cite claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ClaimError
from assay.ledger.citations import GENERATED, CitedTexts, citations_in, disagreement, plain, read_texts

DISPLAY = "The plan beats its sham in 14/20 directions, by 3.5 nats."


def only(text: str):
    (citation,) = citations_in(text, "README.md")
    return citation


@pytest.mark.parametrize(
    "text",
    [
        "The plan beats its sham in 14/20 directions, by 3.5 nats (M7).",
        "# Results\n\nFirst. **The plan** beats its sham in **14/20**\ndirections, by `3.5` nats. (M7)",
        "- *The plan beats its sham in 14/20 directions, by 3.5 nats* (M7)",
        "> The plan beats its sham in 14/20 directions, by 3.5 nats (M7).",
        "# Method\n\nAs shown (M7), the plan is good.",
    ],
)
def test_what_agrees(text: str) -> None:
    assert disagreement(only(text), DISPLAY) is None


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("\n\nThe plan beats its sham in\n15/20 directions, by 3.5 nats (M7).", "README.md:4", "prints 15/20 where"),
        ("The plan beats its sham in 14/20 directions, by 3.6 nats (M7).", "README.md:1", "prints 3.6 where"),
        ("The plan beats its sham in 14/20 directions, by -3.5 nats (M7).", "README.md:1", "prints -3.5 where"),
        ("# Results\n\nThe plan is good (M7).", "README.md:3", "with other words"),
        ("It wins in 14/20 (M7).", "README.md:1", "with other words"),
        ("The plan beats its sham in 14/20 directions (M7).", "README.md:1", "with other words"),
    ],
)
def test_what_disagrees(text: str, place: str, message: str) -> None:
    found = disagreement(only(text), DISPLAY)
    assert found is not None
    assert found.place == place
    assert message in found.message


def test_code_comments_and_generated_files_cite_nothing() -> None:
    assert citations_in("```\nx (M7)\n```\n\n~~~python\n(M7)\n~~~\n\nwrite `(M7)` at the end", "a") == []
    assert citations_in(f"{GENERATED} -->\n\nx (M7)", "a") == []


def test_each_citation_has_the_text_since_the_one_before() -> None:
    first, second = citations_in("One is 1 (M1). Two is 2 (M2).", "a")
    assert (first.claim, plain(first.before)) == ("M1", "One is 1")
    assert (second.claim, plain(second.before)) == ("M2", "Two is 2")


def test_a_number_is_found_whole() -> None:
    citation = only("In 114/20 and\n14/20 of 0.140 (M7).")
    assert citation.prints("14/20")
    assert not citation.prints("14")
    assert not citation.prints("0.14")
    assert citation.place_of("14/20") == "README.md:2"


def test_unknown_citations_share_the_letters_of_known_ones() -> None:
    text = "# Results\n\nA (M1). B (M9). C (L0). D (see).\n\n## Method\n\nE (M8).\n"
    texts = CitedTexts(citations_in(text, "README.md"))
    assert [one.claim for one in texts.unknown(["M1", "M2"])] == ["M8", "M9"]
    assert texts.of("M3") == ()


def test_a_list_cites_each_and_its_sentence_must_be_that_of_each() -> None:
    text = "A is 1. It is 5 (M1, M2). `x (M1, M3)` and (L, M), and B is 2 (M3 and M9)."
    first, second, third, fourth = citations_in(text, "README.md")
    assert [one.claim for one in (first, second, third, fourth)] == ["M1", "M2", "M3", "M9"]
    assert disagreement(first, "It is 5.") is None
    found = disagreement(second, "It is 6.")
    assert found is not None
    assert found.message == "cites (M1, M2): cite one claim a sentence"


def test_texts_are_found_by_pattern(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("x (M1)")
    assert [one.place for one in read_texts(tmp_path, ["README.md", "docs/*.md"]).of("M1")] == ["docs/a.md:1"]
    with pytest.raises(ClaimError, match=r"paper\.md does not exist"):
        read_texts(tmp_path, ["paper.md"])
    (tmp_path / "docs" / "a.md").write_bytes(b"\xff")
    with pytest.raises(ClaimError, match="UTF-8"):
        read_texts(tmp_path, ["docs/*.md"])


def test_a_byte_order_mark_is_no_word(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_bytes(b"\xef\xbb\xbf" + f"{DISPLAY[:-1]} (M7).".encode())
    (citation,) = read_texts(tmp_path, ["README.md"]).of("M7")
    assert not disagreement(citation, DISPLAY)
