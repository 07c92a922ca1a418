"""Numbers of a claim rewritten in the sentences that cite it, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.ledger.texts.accept import accepted_text
from assay.ledger.texts.coverage import Reader
from assay.ledger.texts.latex_context import GENERATED
from assay.ledger.texts.manuscripts import read_manuscripts

OLD = "The plan wins in 45/45 pairs and in 45/45 trials, by 0.12 [0.11, 0.14] of 3,000."
NEW = "The plan wins in 44/45 pairs and in 45/45 trials, by 0.13 [0.11, 0.15] of 2,999."
OTHER = "Others win in 45/45, by 0.12."


def accept(text: str, path: str = "a.md", *, old: str = OLD, new: str = NEW) -> tuple[str, tuple[str, ...]]:
    reader = Reader({"M7": old, "M8": OTHER})
    accepted = accepted_text(reader, reader.read(text, path), "M7", new)
    return next((after for _, after in accepted.after), text), accepted.by_hand


def test_the_own_words_take_every_number_even_drifted_ones() -> None:
    text = (
        "In 45/45 (M8). **The plan** wins in 45/45\r\npairs and in 40/45 trials, by 0.12 [0.10, 0.14] of 3,000 (M7). "
        "45/45."
    )
    after, by_hand = accept(text)
    assert after == text.replace(
        "45/45\r\npairs and in 40/45 trials, by 0.12 [0.10, 0.14] of 3,000",
        "44/45\r\npairs and in 45/45 trials, by 0.13 [0.11, 0.15] of 2,999",
    )
    assert by_hand == ()


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
    [("It is 45/45 (M7).", "45/45"), ("Both 0.12 (M7, M8).", "0.12")],
)
def test_what_cannot_be_told_is_left_and_said(text: str, number: str) -> None:
    after = accept(text, "a.tex")
    assert after == (text, (f"a.tex:1 prints {number}: which number of M7 that is cannot be told; edit it by hand",))


def test_16_of_585() -> None:
    old, new = "In 16/585 (2.7%) cases.", "In 16/580 (2.8%) cases."
    text = "It failed in 16/585 (2.7 %) cases, that is 16 of 585 (M7). The other 585 did not."
    after = "It failed in 16/580 (2.8 %) cases, that is 16 of 580 (M7). The other 585 did not."
    assert accept(text, old=old, new=new) == (after, ())


def test_a_number_of_a_macro_is_left_and_its_definition_named() -> None:
    text = "\\def\\x{0.12}\n\n\\x{} (M7).\n\nOther \\x."
    assert accept(text, "a.tex") == (
        text,
        (
            "a.tex:3 prints 0.12 by the macro \\x defined at a.tex:1: M7 has 0.13 for 0.12; edit the definition by "
            "hand, and its 2 uses all change with it",
        ),
    )
    once = "\\def\\x{0.12}\n\n\\x{} (M7)."
    assert accept(once, "a.tex")[1][0].endswith("M7 has 0.13 for 0.12; edit the definition by hand")
    assert "cannot be told" in accept(once.replace("(M7)", "(M7, M8)"), "a.tex")[1][0]


def test_the_argument_of_a_macro_is_rewritten() -> None:
    text = "\\newcommand{\\wins}[2]{\\textbf{#1}/#2}In \\wins{45}{45}, by \\emph{0.12} of 3{,}000 (M7)."
    old, new = "In 45/45, by 0.12 of 3,000.", "In 44/45, by 0.13 of 2,999."
    assert accept(text, "a.tex", old=old, new=new) == (
        text.replace("{45}{45}", "{44}{45}").replace("0.12", "0.13").replace("3{,}000", "2{,}999"),
        (),
    )


def test_files_are_rewritten_each_on_its_own(tmp_path: Path) -> None:
    (tmp_path / "main.tex").write_text("0.12 (M7). \\input{a} By 0.12 (M8), \\input{b}\n")
    (tmp_path / "a.tex").write_bytes("Caf\u00e9, 0.12\r\n(M7).".encode())
    (tmp_path / "b.tex").write_text("3{,}000 (M7)")
    reader = Reader({"M7": OLD, "M8": OTHER})
    (manuscript,) = read_manuscripts(reader, [tmp_path / "a.tex", tmp_path / "main.tex"], tmp_path)
    found = accepted_text(reader, manuscript, "M7", NEW)
    assert {part.path: after for part, after in found.after} == {
        "main.tex": "0.13 (M7). \\input{a} By 0.12 (M8), \\input{b}\n",
        "a.tex": "Caf\u00e9, 0.13\r\n(M7).",
        "b.tex": "2{,}999 (M7)",
    }


def test_a_registered_number_is_left_to_the_report(tmp_path: Path) -> None:
    (tmp_path / "numbers.tex").write_text(f"{GENERATED}; do not edit\n\\assay@number{{e}}{{}}{{k}}{{0.12}}\n")
    (tmp_path / "main.tex").write_text("\\input{numbers}\nBy \\assay{e}{k} (M7).\n")
    reader = Reader({"M7": OLD})
    (manuscript,) = read_manuscripts(reader, [tmp_path / "main.tex"], tmp_path)
    assert accepted_text(reader, manuscript, "M7", NEW) == (
        (),
        ("main.tex:2 prints 0.12 by \\assay: run assay report again, and it prints what is registered",),
    )


def test_a_short_deviation_is_left() -> None:
    text = "It is 0.12(1) (M7)."
    assert accept(text, "a.tex", old="It is 0.12 +- 0.01.", new="It is 0.13 +- 0.01.")[0] == text
