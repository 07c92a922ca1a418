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
    result.stdout.fnmatch_lines(
        ["    registered  yes   *", "    registered  True   *", "    why         True is a truth*"]
    )


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


UNITTEST = """import unittest


class TestIt(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def given(self, evidence):
        self.evidence = evidence

"""


@pytest.mark.parametrize("value", ["evidence['wins.target'].share > 0.9", "True", "0", "'text'", "[]"])
def test_a_value_that_is_returned_is_no_assertion(repository: Repository, value: str) -> None:
    repository.claims(
        claim("M1", "Of {items: 3,000}.", f"return {value}"),
        claim("M2", "Of {items: 3,000}.", "return None"),
        claim("M3", "Of {items: 3,000}."),
        claim("P1", "Later {x.y: 1}.", "return 1", marks='pending="later"'),
    )
    assert verdicts(repository) == {"M1": "FAILS", "M2": "HOLDS", "M3": "HOLDS", "P1": "PENDING"}
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["M1  FAILS  *", "    claim       the test returns a *: write assert, not return"])
    assert "Traceback" not in result.stdout.str()


def test_a_value_that_a_method_of_unittest_returns_is_no_assertion(repository: Repository) -> None:
    method = "    @pytest.mark.claim('{0}')\n    def test_{0}(self):\n        'Of {{items: 3,000}}.'\n        {1}\n\n"
    repository.claims(
        UNITTEST
        + method.format("M1", "return self.evidence['items'] < 5")
        + method.format("M2", "assert self.evidence['items'] > 5")
        + "class TestLater(unittest.IsolatedAsyncioTestCase):\n"
        + method.format("M3", "return 1").replace("def test", "async def test")
        + method.format("M4", "return").replace("def test", "async def test")
    )
    assert verdicts(repository) == {"M1": "FAILS", "M2": "HOLDS", "M3": "FAILS", "M4": "HOLDS"}
    assert verdicts(repository, "--claims-mutate") == {"M1": "FAILS", "M2": "HOLDS", "M3": "FAILS", "M4": "HOLDS"}


RUNS_COROUTINES = """import asyncio, inspect, pytest


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        asyncio.run(pyfuncitem.obj(evidence=pyfuncitem.funcargs["evidence"]))
        return True
"""


def test_a_coroutine_is_judged_by_what_it_asserts(repository: Repository) -> None:
    bodies = {"M1": "return 1", "M2": "...", "M3": "assert evidence['items'] < 5"}
    found = [claim(name, "Of {items: 3,000}.", body).replace("def ", "async def ") for name, body in bodies.items()]
    repository.claims(*found)
    assert set(verdicts(repository).values()) == {"FAILS"}  # pytest alone does not run coroutines
    repository.write("conftest.py", RUNS_COROUTINES)
    assert verdicts(repository) == {"M1": "FAILS", "M2": "HOLDS", "M3": "FAILS"}


GOOD = "Of {items: 3,000}, in {wins.target: 14/20}."


def subtest(name: str, *bodies: str) -> str:
    """A claim whose sentence is true, with one subtest for each body."""
    body = "\n    ".join(f"with subtests.test():\n        {body}" for body in bodies)
    return claim(name, GOOD, body).replace("(evidence)", "(evidence, subtests)")


