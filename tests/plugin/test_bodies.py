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


SWALLOWED = "try: {read}\n    except Exception: pass"


@pytest.mark.parametrize(
    ("read", "why"),
    [
        ("assert evidence['no.such.key'] > 3", "absent: *no value 'no.such.key'*"),
        ("assert evidence['broken.nan'] > 3", "non-finite: *broken.nan is nan*"),
        ("evidence.table('directoins')", "absent: *no table 'directoins'*"),
        ("evidence.run('study.never')", "absent: study.never has no registered run*"),
        ("evidence.run('study.other')['los']", "absent: *no value 'los'*"),
        ("evidence['config.sesoy']", "absent: *no field 'sesoy'*"),
    ],
)
def test_an_error_that_the_body_swallows_is_no_evidence(repository: Repository, read: str, why: str) -> None:
    body = SWALLOWED.format(read=read)
    repository.claims(
        claim("M1", "The plan wins.", body),
        claim("M2", "It wins in {wins.target: 14/20}.", body),
        claim("M3", "It wins.", f"with pytest.raises(Exception):\n        {read}"),
        claim("M4", "It wins in {wins.target: 14/20}."),
    )
    expected = {"M1": "UNVERIFIED", "M2": "UNVERIFIED", "M3": "UNVERIFIED", "M4": "HOLDS"}
    assert verdicts(repository) == verdicts(repository, "--claims-mutate") == expected
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["M1  UNVERIFIED  *", f"    evidence    {why}", "                the body caught this error and went on *"]
    )


def test_an_error_that_a_fixture_swallows_counts_too(repository: Repository) -> None:
    fixture = "@pytest.fixture\ndef wins(evidence):\n    try: return evidence['gone']\n    except Exception: return 1\n"
    repository.claims(fixture, claim("M1", "{items: 3,000}", "assert wins").replace("(evidence)", "(evidence, wins)"))
    assert verdicts(repository) == {"M1": "UNVERIFIED"}


def test_what_the_braces_lack_is_said_once(repository: Repository) -> None:
    repository.claims(claim("M1", "It is {gone.key: 3}.", SWALLOWED.format(read="evidence['gone.key']")))
    assert repository.run().stdout.str().count("no value 'gone.key'") == 2  # the explanation, and the summary
