"""Which claims run, and on what: ids as keywords, folders that are no root, fixtures that stand in for ours."""

from __future__ import annotations

import json
import re

import pytest

from .conftest import Repository, claim

pytest_plugins = ["pytester"]

GOOD = "Of {items: 3,000}."


def verdicts(repository: Repository, *arguments: str) -> dict[str, str]:
    """Verdict by claim of a session on claims/."""
    repository.run("claims", "--claims-json", "verdicts.json", *arguments)
    found = json.loads((repository.path / "verdicts.json").read_text())
    return {one["id"]: one["verdict"] for one in found["claims"]}


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ("M7", ["M7", "M77"]),
        ("m7", ["M7", "M77"]),
        ("M77", ["M77"]),
        ("M7 and not M77", ["M7"]),
        ("x-y.1", ["x-y.1"]),
        ("M9", ["M9"]),
        ("other", ["M9"]),
    ],
)
@pytest.mark.parametrize("more", [(), ("-n", "2")])
def test_claims_are_selected_by_id(repository: Repository, words: str, ids: list[str], more: tuple[str, ...]) -> None:
    names = {"M7": "one", "M77": "two", "x-y.1": "three", "M9": "other"}
    repository.claims(*(re.sub(r"test_\w+", f"test_{word}", claim(name, GOOD)) for name, word in names.items()))
    assert verdicts(repository, "-k", words, *more) == dict.fromkeys(ids, "HOLDS")
