"""Freezes and the order of runs in every form of a report: unprovable is shown as neither proven nor violated."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from assay.ledger.claim import Verdict
from assay.report.document import document
from assay.report.markdown import markdown
from assay.report.page import page
from assay.report.preregistered import MEANING, NO_RUN, NONE
from assay.report.study import Study
from assay.report.summary import evidence_in_words
from assay.runs import Record
from assay.runs.freeze import freezes
from tests.unit.report.preregistered_repository import confirmed, id_of, planned, read, squash
from tests.unit.runs.frozen_repository import commit, freeze, git, run_unrefused
from tests.unit.runs.toy_repository import assay

VERDICTS = {"proven", "witnessed", "unprovable", "violated"}


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return confirmed(tmp_path_factory.mktemp("confirmed") / "lab")


@pytest.fixture
def root(frozen: Path, tmp_path: Path) -> Path:
    return shutil.copytree(frozen, tmp_path / "lab", symlinks=True)


def forms(study: Study) -> tuple[str, str, str]:
    """Page, Markdown and JSON of a study."""
    return page(study), markdown(study, []), json.dumps(document(study))


def chips(html: str) -> set[str]:
    """The verdicts on order that a page shows."""
    return set(re.findall(r'<span class="chip \w+"><span aria-hidden="true">.</span> order (\w+)</span>', html))


def test_a_freeze_is_shown_with_all_that_the_record_says_of_it(frozen: Path) -> None:
    (made,) = freezes(Record(frozen / "experiments"), "lab")
    study = read(frozen)
    html, text, said = forms(study)
    when = f"{made.at[:10]} {made.at[11:16]} UTC"
    for form in (html, text):
        for part in (made.sha256, made.commit[:12], made.copy, when, made.configurations[0].config_hash[:12]):
            assert part in form
        assert MEANING in form.replace("\\", "")
        assert "in force" in form
        assert "weights" in form
    assert "A hash proves content, not time" in MEANING
    (shown,) = json.loads(said)["preregistration"]["freezes"]
    assert (shown["sha256"], shown["commit"], shown["at"]) == (made.sha256, made.commit, made.at)
    assert shown["configurations"][0]["config"]["seed"] == 90


def test_a_proven_order_is_shown_of_run_and_claim(frozen: Path) -> None:
    study = read(frozen)
    html, text, said = forms(study)
    run_id = id_of(frozen, "confirmatory")
    assert chips(html) == {"proven"}
    row = re.search(rf'<li><span class="chip proven">.*?</span>.*?{run_id}.*?</li>', html, re.DOTALL)
    assert row is not None
    assert "registered" in row[0]
    assert "of the run holds freeze 1-" in row[0]
    claim = html[html.index('<article class="claim" id="C1"') :]
    assert "order proven" in claim[: claim.index("</article>")]
    other = html[html.index('<article class="claim" id="C2"') :]
    assert "order" not in other[: other.index("</article>")]
    assert "**C1** HOLDS, confirmatory (order proven): Heads in" in text
    assert f"| `{run_id}` | registered | **proven** | 1-" in text
    found = json.loads(said)
    assert [(one["id"], one["order"]) for one in found["claims"]] == [("C1", ["proven"]), ("C2", [])]
    assert [(one["tier"], one["order"]) for one in found["runs"]] == [("confirmatory", "proven"), ("tiny", None)]
    assert "The order of freeze and run is proven. Nothing is stale, pending or failed." in evidence_in_words(study)


def test_an_unprovable_order_is_shown_as_that_alone(root: Path) -> None:
    squash(root)
    study = read(root)
    html, text, said = forms(study)
    assert chips(html) == {"unprovable"}
    for form in (html, text, said):
        assert not re.search(r"order[ :\"*\[]*(proven|violated|witnessed)", form)
        assert "history was rewritten" in form
    assert '<span class="chip stale">order unprovable</span>' in html
    assert html.count("note unprovable") == 1
    short = html[html.index("In short") : html.index('<section id="_claims"')]
    assert chips(short) == {"unprovable"}
    assert '"chip proven"' not in html
    assert "**C1** HOLDS, confirmatory (order unprovable: lab.coin" in text.replace("\\", "")
    assert [claim.verdict for claim in study.claims] == [Verdict.HOLDS] * 2
    assert "The order of freeze and run is unprovable." in evidence_in_words(study)
    assert "Nothing is stale" not in evidence_in_words(study)


def test_a_tag_that_kept_the_commits_is_a_witness(root: Path) -> None:
    git(root, "tag", "kept")
    squash(root)
    html, text, _ = forms(read(root))
    assert chips(html) == {"witnessed"}
    assert "**witnessed**" in text
    assert "tag kept keeps it, HEAD does not" in html


def test_a_violated_order_is_shown_and_open(root: Path) -> None:
    (copied,) = (root / "experiments/lab/frozen").glob("*.md")
    copied.write_text("We always meant 30.\n")
    study = read(root)
    html, text, said = forms(study)
    assert chips(html) == {"violated"}
    assert '<span class="chip violated">order violated</span>' in html
    assert "copy edited" in html
    assert "**C1** FAILS, confirmatory (order violated)" in text
    assert json.loads(said)["preregistration"]["order"][0]["order"] == "violated"
    assert not re.search(r"order[ :\"*]*(proven|unprovable)", html + text)


def test_a_run_without_any_freeze_is_shown_as_violated(root: Path) -> None:
    shutil.rmtree(root / "experiments/lab/frozen")
    for path in (root / "experiments").glob("registry/events/*-frozen-*"):
        path.unlink()
    shutil.rmtree(root / ".git")
    git(root, "init", "-q", "-b", "main")
    commit(root, "as if nothing had been")
    Record(root / "experiments").register(run_unrefused(root), why="nobody will see")
    html, text, _ = forms(read(root))
    assert "lab was never frozen, and the run is here" in html
    assert "lab was never frozen" in text
    assert "superseded" in html[html.index('<ul class="orders">') : html.index('<section id="_runs"')]


def test_several_freezes_say_which_is_in_force(root: Path) -> None:
    (root / "experiments/lab/PREREGISTRATION.md").write_text("# Another plan\n")
    commit(root, "another plan")
    refused = assay(root, "freeze", "lab", "--shared", "*")
    assert refused.returncode
    freeze(root, "--tier", "confirmatory", "--set", "seed=91", "--set", "part=later")
    html, text, said = forms(read(root))
    for form in (html, text):
        assert form.index("replaced") < form.index("in force")
    assert [one["number"] for one in json.loads(said)["preregistration"]["freezes"]] == [1, 2]
    assert chips(html) == {"proven"}


def test_a_freeze_alone_says_that_nothing_was_run(tmp_path: Path) -> None:
    html, text, said = forms(read(planned(tmp_path / "lab")))
    assert NO_RUN in html
    assert NO_RUN in text
    assert json.loads(said)["preregistration"]["order"] == []
    assert chips(html) == set()


def test_a_study_without_freeze_says_so_in_one_line(study: Study) -> None:
    html, text, said = forms(study)
    assert html.count(NONE) == text.count(NONE) == 1
    assert 'id="_order"' not in html
    assert "Freezes" not in html + text
    assert json.loads(said)["preregistration"] == {"freezes": [], "order": [], "problem": ""}


def test_a_freeze_that_cannot_be_read_is_said_and_proves_nothing(root: Path) -> None:
    (path,) = (root / "experiments/registry/events").glob("*-frozen-*")
    path.write_text("{}")
    study = read(root)
    html, text, said = forms(study)
    for form in (html, text.replace("\\", ""), said):
        assert path.name in form
    assert ("freezes of lab", "damaged") in {(one.what, one.state) for one in study.open}
    assert '"chip proven"' not in html
    assert NONE not in html


def test_a_confirmatory_run_that_cannot_be_read_is_named_and_unprovable(root: Path) -> None:
    run_id = id_of(root, "confirmatory")
    Record(root / "experiments").manifest_path(run_id).write_text("{")
    study = read(root)
    (one,) = study.preregistered.runs
    assert (one.run_id, one.status, one.order) == (run_id, "unreadable", "unprovable")
    assert chips(page(study)) == {"unprovable"}


def test_of_one_experiment_the_confirmatory_runs_of_others_are_left_out(root: Path) -> None:
    source = (root / "experiments/lab/coin.py").read_text()
    (root / "experiments/lab/dice.py").write_text(source.replace("lab.coin", "lab.dice"))
    study = read(root, "lab.dice")
    assert study.preregistered.runs == ()
    assert len(study.preregistered.freezes) == 1


def test_the_command_says_it_to_programs(root: Path) -> None:
    squash(root)
    done = assay(root, "report", "lab", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (order,) = found["preregistration"]["order"]
    assert (order["order"], order["status"]) == ("unprovable", "registered")
    assert VERDICTS & {word for claim in found["claims"] for word in claim["order"]} == {"unprovable"}
    assert found["claims"][0]["doubt"].startswith("lab.coin_confirmatory_")
