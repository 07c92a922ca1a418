"""Every number of a text is bound, set aside, loose or wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ConfigError
from assay.ledger.session import list_claims
from assay.ledger.texts.coverage import Coverage, Reader, Standing
from assay.ledger.texts.latex_context import GENERATED
from assay.ledger.texts.manuscripts import cover_texts

FOLDER = Path(__file__).resolve().parents[3] / "fixtures/paper"
CLAIMS = {
    "M7": "The plan wins in 14/20 directions, by +0.0123 [0.01, 0.02].",
    "M8": "One is 1,012. Two is 87.5% (of 16/585 (2.7%)).",
}


def cover(text: str, path: str = "a.md", **settings: list[str]) -> Coverage:
    return Reader(CLAIMS, **settings).cover(text, path)


def standings(text: str, path: str = "a.md", **settings: list[str]) -> list[tuple[str, str, str]]:
    return [(one.text, str(one.standing), one.why) for one in cover(text, path, **settings).found]


def test_a_number_is_bound_by_a_claim_that_its_sentence_cites() -> None:
    assert standings("Of 20, 14/20 win (M7). Of 20.") == [
        ("20", "bound", "M7"),
        ("14/20", "bound", "M7"),
        ("20", "loose", ""),
    ]
    assert [why for *_, why in standings("It is 1012 in 14/20 (M7, M8).")] == ["M7, M8", "M7, M8"]


def test_a_claim_of_two_sentences_speaks_for_two() -> None:
    assert [one for _, one, _ in standings("One is 5. One is 1,012. Two is 87.5 % (M8).")] == [
        "loose",
        "bound",
        "bound",
    ]


def test_what_disagrees_is_wrong_whatever_the_section() -> None:
    (found,) = cover("# A\n\nA rate of 16/580 (2.8%) (M8).").failing
    assert (found.path, found.line, found.column) == ("a.md", 3, 11)
    assert found.message == "prints 16/580 (2.8%), and M8 prints 16/585 (2.7%)"
    (found,) = cover("It is 3.5 (M7).").failing
    assert found.message == "prints 3.5, and M7 prints 14/20, +0.0123 [0.01, 0.02]"


def test_a_loose_number_fails_among_results_alone() -> None:
    text = "# A\n\nIt is 5.\n\n# Results\n\nIt is 5.\n"
    assert [one.fails for one in cover(text).found] == [False, True]
    assert not cover(text, results=["findings"]).failing
    assert cover(text.replace("# A", "# Findings"), results=["findings"]).failing[0].line == 3


def test_what_is_set_aside_says_why_and_a_claim_that_prints_it_comes_first() -> None:
    text = "# Results\n\n`5` [a](6) Section 7, GPT-2, in 2024, at 95 % of M 3. Fig. 14 (M7) has 2 of M 3."
    assert [
        (one, why) for one, standing, why in standings(text, names=["M 3"], constants=["95 %"]) if standing != "wrong"
    ] == [
        *(("5", "code"), ("6", "link"), ("7", "reference"), ("GPT-2", "name"), ("2024", "date"), ("95%", "constant")),
        *(("3", "name"), ("14", "M7"), ("3", "name")),
    ]


def test_an_unknown_claim_is_wrong() -> None:
    assert cover("It is 5 (M9).").failing[0].message == "cites (M9): no claim has this id"
    assert cover(r"It is \claimref{Q}.", "a.tex").failing[0].message == "cites (Q): no claim has this id"
    assert not cover("It is (Q9) or (see).").failing


def test_shares_count_what_is_not_set_aside() -> None:
    found = cover("In 14/20 (M7). In 5. See `6`.")
    assert (found.count(Standing.BOUND), found.count(Standing.LOOSE), found.share) == (1, 1, 0.5)
    assert found.summary == "a.md: 1 bound, 1 set aside, 1 loose, 0 wrong; 50% covered"
    assert cover("No number.").share is None


def test_other_kinds_of_text_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"a\.rst: is neither Markdown"):
        cover("5", "a.rst")


def test_the_paper_of_two_pages() -> None:
    claims = {one.id: one.sentence for one in list_claims(FOLDER / "claims.py")}
    source = (FOLDER / "paper.tex").read_text()
    found = Reader(claims).cover(source, "paper.tex")
    assert [(one.line, one.text, one.message) for one in found.failing] == [
        (67, "40", "40 is loose among results: cite the claim that prints it")
    ]
    assert found.count(Standing.BOUND) == 19
    bound = [one for one in found.found if one.standing is Standing.BOUND]
    assert {claim for one in bound for claim in one.claims} == {"P1", "P2", "P3", "P4", "P5"}
    assert len(Reader(claims).cover(source.replace("14/20", "15/20"), "paper.tex").failing) == 4


def test_places_count_characters_whatever_the_line_ends_and_widths() -> None:
    found = cover("\ufeff\u8868\u8868 a\r\n\r\n\u8868\U0001f331 5.\r\n").found
    assert [(one.line, one.column) for one in found] == [(3, 4)]


PIECES = (
    *("(M7)", "\\claimref{M8}", "14/20", "$", "\\", "{", "}", "[", "]", "%", "`", "\n", "\n\n", "|", "# ", "<!--"),
    *("-->", "5", ". ", "\\begin{tabular}", "\\end{tabular}", "\\def\\a{5\\a}", "\\a", "&", "^", "_", "\r\n", " a "),
    *("\u0663", "\\num", "\\section{", "\\newcommand{\\b}[2][5]{#1 \\c{#2}}", "\\b", "\\let\\c\\b", "\\c", "\\fi"),
    *("\\iffalse", "\\ifx", "\\csname", "\\input", "_{\\pm 0.5}", "\\textsuperscript", "\\begin{frame}", "<2->"),
    *("\\item", "{{", "<tr>", "\\newenvironment{e}[1]{#1}{}", "\\begin{e}", "\\end{e}", "\\assay", "(2)", "~", "0.5"),
    *("<sup>2</sup>", "\\num{1 e"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.sampled_from(["a.md", "a.tex"]))
def test_any_text_is_read_and_every_digit_of_prose_has_a_place(text: str, path: str) -> None:
    for one in cover(text, path).found:
        assert 1 <= one.line <= text.count("\n") + 1
        assert one.column >= 1


NUMBERS = "".join(
    f"\\assay@number{{{experiment}}}{{{tier}}}{{{key}}}{{{text}}}\n"
    for experiment, tier, key, text in (
        ("a", "", "wins", "14/20"),
        ("a", "open", "wins", "14/20"),
        ("a", "", "delta", "+0.0123 {[}0.01, 0.02{]}"),
        ("a", "", "delta.value", "\\ensuremath{+0.0123}"),
        ("a", "", "old", "15/20"),
        ("b", "", "wins", "14/20"),
    )
)


def registered(folder: Path, text: str, numbers: str = NUMBERS) -> list[tuple[str, str, str]]:
    """How the numbers of a text stand that reads the file of numbers of a report."""
    (folder / "numbers.tex").write_text(f"{GENERATED}; do not edit\n{numbers}")
    (folder / "main.tex").write_text(f"\\input{{numbers}}\\begin{{document}}\n{text}\n\\end{{document}}")
    reader = Reader(CLAIMS, experiments={"M7": "a", "M8": "a"})
    main, rest = cover_texts(reader, [folder / "main.tex"], folder)
    assert {one.why for one in rest.found} == {"registered numbers"}
    return [(one.text, str(one.standing), one.why) for one in main.found if one.standing is not Standing.ASIDE]


def test_a_registered_number_is_bound_to_its_result(tmp_path: Path) -> None:
    text = r"\def\wins{\assay[open]{a}{wins}}\wins, \assay{a}{delta}, $\assay{a}{delta.value}$; \assay{a}{wins} (M8)."
    assert registered(tmp_path, text) == [
        ("14/20", "bound", "wins of a, by \\assay (M7)"),
        ("+0.0123 [0.01, 0.02]", "bound", "delta of a, by \\assay (M7)"),
        ("+0.0123", "bound", "delta.value of a, by \\assay (M7)"),
        ("14/20", "bound", "wins of a, by \\assay (M7)"),
    ]


def test_a_registered_number_that_no_claim_prints_is_wrong(tmp_path: Path) -> None:
    assert registered(tmp_path, r"\assay{a}{old} \assay{b}{wins} \assay{a}{none}") == [
        ("15/20", "wrong", "prints 15/20 as old of a, and no claim prints it: run assay report again"),
        ("14/20", "wrong", "prints 14/20 as wins of b, and no claim prints it: run assay report again"),
        (
            "\\assay",
            "not read",
            "no claim printed a none when numbers.tex was made: print it in a claim, and run assay report again",
        ),
    ]


def test_a_number_beside_a_registered_one_in_a_macro_is_its_own(tmp_path: Path) -> None:
    assert registered(tmp_path, r"\newcommand{\x}{\assay{a}{wins} of 7}\x") == [
        ("14/20", "bound", "wins of a, by \\assay (M7)"),
        ("7", "loose", ""),
    ]


def test_without_its_file_a_registered_number_is_not_read() -> None:
    (one,) = cover(r"\assay{a}{wins}", "a.tex").found
    assert one.message.startswith("\\assay{a}{wins} is not read: no file of numbers was read before it")


def test_a_table_of_a_report_is_set_aside_with_its_run(tmp_path: Path) -> None:
    (tmp_path / "t.tex").write_text(
        f"{GENERATED} from a_1, table t; do not edit\n\\begin{{tabular}}{{r}}\n$5$ \\\\\n6\n"
    )
    (tmp_path / "main.tex").write_text("\\section{Results}\\input{t}")
    _, table = cover_texts(Reader({}), [tmp_path / "main.tex"], tmp_path)
    assert [(one.text, one.why) for one in table.found] == [
        ("5", "registered table t of a_1"),
        ("6", "registered table t of a_1"),
    ]
