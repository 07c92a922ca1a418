"""`--claims-mutate`: which claims could not fail, whatever the registered run said."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from .conftest import EFFECT, Repository, claim

pytest_plugins = ["pytester"]

GOOD = (
    "Wins {wins.target: 14/20}, by {delta.median: +0.0123} ({share: 87.5%}); p {p: < 0.001}, {cka: 0.85 [0.83, 0.87]}."
)
TABLE = "t = evidence.table('directions'); "


def files(folder: Path) -> dict[str, bytes]:
    """Every file but compiled Python."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def faults(repository: Repository, *arguments: str) -> dict[str, str]:
    """What cannot fail, and why, by claim."""
    repository.run("claims", "--claims-mutate", "--claims-json", "out.json", *arguments)
    found = json.loads((repository.path / "out.json").read_text())["claims"]
    return {one["id"]: one["faults"] for one in found if one.get("faults")}


def test_numbers_in_braces_can_always_fail(repository: Repository) -> None:
    repository.claims(
        claim("M1", GOOD),
        claim("M2", "H2 is {H2: supported}, {best: SmolLM2-135M} of {items: 3,000}; {p: 4.0e-4}, {cka: 0.85 +- 0.02}."),
        claim("M3", "Parts {cka.low: 0.83}, {wins.target.count: 14}, {wins.target.share: 70%}; {config.sesoi: 0.25}."),
        claim("M4", "At a tie {delta.tie: 0.875} and {= 5}."),
    )
    result = repository.run("claims", "--claims-mutate")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["moved       M1  19 moves, 19 noticed", "* 0 of 4 claims cannot fail"])


@pytest.mark.parametrize(
    ("sentence", "body", "fault"),
    [
        ("Good.", "evidence['delta.median']", "delta.median had no effect*-0.0123, 12.3*"),
        ("{items: 3,000}", "assert evidence['H2'] in (True, False)", "H2 had no effect*with False"),
        ("{items: 3,000}", "evidence['wins.target']", "wins.target had no effect*"),
        ("{items: 3,000}", "assert evidence['best']", "best had no effect*"),
        ("{items: 3,000}", "evidence['cka']", "cka had no effect*"),
        ("Of {n: 45}, {items: 3,000}.", "evidence.bind(n=45)", "n is bound to 45 whatever is read"),
        ("{items: 3,000}", "evidence.bind(n=evidence['items'])", "n (derived) had no effect*"),
        ("{items: 3,000}", "evidence.run('study.other')['loss']", "study.other:loss had no effect*"),
        ("{items: 3,000}", "evidence['config.seed']", "config.seed had no effect*"),
        ("Good.", "evidence.table('directions')", "table directions had no effect*"),
        ("Good.", TABLE + "assert t.set_index('pair').delta['a'] is not None", "table directions had no effect*"),
        ("Good.", TABLE + "assert not (t.delta > 1).any()", "table directions is not checked for NaN*delta all NaN"),
        ("Good.", "try: assert evidence['items'] > 5\n    except Exception: pass", "items had no effect*"),
    ],
)
def test_what_has_no_effect_is_named(repository: Repository, sentence: str, body: str, fault: str) -> None:
    repository.claims(claim("M1", sentence, body), claim("M2", GOOD))
    assert repository.run().ret == 0
    result = repository.run("claims", "--claims-mutate")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["M1  CANNOT FAIL  claims/test_claims.py:*", f"    why         {fault}"])
    result.stdout.fnmatch_lines([f"CANNOT FAIL M1  *: {fault}", "* 1 of 2 claims cannot fail"])
    result.stdout.fnmatch_lines(["*1 failed, 1 passed*"])


