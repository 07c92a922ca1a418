"""A waived run says so with its reason, by the words of `pytest claims/` and of the claim table, and void ones are."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.ledger.claim import Verdict
from assay.report.document import document
from assay.report.markdown import markdown
from assay.report.page import page
from assay.report.study import Study
from assay.report.summary import evidence_in_words
from tests.unit.report.preregistered_repository import SOURCE, confirmed, id_of, read, waive
from tests.unit.runs.outgrown_repository import edit
from tests.unit.runs.toy_repository import assay_json

CHANGED = "experiments.lab.coin changed: function coin changed, function inputs renamed to the_inputs"
WHY = "a function was <renamed>, no number"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = confirmed(tmp_path_factory.mktemp("waived") / "lab")
    waive(root, "tiny", WHY)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "lab", symlinks=True)


def card(html: str, run_id: str) -> str:
    """The card of a run."""
    rest = html[html.index(f'<article class="run" id="{run_id}"') :]
    return rest[: rest.index("</article>")]


def row(text: str, run_id: str) -> str:
    """The row of a registered run in the Markdown report."""
    (found,) = [line for line in text.splitlines() if line.startswith(f"| `{run_id}`") and line.count("|") == 9]
    return found.replace("\\", "")


def test_a_waived_run_says_so_in_the_words_of_the_claims(made: Path) -> None:
    run_id = id_of(made, "tiny")
    command = [sys.executable, "-m", "pytest", "claims", "-p", "no:cacheprovider", "--claims-table", "build/table.md"]
    printed = subprocess.run(command, cwd=made, capture_output=True, text=True, check=False).stdout
    said = f"waived for {run_id}: {WHY}"
    assert said in printed
    assert said in (made / "build/table.md").read_text().replace("\\", "")
    study = read(made)
    assert study.claims[1].note == said
    html, text = page(study), markdown(study, [])
    escaped = said.replace("<", "&lt;").replace(">", "&gt;")
    shown = card(html, run_id)
    assert f"<p>{escaped}</p>" in shown
    assert '<span class="chip waived">waived</span>' in shown
    assert CHANGED in shown
    assert '"chip stale"' not in shown
    claim = html[html.index('<article class="claim" id="C2"') :]
    assert f'<p class="note holds">{escaped}</p>' in claim[: claim.index("</article>")]
    assert f"| {said}<br>{CHANGED}" in row(text, run_id)
    assert f"*{said}*" in text.replace("\\", "")


def test_a_run_that_nobody_waived_is_stale_beside_it(made: Path) -> None:
    study = read(made)
    run_id = id_of(made, "confirmatory")
    shown = card(page(study), run_id)
    assert "stale</span>" in shown
    assert "waived" not in shown
    assert CHANGED in shown
    assert f"| **stale**<br>{CHANGED}" in row(markdown(study, []), run_id)
    assert [one.what for one in study.open if one.state == "stale"] == [run_id]
    assert [claim.verdict for claim in study.claims] == [Verdict.STALE, Verdict.HOLDS]


def test_a_waiver_is_void_at_the_next_change_and_shown_as_void(root: Path) -> None:
    edit(root, SOURCE, "* 7 %", "* 8 %")
    run_id = id_of(root, "tiny")
    study = read(root)
    html, text = page(study), markdown(study, [])
    shown = card(html, run_id)
    assert '<p class="note void">waiver void, given 20' in shown
    assert "&lt;renamed&gt;" in shown
    assert "stale</span>" in shown
    assert '"chip waived"' not in shown
    assert f"waived for {run_id}" not in html + text.replace("\\", "")
    assert "<br>waiver void, given 20" in row(text, run_id)
    (one,) = [run for run in document(study)["runs"] if run["tier"] == "tiny"]
    assert (one["stale"], one["waiver"], [void["why"] for void in one["void_waivers"]]) == (True, None, [WHY])
    assert any(one.what == run_id and "waiver void" in one.why for one in study.open)


def test_a_second_waiver_is_in_force_beside_the_void_one(root: Path) -> None:
    edit(root, SOURCE, "Coins, flipped", "Coins flipped")  # a docstring changes nothing
    assert read(root).runs[1].waived.endswith(WHY)
    edit(root, SOURCE, "* 7 %", "* (7) %")
    edit(root, SOURCE, "the_inputs", "all_inputs")
    run_id = id_of(root, "tiny")
    assay_json(root, "runs", "waive", run_id, "--why", "renamed again")
    shown = card(page(read(root)), run_id)
    assert f"waived for {run_id}: renamed again" in shown
    assert shown.count('"note void"') == 1


def test_what_is_as_it_was_needs_no_waiver(root: Path) -> None:
    edit(root, SOURCE, "the_inputs", "inputs")
    run_id = id_of(root, "tiny")
    study = read(root)
    shown = card(page(study), run_id)
    assert '"chip waived"' not in shown
    assert '"note void"' in shown
    assert "Since the run" not in shown
    assert [claim.verdict for claim in study.claims] == [Verdict.HOLDS] * 2


def test_a_waived_run_is_said_in_the_first_paragraph_and_to_programs(root: Path) -> None:
    assay_json(root, "runs", "waive", id_of(root, "confirmatory"), "--why", "the same")
    study = read(root)
    said = evidence_in_words(study)
    assert "What changed since 2 of them is waived, with the reason. Nothing else is stale" in said
    found = json.loads(json.dumps(document(study)))["runs"]
    assert [(one["stale"], one["waiver"]["why"]) for one in found] == [(False, "the same"), (False, WHY)]
    assert found[0]["changes"] == [CHANGED]
    assert found[0]["waiver"]["at"].startswith("20")


def test_a_run_as_it_was_says_unchanged(study: Study) -> None:
    text = markdown(study, [])
    effect = next(run.run_id for run in study.runs if run.name == "study.effect.tiny")
    assert "| unchanged |" in row(text, effect)
