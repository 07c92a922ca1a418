"""Numbers of formulas: values stand, coefficients and indices are set aside."""

from __future__ import annotations

import pytest

from assay.ledger.formula import formula, group
from assay.ledger.passage import Sections, Setter
from assay.ledger.values import values_of


def numbers(inside: str, **macros: str) -> list[str]:
    setter = Setter(Sections())
    setter.put("x: ", 0, 3)
    formula(setter, inside, 3, macros=macros)
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
        (r"\acc", ["87.5%"]),
        (r"2\sigma", []),
        (r"x_{12} + 2^{10}", []),
        (r"N(0, 1)", []),
        (r"n - 1", []),
        (r"\frac{1}{n} \sum_{i=1}^{10} x_i", []),
        (r"x = \sqrt{2}", []),
        (r"\Delta_{3} = +0.5", ["+0.5"]),
    ],
)
def test_numbers_of_a_formula(inside: str, found: list[str]) -> None:
    assert numbers(inside, acc=r"87.5\%") == found


def test_a_macro_in_itself_ends() -> None:
    assert numbers(r"\a", a=r"5 \a") == []


def test_groups_nest_and_end_with_the_text() -> None:
    assert group("a{b{c}}d", 1, 8) == (2, 6, 7)
    assert group(r"{\}}", 0, 4) == (1, 3, 4)
    assert group(" x", 0, 2) == (1, 2, 2)
    assert group("{x", 0, 2) == (1, 2, 2)