def test_assertions_that_look_are_enough(repository: Repository) -> None:
    repository.claims(
        claim("M1", "Good.", "assert evidence['delta.median'] > 0"),
        claim("M2", "Good.", "assert abs(evidence['delta.median']) < 1 and evidence['H2']"),
        claim("M3", "Good.", "assert evidence['wins.target'].share > 0.5 and evidence['cka'].low > 0"),
        claim("M4", "Of {n: 2}.", "evidence.bind(n=len(evidence.table('directions')))"),
        claim("M5", "Good.", TABLE + "assert (t.delta > 0).sum() == 1"),
        claim("M6", "Good.", TABLE + "assert set(t.pair) == {'a', 'b'}"),
        claim("M7", "Good.", TABLE + "assert t.delta.abs().max() < 1"),
        claim("M8", "By {gain: 1.25}.", "evidence.bind(gain=evidence['config.sesoi'] + evidence['H2'])"),
        claim("M9", "Good.", "assert evidence['best'].startswith('Smol') and 0.01 < evidence['delta.median'] < 0.02"),
        "@pytest.fixture\ndef wins(evidence):\n    return evidence['wins.target']\n",
        claim("M10", "Good.", "assert wins.count > 10").replace("(evidence)", "(wins)"),
        "class TestIt:\n    @pytest.mark.claim('M11')\n    def test_it(self, evidence):\n        '''Good.'''\n"
        "        assert evidence.run('study.other')['loss'] < 3\n",
    )
    assert faults(repository) == {}


def test_nothing_else_is_moved(repository: Repository) -> None:
    repository.claims(
        claim("P1", "Later {x.y: 5}.", "raise RuntimeError", marks='pending="later"'),
        claim("T1", "The map is onto.", marks='theorem="by hand"'),
        claim("M1", "{items: 2,999}"),
        claim("M2", GOOD),
    )
    result = repository.run("claims", "--claims-mutate")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["moved       M1  not moved: it is FAILS", "moved       M2  *", "moved       P1  not moved: it is PENDING"]
    )
    result.stdout.fnmatch_lines(["moved       T1  nothing to move", "* 0 of 4 claims cannot fail"])


def test_no_file_is_touched_and_the_table_stays(repository: Repository) -> None:
    repository.claims(claim("M1", GOOD, "evidence['items']"))
    repository.run("claims", "--claims-table", "docs/table.md", "--claims-json", "plain.json")
    before = files(repository.path)
    repository.run("claims", "--claims-mutate", "--claims-table", "docs/table.md")
    assert files(repository.path) == before


def test_workers_and_selections_say_the_same(repository: Repository) -> None:
    repository.claims(
        claim("M1", "Good.", "evidence['items']"), claim("M2", GOOD), claim("M3", "Good.", "evidence['p']")
    )
    serial = faults(repository)
    document = (repository.path / "out.json").read_text()
    assert sorted(serial) == ["M1", "M3"]
    assert faults(repository, "-n", "2") == serial
    assert (repository.path / "out.json").read_text() == document
    assert sorted(faults(repository, "-k", "M1 or M2")) == ["M1"]


def test_stale_claims_are_moved_and_junit_says_it(repository: Repository) -> None:
    (repository.path / "experiments/study/effect.py").write_text(EFFECT.replace("3", "4"))
    repository.claims(claim("M1", GOOD, "evidence['items']"))
    repository.run("claims", "--claims-mutate", "--junitxml", "out.xml")
    found = {one.get("name"): one.get("value") for one in ET.parse(repository.path / "out.xml").iter("property")}
    assert (found["claim_verdict"], found["claim_moves"], found["claim_moves_noticed"]) == ("STALE", "25", "20")
    assert found["claim_faults"] is not None
    assert found["claim_faults"].startswith("items had no effect")


@pytest.mark.parametrize("other", [("--claims-accept", "M1"), ("--pdb",)])
def test_what_does_not_go_with_it_is_refused(repository: Repository, other: tuple[str, ...]) -> None:
    repository.claims(claim("M1", GOOD))
    result = repository.run("claims", "--claims-mutate", *other)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*leave out {other[0]}*"])


def test_module_fixtures_are_made_once_and_function_fixtures_each_time(repository: Repository) -> None:
    repository.claims(
        "MADE = []\n@pytest.fixture(scope='module')\ndef once():\n    MADE.append('module')\n    yield\n"
        "    print('made', MADE.count('module'), MADE.count('function') > 5)\n",
        "@pytest.fixture\ndef each():\n    MADE.append('function')\n",
        claim("M1", GOOD).replace("(evidence)", "(evidence, once, each)"),
        claim("M2", GOOD).replace("(evidence)", "(evidence, once, each)"),
    )
    result = repository.run("claims", "--claims-mutate", "-s")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*made 1 True*"])


def test_parts_of_a_count_of_nothing_are_moved(repository: Repository) -> None:
    repository.claims(claim("M1", "{broken.none.of: 0} plots were looked at."))
    result = repository.run("claims", "--claims-mutate")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["moved       M1  3 moves, 3 noticed"])
