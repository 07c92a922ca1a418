"""Verdicts, explanations and exit status of the plugin on small suites."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

from .conftest import EFFECT, Repository, Settings, claim, git, run_and_register

pytest_plugins = ["pytester"]

SENTENCE = "The plan beats its sham in {wins.target: 14/20} directions, median {delta.median: +0.0123} nats."
GOOD = claim("M7", SENTENCE, marks='section="7"')


def verdicts(repository: Repository, *arguments: str) -> dict[str, str]:
    """Verdict by claim of a session on claims/."""
    repository.run("claims", "--claims-json", "verdicts.json", *arguments)
    found = json.loads((repository.path / "verdicts.json").read_text())
    return {one["id"]: one["verdict"] for one in found["claims"]}


def test_a_true_sentence_holds(repository: Repository) -> None:
    repository.claims(GOOD)
    result = repository.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["1 claim: 1 HOLDS"])


def test_a_changed_digit_fails_with_the_whole_explanation(repository: Repository) -> None:
    path = repository.claims(GOOD.replace("14/20", "13/20"))
    repository.write(
        "README.md", "# Results\n\n- The plan beats its sham in 13/20 directions,\n  median +0.0123 nats (M7).\n"
    )
    result = repository.run()
    assert result.ret == 1
    line = next(n for n, text in enumerate(path.read_text().splitlines(), start=1) if "13/20" in text)
    text = result.stdout.str()
    run = r"study\.effect_tiny_[0-9a-f]{12}, completed \d{4}-\d\d-\d\dT\d\d:\d\dZ, commit [0-9a-f]{7} \(clean\)"
    assert re.search(
        rf"^M7  FAILS  claims/test_claims.py:{line}\n"
        r"    printed     13/20\n"
        r"    registered  14/20   study\.effect -> wins\.target\n"
        rf"    run         {run}\n"
        r"    the text    README\.md:3 prints 13/20 as well$",
        text,
        re.MULTILINE,
    ), text
    assert "Traceback" not in text
    assert "makereport" not in text
    assert "FAILS       M7  printed 13/20, registered 14/20" in text


def test_every_wrong_number_is_named_with_its_line(repository: Repository) -> None:
    repository.claims(
        claim("M1", "In {wins.target: 13/20}\n    by {delta.median: +0.0124}, above {config.sesoi: 0.3}.")
    )
    result = repository.run()
    result.stdout.fnmatch_lines(
        [
            "M1  FAILS  claims/test_claims.py:7",
            "    printed     13/20",
            "    registered  14/20   study.effect -> wins.target",
            "    printed     +0.0124   (claims/test_claims.py:8)",
            "    registered  +0.0123   study.effect -> delta.median",
        ],
        consecutive=True,
    )
    result.stdout.fnmatch_lines(["1 claim: 1 FAILS"])


def test_a_changed_digit_in_the_summary_is_unverified(repository: Repository) -> None:
    repository.claims(GOOD)
    repository.summary.write_text(repository.summary.read_text().replace("14", "15"))
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["M7  UNVERIFIED  claims/test_claims.py:7", "    evidence    altered: *summary.json*"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("The plan beats its sham in 15/20 directions, median +0.0123 nats (M7).", "prints 15/20 where*prints 14/20"),
        ("The plan loses to its sham in 14/20 directions, median +0.0123 nats (M7).", "with other words*"),
    ],
)
def test_a_changed_citation_fails_its_claim(repository: Repository, text: str, problem: str) -> None:
    repository.claims(GOOD, claim("M8", "Share {share: 87.5%}."))
    repository.write("README.md", f"# A\n\n## Results\n\n**Here:**\n\n{text}\nShare 87.5% (M8).\n")
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["M7  FAILS  *", f"    the text    README.md:7 *{problem}*"])
    result.stdout.fnmatch_lines(["2 claims: 1 HOLDS, 1 FAILS"])


def test_a_true_citation_holds_whatever_its_emphasis(repository: Repository) -> None:
    repository.claims(GOOD)
    text = "# Results\n\n- The plan beats its sham in **14/20** directions,\n  median `+0.0123` _nats_ (M7).\n"
    repository.write("README.md", text + "\n```\nin 3/20 (M7)\n```\n\n# Elsewhere\n\nThe plan (M7) is good.\n")
    assert repository.run().ret == 0


def test_an_unknown_citation_anywhere_fails_the_session(repository: Repository) -> None:
    repository.claims(GOOD)
    repository.write(
        "README.md",
        "# Results\n\nWe saw it (M9), in layer (L0).\n\n# Method (M12)\n\nSee (M7, M10), `(M11)` and (Q4).\n",
    )
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["README.md:3 cites (M9): no claim has this id"])
    result.stdout.fnmatch_lines(["README.md:7 cites (M10): no claim has this id"])
    assert not {"M11", "M12", "Q4"} & set(re.findall(r"\w+", result.stdout.str()))


def test_an_ordinary_assertion_keeps_its_introspection(repository: Repository) -> None:
    repository.claims(claim("M1", "Wins in {wins.target: 14/20}.", 'assert evidence["wins.target"].share > 0.9'))
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*assert 0.7 > 0.9", "*claim M1*", "M1  FAILS  claims/test_claims.py:7"])


@pytest.mark.parametrize(
    ("sentence", "body", "verdict", "why"),
    [
        ("It is {broken.nan: 0.1}.", "...", "UNVERIFIED", "non-finite: *broken.nan is nan*"),
        ("It is {broken.inf: 0.1}.", "...", "UNVERIFIED", "non-finite: *broken.inf is inf*"),
        ("It is {broken.none: 0/0}.", "...", "UNVERIFIED", "non-finite: *broken.none is 0/0*"),
        ("It is {wins.tarpet: 14/20}.", "...", "UNVERIFIED", "absent: *no value 'wins.tarpet'*Did you mean*"),
        ("It is {config.sesoy: 0.25}.", "...", "UNVERIFIED", "absent: *no field 'sesoy'*"),
        ("Good.", "assert not evidence['broken.nan'] > 1", "UNVERIFIED", "non-finite: *"),
        ("Good.", "evidence.table('directoins')", "UNVERIFIED", "absent: *no table 'directoins'*"),
        ("Good.", "evidence.run('study.never')['x']", "UNVERIFIED", "absent: study.never has no registered run*"),
        ("Good.", "evidence.run('study.other', tier='open')", "UNVERIFIED", "absent: *"),
        ("Good.", "...", "UNVERIFIED", "*reads nothing*"),
        ("It is {= 5}.", "...", "UNVERIFIED", "*reads nothing*"),
        ("It is {x: 0.1}.", "evidence.bind(x=float('nan'))", "UNVERIFIED", "non-finite: x, bound by the claim*"),
        ("Good.", "pytest.skip('later')", "UNVERIFIED", "the test was skipped*later*"),
        ("Good.", "pytest.xfail('later')", "UNVERIFIED", "*expected to fail*"),
        ("It is {items: 1}.", "evidence.bind(items=1)", "FAILS", "*hides a key of study.effect_tiny*"),
        ("It is {x: 1}.", "evidence.bind(x=1); evidence.bind(x=2)", "FAILS", "*bound already*"),
    ],
)
def test_what_cannot_be_evidence(repository: Repository, sentence: str, body: str, verdict: str, why: str) -> None:
    repository.claims(claim("M1", sentence, body))
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines([f"M1  {verdict}  claims/test_claims.py:*", f"    *{why}"])
    assert "Traceback" not in result.stdout.str()


def test_a_stopped_test_does_not_blame_what_it_never_bound(repository: Repository) -> None:
    repository.claims(claim("M1", "It is {derived: 1}.", "assert evidence['items'] < 1; evidence.bind(derived=1)"))
    result = repository.run()
    assert "derived" not in result.stdout.str().partition("claim M1")[2]


def test_derived_values_tables_and_other_runs(repository: Repository) -> None:
    body = (
        "t = evidence.table('directions'); evidence.bind(n=len(t), loss=evidence.run('study.other')['loss'])\n"
        "    assert (t.delta > 0).sum() == 1 and evidence.manifest.tier == 'tiny'"
    )
    repository.claims(claim("M1", "Of {n: 2} pairs, loss {loss: 2.5}.", body))
    assert verdicts(repository) == {"M1": "HOLDS"}
    (found,) = json.loads((repository.path / "verdicts.json").read_text())["claims"]
    assert found["keys"] == "study.other:loss; table directions; n (derived); loss (derived)" or found["keys"] == (
        "table directions; study.other:loss; n (derived); loss (derived)"
    )
    assert found["generator"] == "study.effect; study.other"
    assert found["tier"] == "tiny, small"


def test_skip_marks_xfail_marks_and_broken_fixtures_are_unverified(repository: Repository) -> None:
    repository.claims(
        "@pytest.fixture\ndef broken():\n    raise RuntimeError('no')\n",
        "@pytest.mark.skip(reason='later')\n" + claim("M1", "{items: 3,000}"),
        "@pytest.mark.xfail(reason='later', strict=False)\n" + claim("M2", "{items: 3,000}"),
        "@pytest.mark.xfail(reason='later', strict=True)\n" + claim("M3", "{items: 3,001}"),
        "@pytest.mark.xfail(reason='later', strict=True)\n" + claim("M4", "{items: 3,000}"),
        claim("M5", "{items: 3,000}").replace("(evidence)", "(evidence, broken)"),
        claim("M6", "{items: 3,000}"),
    )
    expected = {f"M{n}": "UNVERIFIED" for n in range(1, 6)} | {"M6": "HOLDS"}
    assert verdicts(repository) == expected
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*3 failed, 1 passed, 2 errors*"])


def test_pending_is_listed_by_name_and_its_body_not_run(repository: Repository) -> None:
    pending = claim("C19", "It will be {x.y: 0.5}.", "raise RuntimeError", marks='pending="needs a 96 GB node"')
    repository.claims(GOOD, pending)
    result = repository.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["PENDING     C19  needs a 96 GB node", "2 claims: 1 HOLDS, 1 PENDING"])


def test_theorems_name_what_carries_them(repository: Repository) -> None:
    repository.write("tests/test_proof.py", "def test_it(): pass\n")
    repository.claims(claim("T1", "The map is onto.", marks='theorem="tests/test_proof.py::test_it"'))
    assert verdicts(repository) == {"T1": "HOLDS"}
    (found,) = json.loads((repository.path / "verdicts.json").read_text())["claims"]
    assert (found["kind"], found["generator"]) == ("theorem", "tests/test_proof.py::test_it")


def test_a_claim_may_not_call_itself_confirmatory(repository: Repository) -> None:
    repository.claims(claim("M1", "{items: 3,000}", marks='kind="confirmatory"'))
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["    kind        the claim calls itself confirmatory, its run is exploratory"])


def test_changed_sources_are_stale_and_strict_fails(repository: Repository) -> None:
    repository.claims(GOOD)
    (repository.path / "experiments/study/effect.py").write_text(EFFECT + "# a comment\n")
    assert verdicts(repository) == {"M7": "HOLDS"}
    (repository.path / "experiments/study/effect.py").write_text(EFFECT.replace("3", "4"))
    result = repository.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["STALE       M7  experiments.study.effect changed since *", "1 claim: 1 STALE"])
    strict = repository.run("claims", "--claims-strict")
    assert strict.ret == 1
    strict.stdout.fnmatch_lines(["M7  STALE  claims/test_claims.py:7", "    stale       experiments.study.effect *"])


def test_a_tie_is_flagged(repository: Repository) -> None:
    repository.claims(claim("M1", "{delta.tie: 0.875}"), claim("M2", "{delta.tie: 0.874}"))
    result = repository.run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["tie         M1  delta.tie prints 0.875, registered 0.8745", "tie         M2  *0.874*"]
    )


def test_an_empty_registry_fails(repository: Repository) -> None:
    repository.claims(GOOD)
    result = repository.run("claims", "--claims-root", "nowhere")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["M7  UNVERIFIED  *", "    evidence    absent: study.effect has no registered run*"])


def test_a_superseded_registration_and_another_root(repository: Repository) -> None:
    registered = next((repository.path / "experiments/registered").glob("study.effect.*"))
    before = registered.read_bytes()
    git(repository.path, "add", "-A")
    git(repository.path, "commit", "--quiet", "-m", "first run")
    run_and_register(repository.path, settings=Settings(seed=8))
    repository.claims(GOOD)
    assert verdicts(repository) == {"M7": "HOLDS"}
    registered.write_bytes(before)
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["    evidence    superseded: *"])


def test_junit_has_the_properties(repository: Repository) -> None:
    repository.claims(GOOD)
    repository.run("claims", "--junitxml", "out.xml", "-o", "junit_family=xunit1")
    found = {one.get("name"): one.get("value") for one in ET.parse(repository.path / "out.xml").iter("property")}
    assert found["claim"] == "M7"
    assert found["claim_sentence"] == "The plan beats its sham in 14/20 directions, median +0.0123 nats."
    assert found["claim_verdict"] == "HOLDS"
    assert found["claim_printed"] == found["claim_registered"] == "14/20; +0.0123"
    assert found["claim_run"].startswith("study.effect_tiny_")
    assert found["claim_section"] == "7"


def test_inert_without_claims(repository: Repository) -> None:
    repository.write("claims/test_plain.py", "def test_it(): pass\n")
    before = sorted(repository.path.rglob("*"))
    result = repository.run()
    assert result.ret == 0
    assert "= claims =" not in result.stdout.str()
    assert [path for path in sorted(repository.path.rglob("*")) if "__pycache__" not in str(path)] == [
        path for path in before if "__pycache__" not in str(path)
    ]


def test_evidence_is_for_claims(repository: Repository) -> None:
    repository.write("claims/test_plain.py", "def test_it(evidence): pass\n")
    result = repository.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*evidence is for claims: mark the test*"])


def test_classes_parameters_and_fixtures(repository: Repository) -> None:
    repository.claims(
        "@pytest.fixture\ndef wins(evidence):\n    return evidence['wins.target']\n",
        "@pytest.mark.registered('study.other')\nclass TestOther:\n    @pytest.mark.claim('M1')\n"
        "    def test_loss(self, evidence):\n        '''Loss is {loss: 2.5}.'''\n",
        "@pytest.mark.parametrize('key', [pytest.param('items', marks=pytest.mark.claim('M2')),\n"
        "    pytest.param('share', marks=pytest.mark.claim('M3'))])\ndef test_both(evidence, key):\n"
        "    '''Both, of {items: 3,000}.'''\n    assert evidence[key] > 0.5\n",
        claim("M4", "Good.", "assert wins.count == 14").replace("(evidence)", "(wins)"),
        "@pytest.mark.claim('M5')\ndef test_alone():\n    '''Of {items: 3,000}.'''\n",
    )
    assert set(verdicts(repository).values()) == {"HOLDS"}
    found = {one["id"]: one for one in json.loads((repository.path / "verdicts.json").read_text())["claims"]}
    assert sorted(found) == ["M1", "M2", "M3", "M4", "M5"]
    assert found["M3"]["keys"] == "share; items"
    assert found["M4"]["keys"] == "wins.target"


def test_declared_names(repository: Repository) -> None:
    repository.claims(claim("M1", "Gemma 3 270M saw {items: 3,000}."))
    result = repository.run()
    assert result.ret != 0
    assert repository.run("claims", "-o", "claims_names='Gemma 3 270M'").ret == 0
