"""Workflow commands of GitHub: one line for each claim that does not simply hold, with nothing that breaks a line."""

from __future__ import annotations

import re
from dataclasses import replace

from assay.ledger.claim import Verdict
from assay.report.github import workflow_commands
from assay.report.study import Study


def test_one_line_for_each_claim_that_does_not_hold(study: Study) -> None:
    lines = workflow_commands(study.claims).splitlines()
    levels = [re.match(r"::(\w+) file=([^,]+),line=(\d+),col=8,title=(\w+) (\w+)::", line) for line in lines]
    assert [(found[1], found[4], found[5]) for found in levels if found] == [
        ("error", "E3", "FAILS"),
        ("notice", "E4", "PENDING"),
        ("error", "E5", "UNVERIFIED"),
        ("warning", "E6", "STALE"),
    ]


def test_a_note_cannot_end_its_line_or_begin_another_command(study: Study) -> None:
    claim = replace(study.with_verdict(Verdict.FAILS)[0], note="87.5%\n::error::planted", file="a:b,c.py")
    text = workflow_commands([claim])
    assert text.count("\n") == 1
    assert "file=a%3Ab%2Cc.py," in text
    assert text.endswith("::87.5%25%0A::error::planted\n")


def test_an_order_in_doubt_is_a_warning_whatever_the_verdict(study: Study) -> None:
    held = replace(study.with_verdict(Verdict.HOLDS)[0], order=("unprovable",), doubt="the clone is shallow: 100%")
    stale = replace(study.with_verdict(Verdict.STALE)[0], order=("unprovable",), doubt="squashed")
    text = workflow_commands([held, stale])
    assert [re.match(r"::(\w+) .*,title=([^:]+)::", line).group(1, 2) for line in text.splitlines()] == [  # type: ignore[union-attr]
        ("warning", f"{held.id} order unprovable"),
        ("warning", f"{stale.id} STALE"),
        ("warning", f"{stale.id} order unprovable"),
    ]
    assert "::the clone is shallow: 100%25\n" in text


def test_claims_that_hold_say_nothing(representations: Study) -> None:
    assert workflow_commands(representations.claims) == ""
