"""Another number in the spelling of the old one."""

from __future__ import annotations

import pytest

from assay.ledger.numeral import numeral
from assay.ledger.texts.latex import read_latex
from assay.ledger.texts.markdown import read_markdown
from assay.ledger.texts.respell import respell
from assay.ledger.texts.values import values_of


def rewritten(source: str, new: str, *, latex: bool = True) -> str | None:
    *_, passage = read_latex(source) if latex else read_markdown(source)[0]
    ((value, _),) = values_of(passage)
    edits = respell(source, passage, value.numerals[0], numeral(new), thousands="{,}" if latex else ",")
    if edits is None:
        return None
    for one in sorted(edits, reverse=True):
        source = source[: one.start] + one.text + source[one.end :]
    return source


@pytest.mark.parametrize(
    ("source", "new", "after"),
    [
        (r"$3{,}000$ a", "2,999", r"$2{,}999$ a"),
        (r"3\,000 a", "12,345", r"12\,345 a"),
        ("3000 a", "12,345", "12345 a"),
        ("999 a", "1,000", "1{,}000 a"),
        (r"$87.5\,\%$", "88.0%", r"$88.0\,\%$"),
        (r"87.5~percent", "88.0%", r"88.0~percent"),
        (r"$1.2\times10^{-3}$", "4.0e-12", r"$4.0\times10^{-12}$"),
        (r"\num{1.2e-3}", "4.0e5", r"\num{4.0e5}"),
        ("1.2 \u00d7 10\u207b\u00b3 a", "4.0e-12", "4.0 \u00d7 10\u207b\u00b9\u00b2 a"),
        ("$-0.5$", "0.5", "$0.5$"),
        ("\u22120.5 a", "-0.6", "\u22120.6 a"),
        ("$0.5$", "-0.5", "$-0.5$"),
        ("0.127 a", "+0.130", "0.130 a"),
        ("$+0.127$", "+0.130", "$+0.130$"),
        (".25 a", "0.31", ".31 a"),
        ("99 a", "100", "100 a"),
    ],
)
def test_latex(source: str, new: str, after: str) -> None:
    assert rewritten(source, new) == after


def test_markdown() -> None:
    assert rewritten("**2,999** a", "3,000", latex=False) == "**3,000** a"
    assert rewritten("999 a", "1,000", latex=False) == "1,000 a"


@pytest.mark.parametrize(
    ("source", "new"),
    [(r"\def\n{5}\n{} a", "6"), (r"\textbf{1}5 a", "16"), ("0.0012 a", "1.2e-3"), (r"$1.2\times10^{-3}$", "0.0012")],
)
def test_what_cannot_carry_it(source: str, new: str) -> None:
    assert rewritten(source, new) is None
