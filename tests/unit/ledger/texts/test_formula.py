"""Numbers of formulas: values stand, coefficients and indices are set aside."""

from __future__ import annotations

import pytest

from assay.ledger.texts.formula import formula, group
from assay.ledger.texts.fragment import Fragment
from assay.ledger.texts.passage import Sections, Setter
from assay.ledger.texts.values import values_of


def numbers(inside: str) -> list[str]:
    setter = Setter(Sections())
    setter.put("x: ", 0, 3)
    formula(setter, Fragment(inside, 3))
    setter.end()
    return [value.text for value, aside in values_of(setter.passages[0]) if not aside and not value.name]


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        (r"1.2\times10^{-3}", ["1.2e-3"]),
        (r"1.2 \cdot 10^{5}", ["1.2e5"]),
        (r"3{,}000", ["3,000"]),
        (r"3\,000", ["3,000"]),
        (r"87.5\,\%", ["87.5%"]),
        (r"0.85 \pm 0.02", ["0.85 +- 0.02"]),
        (r"\left[0.1, 0.2\right]", ["[0.1, 0.2]"]),
        (r"\frac{14}{20}", ["14/20"]),
        (r"\num{1.2e-3}", ["1.2e-3"]),
        (r"p < 0.001,\; n = 20", ["< 0.001", "20"]),
        (r"n=20\text{ plots of 30}", ["20", "30"]),
        (r"\mathbf{14}/20", ["14/20"]),
        (r"2.43\times", ["2.43"]),
        (r"2.43\,{\times}", ["2.43"]),
        (r"\times 2.43", ["2.43"]),
        (r"2.43\text{ m}^2", ["2.43"]),
        (r"\approx 2.43\times", ["2.43"]),
        (r"3\times 4", []),
        (r"2 \times n", []),
        (r"2\sigma", []),
        (r"x_{12} + 2^{10}", []),
        (r"N(0, 1)", []),
        (r"n - 1", []),
        (r"\frac{1}{n} \sum_{i=1}^{10} x_i", []),
        (r"x = \sqrt{2}", []),
        (r"\Delta_{3} = +0.5", ["+0.5"]),
        (r"87.5_{\pm 0.3}", ["87.5 +- 0.3"]),
        (r"\mathbf{87.5}_{\pm 0.3}", ["87.5 +- 0.3"]),
        (r"87.5_{0.3}, 87.5_{(0.3)}", ["87.5", "0.3", "87.5", "0.3"]),
        (r"0.85_{[0.83, 0.87]}", ["0.85 [0.83, 0.87]"]),
        (r"87.5^{+0.3}_{-0.2}", ["87.5", "+0.3", "-0.2"]),
        (r"87.5^{*}, 87.5^{**}, 87.5^\dagger, 87.5^{\ast a}", ["87.5", "87.5", "87.5", "87.5"]),
        (r"\underline{87.5}", ["87.5"]),
        (r"2^{16}, 10^{-0.5}, x_{0.5}, \mathrm{PM}_{2.5}", []),
        (r"- 0.5, x = - 0.5", ["-0.5", "-0.5"]),
        (r"0.83 - 0.87", ["0.83", "0.87"]),
        (r"0.83\text{--}0.87", ["0.83", "0.87"]),
        (r"\lambda \in \{0.1, 1\}", ["0.1", "1"]),
        (r"\bar{x} = 4.5 \pm 0.3 \quad (n=30)", ["4.5 +- 0.3", "30"]),
        (r"a &= 0.31 \label{eq:12} \\ b &= 0.32 \nonumber \tag{3}", ["0.31", "0.32"]),
        (r"\begin{aligned} x &= 5 \end{aligned}", ["5"]),
        (r"A = \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}", []),
        (r"3\;000", ["3,000"]),
        (r"r_{\text{safe 2}} = 0.0", ["0.0"]),
    ],
)
def test_numbers_of_a_formula(inside: str, found: list[str]) -> None:
    assert numbers(inside) == found


def test_groups_nest_and_end_with_the_text() -> None:
    assert group("a{b{c}}d", 1, 8) == (2, 6, 7)
    assert group(r"{\}}", 0, 4) == (1, 3, 4)
    assert group(" x", 0, 2) == (1, 2, 2)
    assert group("{x", 0, 2) == (1, 2, 2)


def test_braces_in_comments_do_not_count_but_in_an_address() -> None:
    assert group("% a }\n{b % }\n}c", 0, 14) == (7, 13, 14)
    assert group("{a%20b}c", 0, 8) == (1, 8, 8)
    assert group("{a%20b}c", 0, 8, comments=False) == (1, 6, 7)
