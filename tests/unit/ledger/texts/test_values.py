"""Values in a text: every printed form is one value."""

from __future__ import annotations

import pytest

from assay.ledger.texts.values import printed_by, values


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("in 14 of 20 plots, 14 of the 20", ["14 of 20", "14", "20"]),
        ("0.25, .25 and -0.25; \u22120.5.", ["0.25", ".25", "-0.25", "\u22120.5"]),
        ("3,000 or 3\u2009000 seeds, 2,3", ["3,000", "3,000", "2", "3"]),
        ("87.5 % and 87.5\u2009%", ["87.5%", "87.5%"]),
        ("87.5 percent, 87.5 per cent of [1, 2] percent", ["87.5%", "87.5%", "[1, 2]%"]),
        ("5 percentage points, 5 percentiles", ["5", "5"]),
        ("2.4-percent, 2.4 Percent, 2.4\nper cent, 5-percentile", ["2.4%", "2.4%", "2.4%", "5"]),
        ("1.2e-3, 1.2\u00d710^-3, 1.2 \u00d7 10\u207b\u00b3, 10^-3", ["1.2e-3", "1.2e-3", "1.2e-3", "1e-3"]),
        ("18/20 and 16/585 (2.7%)", ["18/20", "16/585 (2.7%)"]),
        ("[0.1, 0.2], 0.15 [0.1,0.2] and 3 [1; 5] %", ["[0.1, 0.2]", "0.15 [0.1, 0.2]", "3% [1, 5]%"]),
        ("0.85 \u00b1 0.02, 0.85+-0.02, 8\u00b12%", ["0.85 +- 0.02", "0.85 +- 0.02", "8% +- 2%"]),
        ("p < 0.001, >=5, \u2264 3", ["< 0.001", ">= 5", "\u2264 3"]),
        ("10-20 and 10\u201320, a -> 5", ["10", "20", "10", "20", "5"]),
        ("L0, H2, SmolLM2-135M, FLORES-200, P@1, Llama3.1, run12/a", []),
        ("yellow302/1000, SmolLM2x14/20 (70.0%), top87.5%", ["302/1000", "14/20 (70.0%)", "87.5%"]),
        (
            "87.5% \u00b1 0.3, 87.5 \u00b1 0.3%, 87.5% [83.1, 89.2]",
            ["87.5% +- 0.3%", "87.5% +- 0.3%", "87.5% [83.1, 89.2]%"],
        ),
        ("17.1%/0.0%FP, 5%of", ["17.1%", "0.0%", "5%"]),
        ("0.85(2), -0.850(20)e-3, f(2), 5(2)", ["0.85 +- 0.02", "-0.850(20)e-3", "2", "5", "2"]),
        ("3\u00a0000 and 0.83--0.87", ["3,000", "0.83", "0.87"]),
        ("7B, 1.2.3, 2^10, 18:04, \u0663", ["7B", "1.2.3", "2^10", "18:04", "\u0663"]),
        ("\uff11\uff14/\uff12\uff10", ["\uff11\uff14/\uff12\uff10"]),
    ],
)
def test_values_of_a_text(text: str, found: list[str]) -> None:
    assert [value.text for value in values(text) if not value.name] == found


@pytest.mark.parametrize(
    ("text", "claim", "same"),
    [
        ("0.371", "0.371 [0.354, 0.389]", True),
        ("[0.354, 0.389]", "0.371 [0.354, 0.389]", True),
        ("16 of 585", "16/585 (2.7%)", True),
        ("16/585", "16/585 (2.7%)", True),
        ("16/585 (2.7%)", "16/580 (2.8%)", False),
        ("16/585 (2.7%)", "16/585, that is 2.7%", True),
        ("3000", "3,000", True),
        ("0.0012", "1.2e-3", True),
        ("1.0", "1.00", False),
        ("0.37", "0.371", False),
        ("0.875", "87.5%", False),
        ("0.001", "< 0.001", False),
        ("\u2264 5", "<= 5", True),
        ("[0.1, 0.3]", "0.1 and 0.3", False),
        ("-0.5", "0.5", False),
        ("40 of 40", "31/40", False),
        ("31 of 40", "31/40", True),
        ("31/40", "31 of 40", True),
        ("31 of 40", "the 31 of all 40", True),
        ("31 of 31", "31/40 and 31", True),
        ("31 hives of the 40", "31/40", True),
    ],
)
def test_what_a_claim_prints(text: str, claim: str, same: bool) -> None:
    known = list(values(claim))
    assert all(printed_by(known, value) for value in values(text)) is same
