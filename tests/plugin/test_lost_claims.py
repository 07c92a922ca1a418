"""A claim that is written and that pytest does not run is named, fails the session, and is no row that holds."""

from __future__ import annotations

import json

import pytest

from assay.ledger.session import table_is_current

from .conftest import Repository, claim

pytest_plugins = ["pytester"]

TRUE, FALSE = "Wins {wins.target: 14/20}.", "Wins {wins.target: 13/20}."
TABLE = "docs/CLAIM_EVIDENCE.md"
WRITTEN = "written, and not judged: "
MARKED = 'import pytest\npytestmark = pytest.mark.registered("study.effect", tier="tiny")\n\n\n'


def verdicts(repository: Repository, *arguments: str) -> dict[str, str]:
    """Verdict by claim of a session on claims/."""
    repository.run("claims", "--claims-json", "verdicts.json", *arguments)
    found = json.loads((repository.path / "verdicts.json").read_text())
    return {one["id"]: one["verdict"] for one in found["claims"]}


LOSSES = {
    "a module that skips itself": (
        "claims/test_lost.py",
        "pytest.importorskip('nope')\n" + claim("K1", FALSE),
        "claims/test_lost.py:7: " + WRITTEN + "its file was skipped: could not import 'nope'*",
    ),
    "a module that is skipped for a reason": (
        "claims/test_lost.py",
        "pytest.skip('not here', allow_module_level=True)\n" + claim("K1", FALSE),
        "claims/test_lost.py:7: " + WRITTEN + "its file was skipped: not here",
    ),
    "a function that is no test": (
        "claims/test_lost.py",
        claim("K1", FALSE).replace("def test_K1", "def check"),
        "claims/test_lost.py:6: " + WRITTEN + "pytest collects no check: python_functions is test",
    ),
    "a file that is no test": (
        "claims/a/lost.py",
        claim("K1", FALSE),
        "claims/a/lost.py:6: " + WRITTEN + "pytest collects no file lost.py: python_files is test_[*].py [*]_test.py",
    ),
    "a class that is no test": (
        "claims/test_lost.py",
        "class Wins:\n    @pytest.mark.claim('K1')\n    def test_it(self, evidence): 'Wins {wins.target: 13/20}.'\n",
        "claims/test_lost.py:7: " + WRITTEN + "pytest collects no Wins: python_classes is Test",
    ),
    "a function that another hides": (
        "claims/test_lost.py",
        claim("K1", FALSE) + "\n\ndef test_K1(): pass\n",
        "claims/test_lost.py:6: " + WRITTEN + "test_K1 is defined again at line 11, which hides it",
    ),
    "a claim below a condition": (
        "claims/test_lost.py",
        "if not True:\n    @pytest.mark.claim('K1')\n    def test_it(evidence): 'Wins {wins.target: 13/20}.'\n",
        "claims/test_lost.py:7: " + WRITTEN + "no test of this session judged it",
    ),
    "a sentence that nobody read": (
        "claims/a/lost.py",
        claim("K1", "Wins 13/20 | {"),
        "claims/a/lost.py:6: " + WRITTEN + "*",
    ),
    "parameters of none": (
        "claims/test_lost.py",
        "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.claim('K1'))][1:])\n"
        "def test_it(evidence, x): 'Wins {wins.target: 13/20}.'\n",
        "claims/test_lost.py:6: " + WRITTEN + "no test of this session judged it",
    ),
}


@pytest.mark.parametrize("more", [(), ("-n", "2")], ids=["serial", "workers"])
@pytest.mark.parametrize(("name", "source", "why"), LOSSES.values(), ids=LOSSES)
def test_what_pytest_does_not_run_is_unverified(
    repository: Repository, name: str, source: str, why: str, more: tuple[str, ...]
) -> None:
    repository.claims(claim("G1", TRUE))
    repository.claims(source, name=name)
    result = repository.run("claims", "--claims-json", "verdicts.json", *more)
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"UNVERIFIED  K1  {why}", "2 claims: 1 HOLDS, 1 UNVERIFIED"])
    found = {one["id"]: one for one in json.loads((repository.path / "verdicts.json").read_text())["claims"]}
    assert (found["K1"]["verdict"], found["K1"]["file"], found["G1"]["verdict"]) == ("UNVERIFIED", name, "HOLDS")


