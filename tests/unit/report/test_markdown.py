"""The Markdown report says what the page says, figures before claims."""

from __future__ import annotations

from assay.ledger.citations import GENERATED
from assay.report.markdown import markdown
from assay.report.study import Study


def test_it_begins_with_the_verdict_and_names_what_is_open(study: Study) -> None:
    text = markdown(study, [(study.runs[1], "effects.svg", "Effect of [each] pair")])
    assert text.startswith(GENERATED), "citations in it are not read as sentences of a text"
    assert "**3 of 7 claims hold; E3 fails" in text
    assert r"![Effect of \[each\] pair](figures/study.effect.tiny/effects.svg)" in text
    assert text.index("## What is stale") < text.index("![Effect") < text.index("## Effect") < text.index("## Runs")
    assert "- **failed** `study.effect_quick_" in text
    assert "| 3,001 | 3,000 **differs** | `items` |" in text
    assert r"\<b\>**SmolLM2-135M**\</b\>" in text


def test_nothing_is_open_where_all_claims_hold(representations: Study) -> None:
    text = markdown(representations, [])
    assert "What is stale" not in text
    assert text.count("\n**R") == len(representations.claims)
    assert markdown(representations, []) == text
