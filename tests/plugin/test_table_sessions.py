"""The claim table over full, partial and parallel sessions."""

from __future__ import annotations

import json
import sys

import pytest

from assay.ledger.session import list_claims, run_claims, table_is_current

from .conftest import EFFECT, Repository, claim

pytest_plugins = ["pytester"]

TABLE = "docs/CLAIM_EVIDENCE.md"


@pytest.fixture
def three(repository: Repository) -> Repository:
    """Three claims in two files, one of them failing, and their table."""
    repository.claims(
        claim("M2", "In {wins.target: 14/20} of {= 20} | *pairs*.", marks='section="7"'),
        claim("M10", "By {delta.median: +0.0999}."),
    )
    repository.claims(claim("C1", "Later.", marks='pending="a | b"'), name="claims/test_more.py")
    repository.run("claims", "--claims-table", TABLE)
    return repository


def table(repository: Repository) -> str:
    """The table as it is."""
    return (repository.path / TABLE).read_text()


def test_rows_sort_escape_and_count(three: Repository) -> None:
    text = table(three)
    lines = text.splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == ["C1", "M2", "M10"]
    assert "In **14/20** of *20* \\| \\*pairs\\*." in rows[1]
    assert "**PENDING**<br>a \\| b" in rows[0]
    assert "**FAILS**<br>printed +0.0999, registered +0.0123" in rows[2]
    assert "`wins.target`, `= 20`" in rows[1]
    assert "`study.effect`" in rows[1]
    assert "| HOLDS | 1 |" in text
    assert "| PENDING | 1 |" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("claims",),
        ("claims", "-k", "M2"),
        ("claims/test_more.py",),
        ("claims", "-n", "2", "-k", "M10"),
        ("claims", "-p", "cacheprovider", "--lf"),
        ("claims", "-x"),
        ("claims", "--import-mode=importlib"),
        ("claims", "--deselect", "claims/test_claims.py::test_M2"),
    ],
    ids=" ".join,
)
def test_no_session_loses_a_row_or_changes_a_byte(three: Repository, arguments: tuple[str, ...]) -> None:
    before = table(three)
    if "--lf" in arguments:
        three.run("claims", "-p", "cacheprovider", "-o", "addopts=")
        arguments += ("-o", "addopts=")
    result = three.run(*arguments, "--claims-table", TABLE)
    assert result.ret in (0, 1)
    assert table(three) == before


def test_a_partial_session_updates_its_rows_alone(three: Repository) -> None:
    path = three.path / "claims/test_claims.py"
    path.write_text(path.read_text().replace("14/20", "13/20").replace("+0.0999", "+0.0123"))
    three.run("claims", "-k", "M10", "--claims-table", TABLE)
    assert "**14/20**" in table(three)
    assert "By **+0.0123**. | **HOLDS** |" in table(three)


def test_a_removed_claim_goes_in_a_full_session_only(three: Repository) -> None:
    (three.path / "claims/test_more.py").unlink()
    three.run("claims", "-k", "M2", "--claims-table", TABLE)
    assert "`C1`" in table(three)
    three.run("claims", "--claims-table", TABLE)
    assert "`C1`" not in table(three)
    assert "`M10`" in table(three)


def test_a_table_that_is_no_table_is_left_alone(three: Repository) -> None:
    (three.path / TABLE).write_text("my notes\n")
    result = three.run("claims", "-k", "M2", "--claims-table", TABLE)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["claims: the claim table has another heading*"])
    assert table(three) == "my notes\n"


def test_parallel_verdicts_equal_serial_ones(three: Repository) -> None:
    documents = []
    for workers in ("0", "2"):
        three.run("claims", "-n", workers, "--claims-json", "out.json")
        documents.append((three.path / "out.json").read_text())
    assert documents[0] == documents[1]
    assert json.loads(documents[0])["verdicts"] == {"FAILS": 1, "HOLDS": 1, "PENDING": 1}


def test_the_table_is_current_until_evidence_changes(three: Repository) -> None:
    assert table_is_current(three.path) == ""
    (three.path / "experiments/study/effect.py").write_text(EFFECT.replace("3", "4"))
    assert "STALE" in table_is_current(three.path)


def test_claims_are_listed_without_running_them(three: Repository) -> None:
    found = list_claims(three.path / "claims")
    assert [one.id for one in found] == ["M2", "M10", "C1"]
    assert found[0].place == "claims/test_claims.py:6"
    assert found[0].sentence == "In 14/20 of 20 | *pairs*."
    assert (found[0].section, found[0].experiment) == ("7", "study.effect")


def test_run_claims_gives_one_document(three: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_claims([], as_json=True) == 1
    assert json.loads(capsys.readouterr().out)["verdicts"] == {"FAILS": 1, "HOLDS": 1, "PENDING": 1}
    assert run_claims(["-k", "M2", "-q"]) == 0
    assert run_claims(["--no-such-option"]) == 2


IN_SESSIONS = """
import sys, pytest
for words in sys.argv[1:]:
    print("=== session", flush=True)
    print("status", int(pytest.main(words.split())), "torch" in sys.modules, "pandas" in sys.modules, flush=True)
"""


def test_a_fresh_process_imports_neither_torch_nor_pandas(three: Repository) -> None:
    result = three.pytester.run(sys.executable, "-c", IN_SESSIONS, "claims")
    assert result.outlines[-1] == "status 1 False False"


@pytest.mark.parametrize("more", ["", " -n 2", " --assert=plain"])
@pytest.mark.parametrize("level", ["1", "2"])
def test_optimised_python_is_refused(three: Repository, monkeypatch: pytest.MonkeyPatch, level: str, more: str) -> None:
    three.write("claims/checks.py", "def check(evidence):\n    assert evidence['items'] < 5\n")
    body = "import checks; checks.check(evidence)"
    three.claims(claim("O1", "Of {items: 3,000}.", body), name="claims/test_checks.py")
    plain = three.pytester.run(sys.executable, "-c", IN_SESSIONS, "claims -k O1")
    assert plain.outlines[-1] == "status 1 False False"
    monkeypatch.setenv("PYTHONOPTIMIZE", level)
    result = three.pytester.run(sys.executable, "-c", IN_SESSIONS, "claims" + more)
    assert result.outlines[-1] == f"status {1 if '-n' in more else 2} False False"
    result.stdout.fnmatch_lines(["python -O (or PYTHONOPTIMIZE) removes assertions*"])
    assert "HOLDS" not in result.stdout.str()