@pytest.mark.parametrize(("name", "source", "why"), LOSSES.values(), ids=LOSSES)
def test_a_session_of_nothing_but_lost_claims_fails(repository: Repository, name: str, source: str, why: str) -> None:
    repository.claims(source, name=name)
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"UNVERIFIED  K1  {why}", "1 claim: 1 UNVERIFIED"])


def test_a_table_never_keeps_the_row_of_a_lost_claim(repository: Repository) -> None:
    repository.claims(claim("K1", TRUE))
    repository.claims(claim("K2", TRUE), name="claims/test_more.py")
    repository.run("claims", "--claims-table", TABLE)
    assert table_is_current(repository.path) == ""
    repository.claims("pytest.importorskip('nope')\n" + claim("K1", FALSE))
    assert "UNVERIFIED" in table_is_current(repository.path)
    result = repository.run("claims", "-k", "K2", "--claims-table", TABLE)
    assert result.ret == 0
    assert "14/20** directions" not in (repository.path / TABLE).read_text()
    assert (repository.path / TABLE).read_text().count("**14/20**") == 2  # a partial session keeps what it did not run
    repository.run("claims", "--claims-table", TABLE)
    (row,) = [line for line in (repository.path / TABLE).read_text().splitlines() if line.startswith("| `K1`")]
    assert "**13/20**" in row
    assert "**UNVERIFIED**<br>claims/test\\_claims.py:7: written, and not judged" in row
    assert table_is_current(repository.path) == ""


def test_twins_of_one_name_are_refused_before_anything_runs(repository: Repository) -> None:
    first, second = (
        claim(name, text).replace(f"test_{name}", "test_s") for name, text in (("S1", FALSE), ("S2", TRUE))
    )
    repository.claims(first, second, claim("S3", TRUE, "open('ran', 'w').close()"))
    for more in ((), ("-n", "2"), ("-k", "S3")):
        result = repository.run("claims", *more)
        assert result.ret in (1, 2)
        result.stdout.fnmatch_lines(
            ["claims/test_claims.py:6: claim S1: test_s is defined again at line 12, which hides it from pytest: *"]
        )
        assert not (repository.path / "ran").exists()
    same = claim("S1", FALSE) + "\n\n" + claim("S1", TRUE)
    repository.claims(same)
    result = repository.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["claims/test_claims.py:6: claim S1: test_S1 is defined again at line 12, *"])


@pytest.mark.parametrize("more", [(), ("--claims-mutate",)])
def test_a_body_that_ends_the_session_does_not_end_it_well(repository: Repository, more: tuple[str, ...]) -> None:
    repository.claims(claim("E1", TRUE), claim("E2", TRUE, "pytest.exit('enough', returncode=0)"), claim("E3", FALSE))
    result = repository.run("claims", *more)
    assert result.ret == 1
    why = WRITTEN + "the session ended early (*: enough)"
    result.stdout.fnmatch_lines(
        [f"UNVERIFIED  E2  claims/test_claims.py:12: {why}", f"UNVERIFIED  E3  claims/test_claims.py:18: {why}"]
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("claims", "-k", "G1"),
        ("claims", "-m", "claim"),
        ("claims/test_claims.py::test_G1",),
        ("claims/test_claims.py",),
        ("claims/b",),
        ("claims", "--ignore=claims/a"),
        ("claims", "--ignore-glob=*/a"),
        ("claims", "--ignore-glob=claims/a/*.py"),
        ("claims", "--deselect=claims/a"),
        ("tests",),
        ("claims", "--collect-only"),
    ],
)
def test_a_session_that_was_not_to_run_a_claim_does_not_miss_it(
    repository: Repository, arguments: tuple[str, ...]
) -> None:
    repository.claims(claim("G1", TRUE))
    repository.claims(claim("G2", TRUE), name="claims/b/test_b.py")
    repository.claims(claim("K1", FALSE), name="claims/a/lost.py")
    repository.write("tests/test_plain.py", "def test_it(): pass\n")
    result = repository.run(*arguments)
    assert result.ret == 0
    assert "K1" not in result.stdout.str()


