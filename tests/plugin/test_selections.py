"""Which claims run, and on what: ids as keywords, folders that are no root, fixtures that stand in for ours."""

from __future__ import annotations

import json
import re

import pytest

from assay.ledger.session import run_claims

from .conftest import Repository, claim, git

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


WRAPPED = """import pytest


@pytest.fixture
def evidence(evidence):
    class Wrapped:
        def __getitem__(self, key):
            return "overridden" if key == "mine" else evidence[key]
    return Wrapped()
"""


def test_a_fixture_that_wraps_the_evidence_is_honoured(repository: Repository) -> None:
    repository.write("claims/a/conftest.py", WRAPPED)
    repository.claims(
        claim("M1", GOOD, "assert evidence['mine'] == 'overridden' and evidence['share'] == 0.875"),
        claim("M2", "Good.", "assert evidence['items'] > 5"),
        claim("M3", "Good.", "assert evidence['mine']"),
        name="claims/a/test_wrapped.py",
    )
    repository.claims(claim("M4", GOOD, "assert type(evidence).__name__ == 'Evidence'"))
    expected = {"M1": "HOLDS", "M2": "HOLDS", "M3": "UNVERIFIED", "M4": "HOLDS"}
    assert (
        verdicts(repository) == verdicts(repository, "-n", "2") == verdicts(repository, "--claims-mutate") == expected
    )
    found = {one["id"]: one["keys"] for one in json.loads((repository.path / "verdicts.json").read_text())["claims"]}
    assert found == {"M1": "share; items", "M2": "items", "M3": "", "M4": "items"}


@pytest.mark.parametrize(
    ("conftest", "marks", "message"),
    [
        (
            "@pytest.fixture\ndef evidence():\n    return {}\n",
            "",
            "claims/conftest.py:2: this fixture named evidence hides *",
        ),
        (
            "@pytest.fixture(name='evidence')\ndef mine(request):\n    return {}\n",
            "",
            "claims/conftest.py:2: this fixture named evidence hides *",
        ),
        (
            "",
            "@pytest.mark.parametrize('evidence', [{}])\n",
            "claims/test_claims.py::test_M1*: a parameter named evidence hides *",
        ),
    ],
)
def test_a_fixture_that_hides_the_evidence_is_refused(
    repository: Repository, conftest: str, marks: str, message: str
) -> None:
    repository.write("claims/conftest.py", f"import pytest\n{conftest}")
    repository.claims(marks + claim("M1", GOOD))
    result = repository.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines([message])


@pytest.mark.parametrize("folder", [".", "docs", "claims/a"])
@pytest.mark.parametrize("settings", [True, False])
def test_claims_are_checked_from_any_folder_of_the_repository(
    repository: Repository,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    folder: str,
    settings: bool,
) -> None:
    repository.claims(claim("M1", GOOD), claim("M2", "Of {items: 2,999}."), name="claims/a/test_a.py")
    repository.write("docs/results.md", "# Results\n\nOf 2,999 (M9).\n")
    if not settings:
        (repository.path / "pytest.ini").unlink()
    monkeypatch.chdir(repository.path / folder)
    assert run_claims(["-q", "-k", "M1"]) == 1
    out = capfd.readouterr().out
    assert "1 claim: 1 HOLDS" in out
    assert "docs/results.md:3 cites (M9): no claim has this id" in out
    (repository.path / folder / "../table.md").write_text("")  # not what to check, though it is there
    assert run_claims(["--claims-table", "../table.md", "-q"], as_json=True) == 1
    assert json.loads(capfd.readouterr().out)["verdicts"] == {"FAILS": 1, "HOLDS": 1}
    if folder == "claims/a":
        assert run_claims(["test_a.py::test_M2", "-q"]) == 1
        assert "1 claim: 1 FAILS" in capfd.readouterr().out


def test_pytest_without_settings_finds_the_record_above_the_claims(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = repository.claims(claim("M1", GOOD), name="claims/a/test_a.py")
    (repository.path / "pytest.ini").unlink()
    repository.write("README.md", "# Results\n\nOf 2,999 (M1).\n")
    for folder, *arguments in (("claims/a",), ("claims",), (".", "claims"), (".", str(path)), ("/", str(path.parent))):
        monkeypatch.chdir(repository.path / folder)
        result = repository.pytester.runpytest_inprocess(*arguments, "-p", "no:cacheprovider")
        assert result.ret == 1
        result.stdout.fnmatch_lines(
            ["M1  FAILS  claims/a/test_a.py:7", "    the text    README.md:3 prints 2,999 where*", "1 claim: 1 FAILS"]
        )


def test_a_record_beyond_the_repository_is_not_ours(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.claims(claim("M1", GOOD), name="other/claims/test_a.py")
    (repository.path / "pytest.ini").unlink()
    git(repository.path / "other", "init", "--quiet", "--template=")
    monkeypatch.chdir(repository.path / "other/claims")
    result = repository.pytester.runpytest_inprocess("-p", "no:cacheprovider")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["    evidence    absent: study.effect has no registered run*"])
