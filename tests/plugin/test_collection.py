"""Mistakes in claims: all of them are reported at collection, with file and line, and nothing runs."""

from __future__ import annotations

import pytest

from .conftest import Repository, claim

pytest_plugins = ["pytester"]

GOOD = claim("M7", "In {wins.target: 14/20} directions.")
RUNS = "open('ran', 'w').close()"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            claim("M1", "A gain of 0.25 nats."),
            "claims/test_claims.py:7: claim M1: unbound number 0.25 at column 18: write {key: *}, or {= *} for a*",
        ),
        (
            claim("M1", "Two\n    lines, 14/20."),
            "claims/test_claims.py:8: claim M1: unbound number 14/20 at column 12: write {key: *}, or {= *} for a*",
        ),
        (
            claim("M1", "\u00e9\u00e9 0.25"),
            "claims/test_claims.py:7: claim M1: unbound number 0.25 at column 11: write {key: *}, or {= *} for a*",
        ),
        (claim("M1", "Open {items: 3,000"), "claims/test_claims.py:7: claim M1: unbalanced brace: opened*at column 13"),
        (claim("M1", "Closed items}"), "claims/test_claims.py:7: claim M1: unbalanced brace: closed*at column 20"),
        (claim("M1", "{: 5}"), "claims/test_claims.py:7: claim M1: {: 5} has an empty key*"),
        (
            claim("M1", "{items: 3.000.0}"),
            "claims/test_claims.py:7: claim M1: {items: 3.000.0}: *not a printed number*",
        ),
        (claim("M1", "{share: 87.5}%"), "claims/test_claims.py:7: claim M1: the percent after*belongs inside*"),
        (claim("M1", ""), "claims/test_claims.py:6: test_M1 has no docstring*"),
        ("@pytest.mark.claim('M1')\ndef test_it(): ...\n", "claims/test_claims.py:6: test_it has no docstring*"),
        ("@pytest.mark.claim()\ndef test_it(): 'Good.'\n", "claims/test_claims.py:6: a claim has one id*nothing came"),
        ("@pytest.mark.claim('M 1')\ndef test_it(): 'Good.'\n", "*: a claim has one id*'M 1' came"),
        (claim("M1", "Good.", marks="section=7"), "claims/test_claims.py:6: claim M1: section=7 must be a text*"),
        (claim("M1", "Good.", marks='kind="proof"'), "*: claim M1: kind='proof' is not one of pilot, *"),
        (
            claim("M1", "Good.", marks='theorem="tests/test_gone.py::test_it"'),
            "*names tests/test_gone.py, which does not*",
        ),
        (claim("M1", "Good.", marks='theorem="pytest.ini::test_it"'), "*pytest.ini defines no test_it"),
        ("@pytest.mark.claim('M2')\n" + claim("M1", "Good."), "*: test_M1 carries 2 claims ('M1', 'M2')*"),
        (
            "@pytest.mark.registered()\n" + claim("M1", "{items: 3,000}"),
            "claims/test_claims.py:7: registered names one experiment*",
        ),
        (
            "@pytest.mark.parametrize('x', [1, 2])\n" + claim("M1", "Good.").replace("(evidence)", "(evidence, x)"),
            "*: claim id M1 is used by several parameters of one test*",
        ),
        (
            claim("M1", "Good.") + "\n\n" + claim("M1", "Bad.").replace("test_M1", "test_twin"),
            "claims/test_claims.py:12: claim id M1 is used twice: at claims/test_claims.py:6 and at *claims.py:12",
        ),
    ],
)
def test_a_mistake_stops_the_session(repository: Repository, source: str, message: str) -> None:
    repository.claims(source, claim("M9", "Of {items: 3,000}.", RUNS))
    result = repository.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines([message])
    result.stdout.fnmatch_lines(["*Interrupted: * during collection*"])
    assert not (repository.path / "ran").exists()
    assert "Traceback" not in result.stdout.str()


def test_all_mistakes_of_all_files_are_reported_at_once(repository: Repository) -> None:
    repository.claims(claim("M1", "0.5 and {: 1} of 14/20"), claim("M2", "Good."), name="claims/a/test_a.py")
    repository.claims(claim("M3", "3 pairs"), claim("M2", "Good."), name="claims/b/test_b.py")
    result = repository.run("claims", "-k", "M9")
    assert result.ret == 2
    result.stdout.fnmatch_lines(
        [
            "claims/a/test_a.py:7: claim M1: unbound number 0.5 at column 8: write *",
            "claims/a/test_a.py:7: claim M1: {: 1} has an empty key*",
            "claims/a/test_a.py:7: claim M1: unbound number 14/20 at column 25: write *",
            "claims/b/test_b.py:7: claim M3: unbound number 3 at column 8: write *",
            "claims/b/test_b.py:12: claim id M2 is used twice: at claims/a/test_a.py:12 and at claims/b/test_b.py:12",
        ]
    )


def test_a_text_that_is_named_and_absent_is_a_mistake(repository: Repository) -> None:
    repository.claims(GOOD)
    result = repository.run("claims", "-o", "claims_texts=paper.md")
    assert result.ret == 2
    result.stdout.fnmatch_lines(["claims_texts: paper.md does not exist in the repository"])


def test_accepting_needs_a_claim_that_exists(repository: Repository) -> None:
    repository.claims(GOOD)
    result = repository.run("claims", "--claims-accept", "M8")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--claims-accept M8: no claim has this id*"])


def test_the_garbage_collector_gets_everything_back_when_another_session_starts(repository: Repository) -> None:
    import gc

    repository.claims(GOOD)
    repository.run()
    frozen = gc.get_freeze_count()
    repository.write("claims/test_claims.py", "def test_it(): pass\n")
    repository.run()
    assert (frozen > 0, gc.get_freeze_count(), gc.isenabled()) == (True, 0, True)


def test_garbage_is_looked_for_less_often_among_claims_alone(repository: Repository) -> None:
    import gc

    before = gc.get_threshold()
    repository.claims(claim("M1", "{items: 3,000}", "import gc\n    assert gc.get_threshold()[0] == 10_000"))
    repository.run("claims").assert_outcomes(passed=1)
    assert gc.get_threshold() == before
    repository.write("tests/test_it.py", f"import gc\ndef test_it(): assert gc.get_threshold() == {before}\n")
    repository.run("tests").assert_outcomes(passed=1)


def test_how_often_a_test_wants_garbage_looked_for_is_left(repository: Repository) -> None:
    import gc

    before = gc.get_threshold()
    try:
        repository.write("tests/test_it.py", "import gc\ndef test_it(): gc.set_threshold(321, 4, 5)\n")
        repository.run("tests").assert_outcomes(passed=1)
        assert gc.get_threshold() == (321, 4, 5)
        gc.set_threshold(0)
        repository.claims(claim("M1", "{items: 3,000}", "import gc\n    assert gc.get_threshold()[0] == 0"))
        repository.run("claims").assert_outcomes(passed=1)
        assert gc.get_threshold()[0] == 0
    finally:
        gc.set_threshold(*before)