@pytest.mark.parametrize("arguments", [(".",), ("claims/a",), ("claims/a/test_a.py", "claims/test_claims.py"), ()])
def test_every_place_that_was_named_is_looked_at(repository: Repository, arguments: tuple[str, ...]) -> None:
    repository.claims(claim("G1", TRUE))
    repository.claims("pytest.importorskip('nope')\n" + claim("K1", FALSE), name="claims/a/test_a.py")
    result = repository.pytester.runpytest_inprocess(*arguments)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["UNVERIFIED  K1  claims/a/test_a.py:7: *"])


def test_a_folder_that_is_ignored_hides_no_other(repository: Repository) -> None:
    repository.claims(claim("K1", FALSE), name="claims/a/lost.py")
    repository.claims(claim("K2", FALSE), name="claims/b/lost.py")
    repository.claims(claim("G1", TRUE))
    result = repository.run("claims", "--ignore=claims/a")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["UNVERIFIED  K2  claims/b/lost.py:6: *", "2 claims: 1 HOLDS, 1 UNVERIFIED"])


def test_claims_beside_claims_are_looked_at_wherever_they_are(repository: Repository) -> None:
    repository.claims(claim("G1", TRUE), name="tests/paper/test_paper.py")
    repository.claims("pytest.importorskip('nope')\n" + claim("K1", FALSE), name="tests/paper/test_more.py")
    result = repository.run("tests")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["UNVERIFIED  K1  tests/paper/test_more.py:7: *"])


def test_ids_that_only_an_import_knows_are_missed_too(repository: Repository) -> None:
    computed = (
        "@pytest.mark.parametrize('n', [pytest.param(n, marks=pytest.mark.claim(f'N{n}')) for n in (1, 2)])\n"
        "def test_both(evidence, n):\n    'Wins {wins.target: 14/20}.'\n"
    )
    repository.claims(computed, claim("G1", TRUE))
    assert verdicts(repository) == {"N1": "HOLDS", "N2": "HOLDS", "G1": "HOLDS"}
    repository.claims(computed.replace("def test_both", "def both"), claim("G1", TRUE))
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["claims/test_claims.py:6: written, and not judged: *(claim whose id is computed)"])


def test_one_id_in_two_files_of_which_one_is_lost(repository: Repository) -> None:
    repository.claims(claim("K1", TRUE))
    repository.claims(claim("K1", FALSE), name="claims/copy.py")
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["claims/copy.py:6: written, and not judged: * (claim K1)", "1 claim: 1 HOLDS; 1 more to correct, see above"]
    )


def test_what_only_looks_like_a_claim_is_none(repository: Repository) -> None:
    repository.claims(
        "# @pytest.mark.claim('X1')\nTEXT = '''@pytest.mark.claim(\"X2\")'''\nclaim = pytest.mark.claim\n",
        claim("G1", TRUE),
        "@claim('G2')\ndef test_two(evidence): 'Wins {wins.target: 14/20}.'\n",
    )
    repository.write("claims/conftest.py", "def pytest_itemcollected(item):\n    item.get_closest_marker('claim')\n")
    repository.write("claims/.ipynb_checkpoints/test_claims.py", MARKED + claim("X3", FALSE))
    result = repository.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["2 claims: 2 HOLDS"])
