"""Numbers of prose that are set aside, each by the rule that its words show."""

from __future__ import annotations

import pytest

from assay.ledger.texts.asides import asides, reason
from assay.ledger.texts.values import values


def reasons(text: str, **declared: list[str]) -> list[str]:
    found = asides(text, **declared)
    return [reason(found, value.start, value.end) for value in values(text) if not value.name]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("on 12 March 2024, in March 2024, in May 2024", "date"),
        ("since 1921, at 18:04", "date"),
        ("on 2026-11-30, on 12/05/2021, in the 1990s, in Q3 2020", "date"),
        ("In 2023, between 2019 and 2021, in 2020 and 2022", "date"),
        ("Kornblith et al. (2019) and Smith, 2020, p", "citation"),
        ("as known [12] and [3, 4, 5], [10-12], [3, 5\u20137]", "citation"),
        ("version 2.1, release 1.2.3, torch==2.6, Python 3.11 on Ubuntu 22.04", "version"),
        ("Section 4.2, Fig. 3a, Tables 1 and 2, Eq. (3), \u00a7 7, p. 12, #41, Appendix 2", "reference"),
        ("the 1st, 2nd and 12th", "ordinal"),
        ("arXiv:2301.12345, https://example.org/5, doi:10.5/x", "link"),
        ("commit 649ad6e", "digest"),
    ],
)
def test_what_is_set_aside(text: str, why: str) -> None:
    assert set(reasons(text)) == {why}


@pytest.mark.parametrize(
    "text",
    [
        "of 2000 draws",
        "in 2000 runs",
        "may 14 of 20",
        "mean 5 [3, 7]",
        "Tables 14/20",
        "0.0012345",
        "May 14 runs",
        "table of 12",
        "CKA 0.37",
        "==9==",
    ],
)
def test_what_is_not(text: str) -> None:
    assert "" in reasons(text)


def test_declared_names_and_constants() -> None:
    text = "Gemma\n3 270M at 95 % and 0.95 %"
    assert reasons(text, names=["Gemma 3 270M"], constants=["95 %"]) == ["name", "name", "constant", ""]


def test_rules_do_not_look_at_what_the_reader_set_aside() -> None:
    assert asides("0.914.5", "\0\0\x0014.5") == [""] * 7
    assert "version" in asides("0.914.5")
