"""Verdicts, explanations and exit status of the plugin on small suites."""

from __future__ import annotations

import json
import re

from .conftest import Repository, claim

pytest_plugins = ["pytester"]

GOOD = claim("M7", "The plan beats its sham in {wins.target: 14/20} directions, median {delta.median: +0.0123} nats.")


def test_a_true_sentence_holds(repository: Repository) -> None:
    repository.claims(GOOD)
    result = repository.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["1 claim: 1 HOLDS"])


def test_a_changed_digit_fails_with_the_whole_explanation(repository: Repository) -> None:
    path = repository.claims(GOOD.replace("14/20", "13/20"))
    result = repository.run()
    assert result.ret == 1
    line = path.read_text().splitlines().index(next(x for x in path.read_text().splitlines() if "13/20" in x)) + 1
    text = result.stdout.str()
    assert re.search(
        rf"^M7  FAILS  claims/test_claims.py:{line}\n"
        r"    printed     13/20\n"
        r"    registered  14/20   study\.effect -> wins\.target\n"
        r"    run         study\.effect_tiny_[0-9a-f]{12}, completed \d{4}-\d\d-\d\dT\d\d:\d\dZ, commit [0-9a-f]{7} \(clean\)$",
        text,
        re.MULTILINE,
    ), text
    assert "Traceback" not in text
    assert "makereport" not in text
