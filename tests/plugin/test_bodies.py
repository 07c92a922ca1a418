"""What the body of a claim does: values that it binds, errors that it swallows, evidence that it changes, subtests."""

from __future__ import annotations

import json

import pytest

from .conftest import Repository, claim

pytest_plugins = ["pytester"]


def verdicts(repository: Repository, *arguments: str) -> dict[str, str]:
    """Verdict by claim of a session on claims/."""
    repository.run("claims", "--claims-json", "verdicts.json", *arguments)
    found = json.loads((repository.path / "verdicts.json").read_text())
    return {one["id"]: one["verdict"] for one in found["claims"]}


def test_truth_values_of_tables_are_words_and_no_numbers(repository: Repository) -> None:
    bind = "t = evidence.table('directions'); evidence.bind(m=(t.delta < 1).all(), n=(t.delta > 0).all())"
    repository.claims(
        claim("M1", "All are small: {m: yes}; all are positive: {n: no}.", bind),
        claim("M2", "Small: {m: no}, positive: {n: no}.", bind),
        claim("M3", "Small: {m: 1}, positive: {n: no}.", bind),
    )
    assert verdicts(repository) == {"M1": "HOLDS", "M2": "FAILS", "M3": "FAILS"}
    result = repository.run("claims", "-k", "M2 or M3")
    result.stdout.fnmatch_lines(["    registered  yes   *", "    registered  True   *", "    why         True is a truth*"])


def test_a_claim_changes_the_evidence_of_no_other(repository: Repository) -> None:
    repository.claims(
        claim("O1", "Of {items: 3,000}.", "evidence['config.grid'].append(0.99)"),
        claim("O2", "Of {items: 3,000}.", "evidence.manifest.config['sesoi'] = evidence.manifest.seeds['seed'] = 99"),
        claim("O3", "Of {items: 3,000}.", "evidence.manifest.config['grid'][0] = 0.99"),
        claim("O4", "It was {config.grid.2: 0.99}."),
        claim("O5", "It was {config.sesoi: 99}."),
        claim("O6", "From {config.grid.0: 0.1}, {config.sesoi: 0.25}.", "assert evidence['config.grid'] == [0.1, 0.2]"),
    )
    expected = {"O1": "HOLDS", "O2": "HOLDS", "O3": "HOLDS", "O4": "UNVERIFIED", "O5": "FAILS", "O6": "HOLDS"}
    assert verdicts(repository) == expected
    assert verdicts(repository, "-k", "O4 or O5") == {"O4": "UNVERIFIED", "O5": "FAILS"}