def test_a_claim_whose_subtest_fails_does_not_hold(repository: Repository) -> None:
    repository.claims(
        subtest("S1", "assert True", "assert False", "assert True"),
        subtest("S2", "assert True"),
        subtest("S3", "evidence['gone']"),
        subtest("S4", "pytest.skip('later')"),
        subtest("S5", "{}['x']"),
        subtest("S6", "assert False") + "    assert 1 > 2\n",
        subtest("S7", "pytest.xfail('later')"),
        claim(
            "S8", "Two are {n: 2}.", "with subtests.test():\n        pass\n    evidence.bind(n=2); evidence['items']"
        ).replace("(evidence)", "(evidence, subtests)"),
    )
    expected = {"S1": "FAILS", "S2": "HOLDS", "S3": "UNVERIFIED", "S4": "UNVERIFIED", "S5": "FAILS"}
    expected |= {"S6": "FAILS", "S7": "UNVERIFIED", "S8": "HOLDS"}
    assert verdicts(repository, "--claims-table", "table.md") == verdicts(repository, "-n", "2") == expected
    table = (repository.path / "table.md").read_text()
    assert "| **FAILS**<br>an assertion fails |" in table
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["S1  FAILS  claims/test_claims.py:*", "    subtest     an assertion fails"])
    result.stdout.fnmatch_lines(["    evidence    a subtest was skipped: nothing is skipped (later)"])
    result.stdout.fnmatch_lines(["8 claims: 2 HOLDS, 3 FAILS, 3 UNVERIFIED"])


def test_a_subtest_is_a_check_that_moves_of_the_evidence_turn(repository: Repository) -> None:
    repository.claims(
        subtest("S1", "assert evidence['delta.median'] > 0"),
        subtest("S2", "assert evidence['delta.median']"),
    )
    result = repository.run("claims", "--claims-mutate")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["moved       S1  *", "CANNOT FAIL S2  *", "* 1 of 2 claims cannot fail"])
    result.stdout.fnmatch_lines(["*1 failed, 1 passed*"])
    assert "SUBFAILED" not in result.stdout.str()


def test_a_claim_whose_subtest_of_unittest_fails_does_not_hold(repository: Repository) -> None:
    method = "    @pytest.mark.claim('{0}')\n    def test_{0}(self):\n        'Of {{items: 3,000}}.'\n"
    method += "        for value in ({1}):\n            with self.subTest(value=value):\n"
    method += "                assert self.evidence['items'] > value\n\n"
    repository.claims(UNITTEST + method.format("U1", "1, 5000, 2") + method.format("U2", "1, 2"))
    assert verdicts(repository) == {"U1": "FAILS", "U2": "HOLDS"}
    assert repository.run().ret == 1


FIXTURES = """
@pytest.fixture
def broken():
    yield
    raise RuntimeError("the rig fell over")


@pytest.fixture
def skipped():
    yield
    pytest.skip("no rig")


@pytest.fixture
def checks(subtests):
    yield
    with subtests.test():
        assert False

"""


@pytest.mark.parametrize(
    ("fixture", "why"),
    [
        ("broken", "a fixture failed in its teardown: the rig fell over"),
        ("skipped", "a fixture failed in its teardown: *no rig"),
        ("checks", "an assertion fails"),
    ],
)
def test_a_claim_whose_fixture_fails_afterwards_does_not_hold(repository: Repository, fixture: str, why: str) -> None:
    uses = f"(evidence, {fixture})"
    repository.claims(
        FIXTURES,
        claim("T1", GOOD).replace("(evidence)", uses),
        claim("T2", "Of {items: 2,999}.").replace("(evidence)", uses),
        claim("T3", "Later.", marks='pending="later"').replace("(evidence)", uses),
        claim("T4", GOOD),
    )
    verdict = "FAILS" if fixture == "checks" else "UNVERIFIED"
    expected = {"T1": verdict, "T2": "FAILS", "T3": verdict, "T4": "HOLDS"}
    assert (
        verdicts(repository, "--claims-mutate") == verdicts(repository, "-n", "2") == verdicts(repository) == expected
    )
    result = repository.run("claims", "-k", "T1")
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"{verdict:<10}  T1  {why}", f"1 claim: 1 {verdict}"])


def test_a_table_may_be_bound_whatever_its_columns_are_called(repository: Repository) -> None:
    body = "import pandas as pd\n    evidence.bind(x=pd.DataFrame({'of': [1, 2], 'count': [1, 2]}))"
    repository.claims(
        claim("M1", "{items: 3,000} items.", body), claim("M2", "{x: 3}", body), claim("M3", "{items: 3,000}")
    )
    assert verdicts(repository) == {"M1": "HOLDS", "M2": "FAILS", "M3": "HOLDS"}
