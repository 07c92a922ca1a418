"""Commands that are not read are noted, and what is beside them is read."""

from __future__ import annotations

import pytest

from assay.ledger.texts.latex import read_manuscript
from assay.ledger.texts.values import values_of


def read(source: str) -> tuple[list[str], list[tuple[int, str, bool]]]:
    """Numbers of prose, and what is not read with its line."""
    found = read_manuscript(source, "a.tex")
    numbers = [value.text for passage in found.passages for value, why in values_of(passage) if not why]
    return numbers, [(found.sources.place(one.offset).line, one.text, one.fails) for one in found.unread]


@pytest.mark.parametrize(
    ("source", "numbers", "unread"),
    [
        (r"\ifdraft 5\else 6\fi 7", ["5", "6", "7"], [(1, "\\ifdraft", False)]),
        (r"\ifnum\value{x}>3 5\fi", ["5"], [(1, "\\ifnum", False)]),
        (r"\ifthenelse{\equal{1}{2}}{5}{6}", ["5", "6"], [(1, "\\ifthenelse{\\equal{1}{2}}", False)]),
        (r"\iffalse 5 \ifx 6 \fi\else 7\fi", ["7"], []),
        (r"\iffalse 5 \fi 7 \newif\ifx 8", ["7", "8"], []),
        ("5\n\\csname acc-1\\endcsname 6", ["5", "6"], [(2, "\\csname acc-1\\endcsname", False)]),
        (r"\fpeval{1+2} $\fpeval{1+2}$ 5", ["5"], [(1, "\\fpeval{1+2}", False), (1, "\\fpeval", False)]),
        (r"\the\numexpr 1+2\relax 5", ["5"], [(1, "\\numexpr 1+2\\relax", False)]),
        (r"\csvautotabular[a=1]{x-2.csv} 5", ["5"], [(1, "\\csvautotabular[a=1]{x-2.csv}", False)]),
        (r"\section{Results}\csvreader{a}{b}{1} 5", ["5"], [(1, "\\csvreader{a}{b}{1}", True)]),
        (r"\input{a} 5", ["5"], [(1, "\\input{a}", False)]),
        ("\\section{Results}5 $6\n\n7$ 8", ["5", "6", "7", "8"], [(1, "$", True), (3, "$", True)]),
        (r"\newcommand{\py}{Pythia 5}\py", ["5"], []),
    ],
)
def test_what_is_not_read(source: str, numbers: list[str], unread: list[tuple[int, str, bool]]) -> None:
    assert read(source) == (numbers, unread)


def test_the_file_ends_where_it_says() -> None:
    assert read("5 % \\endinput\n6\n\\endinput\n7") == (["5", "6"], [])


def test_the_title_and_an_abstract_before_the_document_are_printed() -> None:
    source = "\\title{A 2.7\\% solution}\\author{B 3}\n\\abstract{In 4.}\\begin{document}\\maketitle 5\\end{document}"
    found = read_manuscript(source, "a.tex")
    assert [(passage.text, passage.results) for passage in found.passages if not any(passage.asides)] == [
        ("A 2.7% solution", False),
        ("In 4.", True),
        ("5", False),
    ]
