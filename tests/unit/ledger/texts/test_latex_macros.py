"""Macros: how they are defined, and what each use of them prints, at which place."""

from __future__ import annotations

import pytest

from assay.ledger.texts.latex import read_latex, read_manuscript
from assay.ledger.texts.latex_macros import bracket, definition
from assay.ledger.texts.values import values_of


def prose(source: str) -> list[str]:
    return [value.text for passage in read_latex(source) for value, why in values_of(passage) if not why]


def unread(source: str) -> list[tuple[str, str, bool]]:
    return [(one.text, one.why, one.fails) for one in read_manuscript(source, "a.tex").unread]


@pytest.mark.parametrize(
    ("defined", "used", "found"),
    [
        (r"\newcommand{\x}{0.25}", r"\x{} and $\x$", ["0.25", "0.25"]),
        (r"\newcommand*\x{0.25\xspace}", r"\x is", ["0.25"]),
        (r"\newcommand{\pct}[1]{#1\,\%}", r"\pct{87.5}, $\pct{4}$ and \pct5", ["87.5%", "4%", "5%"]),
        (r"\newcommand{\x}[2][3]{#1 of #2}", r"\x{20}; \x[4]{20}", ["3 of 20", "4 of 20"]),
        (r"\renewcommand{\x}{5}", r"\x", ["5"]),
        (r"\newcommand{\x}{5}\providecommand{\x}{6}\providecommand{\y}{7}", r"\x, \y", ["5", "7"]),
        (r"\DeclareRobustCommand\x{5}", r"\x", ["5"]),
        (r"\def\x#1#2{#1/#2}", r"\x{14}{20} and \x1{2}", ["14/20", "1/2"]),
        (r"\NewDocumentCommand{\x}{m O{0.02} +m}{$#1 \pm #2$ of #3}", r"\x{0.85}{7}", ["0.85 +- 0.02", "7"]),
        (r"\NewDocumentCommand\x{}{5}", r"\x", ["5"]),
        (r"\DeclareMathOperator*{\x}{at~5}", r"$\x = 6$", ["5", "6"]),
        (r"\newcommand{\n}{14}\newcommand{\m}{20}\newcommand{\s}{\n/\m}", r"\s{} $\s$", ["14/20", "14/20"]),
        (r"\newcommand{\pct}[1]{#1\,\%}\newcommand{\p}{\pct}", r"\p{87.5}", ["87.5%"]),
        (r"\newcommand{\pct}[1]{#1\,\%}\newcommand{\apply}[2]{#1{#2}}", r"\apply{\pct}{87.5}", ["87.5%"]),
        (r"\newcommand{\pct}[1]{#1\,\%}", r"\pct{\pct{5}}", ["5%"]),
        (r"\def\x{5}\let\y=\x", r"\y", ["5"]),
        ("\\newcommand{\\x}{%\n  5% of it\n}", r"\x", ["5"]),
        ("\\newcommand{\\x}% why\n  {5}", r"\x", ["5"]),
        ("% \\newcommand{\\x}{6}\n\\newcommand{\\x}{5}\n% \\renewcommand{\\x}{7}\n", r"\x", ["5"]),
        (r"\newcommand{\x}[1]{\def\y{#1}\y}", r"\x{5}", ["5"]),
        (r"\newenvironment{box}[2][3]{#1 and #2 in }{, 5 in all}", r"\begin{box}{4}6\end{box}", ["3", "4", "6", "5"]),
        (r"\newcommand{\row}[2]{#1 & #2 \\}", r"\begin{tabular}{lr}\row{a}{5}\row{b}{6}\end{tabular}", ["5", "6"]),
        (r"\makeatletter\newcommand{\my@x}{5}\newcommand{\x}{\my@x}\makeatother", r"\x", ["5"]),
    ],
)
def test_what_a_use_prints(defined: str, used: str, found: list[str]) -> None:
    assert prose(f"{defined}\\begin{{document}}{used}\\end{{document}}") == found
    assert prose(f"{defined}\n\n{used}") == found


def test_a_definition_ends_with_its_group() -> None:
    assert prose(r"\def\x{1}{\def\x{2}\x} \x \begin{center}\def\x{3}\x\end{center} \x {\gdef\x{4}} \x") == [
        *("2", "1", "3", "1", "4")
    ]


def test_what_is_printed_stands_at_the_use_and_an_argument_at_its_own_place() -> None:
    source = "\\newcommand{\\gain}[1]{#1 in 20}\n\n\na \\gain{14} b"
    passage = read_latex(source)[-1]
    at = {value.text: passage.spans[value.start] for value, _ in values_of(passage)}
    assert source[slice(*at["14"])] == "1"
    assert source[slice(*at["20"])] == "\\gain{14}"


def test_commands_that_the_reader_knows_keep_their_meaning() -> None:
    source = r"\newcommand{\claimref}[1]{5}\renewcommand{\cite}[1]{6}\def\section{7}\section{Results} 8 \cite{9}"
    assert prose(source) == ["8"]
    assert read_latex(source)[-1].results


@pytest.mark.parametrize(
    ("defined", "used", "why"),
    [
        (r"\newcommand{\x}{5 \x}", r"\x", "it makes itself without end (defined at a.tex:1)"),
        (r"\def\x{\y}\def\y{\x}", r"$\x$", "it makes itself without end (defined at a.tex:1)"),
        (r"\def\x{\y\y}\def\y{\x\x}", r"\x", "it makes itself without end (defined at a.tex:1)"),
        (r"\def\x#1.{#1 of 7}", r"\x 5.", "its arguments are delimited: #1. (defined at a.tex:1)"),
        (
            r"\NewDocumentCommand{\x}{s o m}{#3 of 7}",
            r"\x{5}",
            "its arguments are {s o m}, of which only m and O{} are read (defined at a.tex:1)",
        ),
        (r"\newcommandx{\x}[2][1=7]{#1 #2}", r"\x{5}", "\\newcommandx names its arguments (defined at a.tex:1)"),
    ],
)
def test_what_cannot_be_written_out_is_noted(defined: str, used: str, why: str) -> None:
    source = f"{defined}\\section{{Results}}{used}"
    ((text, said, _),) = unread(source)
    assert (text, said) == ("\\x", why)
    assert "7" not in prose(source)


def test_what_is_not_read_fails_among_results_if_it_could_print_a_number() -> None:
    odd = r"\NewDocumentCommand{\x}{s m}{#2 of 7}\NewDocumentCommand{\y}{s m}{\emph{#2}}"
    assert [fails for *_, fails in unread(odd + r"\section{Results}\x{5}\y{5}")] == [True, False]
    assert [fails for *_, fails in unread(odd + r"\section{Method}\x{5}")] == [False]
    assert not unread(odd), "it is not used"


def test_a_macro_defined_under_a_condition_is_noted_once() -> None:
    source = "\\newif\\ifdraft\n\\ifdraft\\def\\x{1}\\else\\def\\x{2}\\fi\n\\begin{document}\\x\n\n\\x\\end{document}"
    assert [text for text, *_ in unread(source)] == ["\\x"]
    assert unread(source)[0][1].startswith("it is defined within \\ifdraft, of which the last definition is read")


def test_definitions_and_brackets() -> None:
    assert definition("\\definecolor{x}", 0, 15) is None
    assert definition("\\def\\csname x\\endcsname{5}6", 0, 27) == ((), 26, True, False)
    assert bracket(" [a{]}b]c", 0, 9) == (2, 7, 8)
    assert bracket("[a", 0, 2) is None
    assert bracket("a", 0, 1) is None
