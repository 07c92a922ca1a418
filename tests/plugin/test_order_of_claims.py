"""What a claim says of the order of freeze and run: in its verdict, in the summary, in the table."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from assay.runs import Record
from tests.unit.runs.frozen_repository import commit, freeze, git, lab, run, run_unrefused

from .conftest import INI, claim

pytest_plugins = ["pytester"]

HEAD = 'import pytest\npytestmark = pytest.mark.registered("lab.coin", tier="confirmatory")\n\n\n'
GOOD = claim("C1", "Heads in {heads: 30} flips.", marks='kind="confirmatory"')


@pytest.fixture(scope="session")
def confirmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was frozen, run, registered and committed, with an exploratory run beside."""
    root = lab(tmp_path_factory.mktemp("confirmed") / "lab")
    (root / "pytest.ini").write_text(INI)
    commit(root, "settings")
    freeze(root)
    commit(root, "freeze")
    run(root, "--tier", "confirmatory", "--register", "the plan")
    run(root, "--tier", "tiny", "--register", "a look")
    commit(root, "results")
    return root


@pytest.fixture
def house(pytester: pytest.Pytester, confirmed: Path) -> Path:
    """A copy of it, with a claim that calls itself confirmatory."""
    shutil.copytree(confirmed, pytester.path, dirs_exist_ok=True)
    write(pytester.path, GOOD)
    return pytester.path


def write(house: Path, *claims: str) -> None:
    (house / "claims").mkdir(exist_ok=True)
    (house / "claims/test_claims.py").write_text(HEAD + "\n\n".join(claims))


def check(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("claims", "--claims-json", "out.json", "--claims-table", "table.md", *options)


def said(house: Path) -> dict[str, str]:
    (one,) = json.loads((house / "out.json").read_text())["claims"]
    return {name: one[name] for name in ("verdict", "kind", "order", "doubt", "note")}


def squash(house: Path) -> None:
    git(house, "reset", "-q", "--soft", "HEAD~2")
    git(house, "commit", "-q", "-m", "all at once")


def test_a_proven_order_holds_and_is_in_the_table(pytester: pytest.Pytester, house: Path) -> None:
    result = check(pytester, "--claims-strict")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["1 claim: 1 HOLDS"])
    assert said(house) == {"verdict": "HOLDS", "kind": "confirmatory", "order": "proven", "doubt": "", "note": ""}
    table = (house / "table.md").read_text()
    assert "| confirmatory (order proven) |" in table
    check(pytester)
    assert (house / "table.md").read_text() == table


def test_an_unprovable_order_warns_and_fails_when_strict(pytester: pytest.Pytester, house: Path) -> None:
    squash(house)
    result = check(pytester)
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["order *C1  unprovable: lab.coin_confirmatory_*: commit * rewritten*", "1 claim: 1 HOLDS"]
    )
    found = said(house)
    assert (found["verdict"], found["order"]) == ("HOLDS", "unprovable")
    assert "rewritten" in found["doubt"]
    assert "| confirmatory (order unprovable: lab.coin" in (house / "table.md").read_text().replace("\\", "")
    strict = check(pytester, "--claims-strict")
    assert strict.ret == 1
    strict.stdout.fnmatch_lines(["    order       unprovable: lab.coin_confirmatory_*"])


def test_code_that_changed_after_the_freeze_warns_and_fails_when_strict(pytester: pytest.Pytester, house: Path) -> None:
    source = house / "experiments/lab/coin.py"
    git(house, "reset", "-q", "--hard", "HEAD~1")
    source.write_text(source.read_text().replace("* 7", "* 8"))
    commit(house, "another factor")
    run(house, "--tier", "confirmatory", "--register", "the plan, counted otherwise")
    write(house, claim("C1", "It is confirmed.", "assert evidence['heads'] > 0", marks='kind="confirmatory"'))
    why = "lab.coin_confirmatory_*: the code changed between freeze 1-* and the run"
    result = check(pytester)
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"order *C1  proven: {why}", "1 claim: 1 HOLDS"])
    assert "| confirmatory (order proven: lab.coin" in (house / "table.md").read_text().replace("\\", "")
    strict = check(pytester, "--claims-strict")
    assert strict.ret == 1
    strict.stdout.fnmatch_lines([f"    order       proven: {why}"])


def test_a_violated_order_fails_with_that_word(pytester: pytest.Pytester, house: Path) -> None:
    (copied,) = (house / "experiments/lab/frozen").glob("*.md")
    copied.write_text("We always meant 30.\n")
    result = check(pytester)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "C1  FAILS  claims/test_claims.py:7",
            "    order       violated: experiments/lab/frozen/1-*.md was edited after the freeze*",
            "    what to do  report it as exploratory, or freeze seeds and data*",
            "FAILS       C1  order violated: *",
        ]
    )
    assert (said(house)["verdict"], said(house)["order"]) == ("FAILS", "violated")


def test_a_run_that_was_never_frozen_fails_whatever_the_claim_calls_itself(
    pytester: pytest.Pytester, house: Path
) -> None:
    shutil.rmtree(house / "experiments/lab/frozen")
    for path in (house / "experiments").glob("registry/events/*-frozen-*"):
        path.unlink()
    shutil.rmtree(house / ".git")
    git(house, "init", "-q", "-b", "main")
    commit(house, "as if nothing had been")
    Record(house / "experiments").register(run_unrefused(house), why="nobody will see")
    write(house, claim("C1", "Heads in {heads: 30} flips."))
    result = check(pytester)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["    order       violated: lab was never frozen, and the run is here*"])


def test_a_claim_that_calls_itself_confirmatory_on_an_exploratory_run_fails(
    pytester: pytest.Pytester, house: Path
) -> None:
    (house / "claims/test_claims.py").write_text(HEAD.replace("confirmatory", "tiny") + GOOD.replace("30", "7"))
    result = check(pytester)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["    kind        the claim calls itself confirmatory, its run is exploratory"])
    assert said(house)["order"] == ""


def test_a_confirmatory_claim_reads_no_exploratory_run_beside(pytester: pytest.Pytester, house: Path) -> None:
    body = 'assert evidence.run("lab.coin", tier="tiny")["heads"] == 7'
    write(house, claim("C1", "Heads in {heads: 30} flips.", body, marks='kind="confirmatory"'))
    result = check(pytester)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["    kind        the claim calls itself confirmatory, lab.coin_tiny_* is exploratory"])
    write(house, claim("C1", "Heads in {heads: 30} flips.", body))
    assert check(pytester).ret == 0
    assert (said(house)["kind"], said(house)["order"]) == ("confirmatory, exploratory", "proven")
