"""A study gathers the claims that speak of it, the runs behind them, and what is open."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ConfigError
from assay.ledger.claim import Verdict
from assay.report.study import Study, read_study
from assay.runs import Record
from tests.unit.report.study_repository import git, run_other


def read(name: str, repository: Path) -> Study:
    return read_study(name, repository, Record(repository / "experiments"))


def test_the_runs_that_speak_and_how_many_claims_read_them(study: Study) -> None:
    assert [(run.name, run.claims) for run in study.runs] == [
        ("study.effect.small", 1),
        ("study.effect.tiny", 4),
        ("study.other.tiny", 1),
    ]
    assert [run.name for run in study.lead()] == ["study.effect.tiny", "study.other.tiny"]
    assert study.runs[1].figures() == ("effects",)


def test_what_is_open_is_named_with_its_reason(study: Study) -> None:
    states = {(one.state, one.why) for one in study.open}
    assert ("stale", "since the run, experiments.study.other changed: constant LIMIT 4 -> 5") in states
    assert ("failed", "ValueError: the disk planted was full") in states
    assert len(study.open) == 2


def test_the_question_and_the_method_are_those_of_the_experiments(study: Study, representations: Study) -> None:
    assert study.question == "Does fusion help? Does it cost?"
    assert study.method == "Two pairs, each in both directions."
    assert representations.question.startswith("Do two language models place the same sentences alike")


def test_one_experiment_leaves_the_claims_of_others_out(template: Path) -> None:
    found = read("study.other", template)
    assert [claim.id for claim in found.claims] == ["E6"]
    assert [run.name for run in found.runs] == ["study.other.tiny"]


def test_an_unknown_study_is_refused_with_the_nearest(template: Path) -> None:
    with pytest.raises(ConfigError, match=r"no study or experiment 'stuyd'.*Did you mean 'study'"):
        read("stuyd", template)


def test_a_registration_that_cannot_be_trusted_is_open_and_speaks_for_nothing(repository: Path) -> None:
    path = repository / "experiments/registered/study.effect.tiny.json"
    path.write_text(path.read_text().replace("the test", "another reason"))
    found = read("study.effect", repository)
    assert "study.effect.tiny" not in [run.name for run in found.runs]
    assert any(one.what == "registration study.effect.tiny" and one.state == "altered" for one in found.open)
    assert {claim.id for claim in found.with_verdict(Verdict.UNVERIFIED)} >= {"E1", "E2", "E3", "E5"}


def test_a_summary_that_was_altered_speaks_for_nothing(repository: Path) -> None:
    path = next((repository / "experiments/summaries").glob("study.effect_tiny_*")) / "summary.json"
    path.write_text(path.read_text().replace("14", "15"))
    found = read("study.effect", repository)
    assert [run.name for run in found.runs] == ["study.effect.small"]


def test_a_damaged_event_is_open(repository: Path) -> None:
    path = next((repository / "experiments/registry/events").glob("*quick*failed*"))
    path.write_text("{")
    assert any(one.state == "damaged" for one in read("study.effect", repository).open)


def test_an_interrupted_run_is_settled_once_a_later_attempt_speaks(repository: Path) -> None:
    record = Record(repository / "experiments")
    interrupted = f"{record.registered('study.other').run_id}-r2"
    record.append("running", interrupted)
    before = {one.what: (one.state, one.settled) for one in read("study.other", repository).open}
    assert before[interrupted] == ("interrupted", False)
    git(repository, "commit", "--quiet", "--all", "-m", "other")
    assert run_other(repository).endswith("-r3")
    after = {one.what: (one.state, one.settled) for one in read("study.other", repository).open}
    assert after[interrupted] == ("interrupted", True)
    assert ("superseded", True) in after.values()
    assert all(settled for _, settled in after.values())


def test_the_committed_runs_of_this_repository(representations: Study) -> None:
    assert {run.registration.tier for run in representations.runs} >= {"open", "quick"}
    assert all(run.claims for run in representations.runs)
    assert representations.lead()[0].registration.tier == "open"
