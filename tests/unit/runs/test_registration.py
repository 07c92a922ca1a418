"""Only a run that can be trusted may speak, one for each experiment and tier, and nobody else's hand may choose it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.errors import EvidenceError, RecordError
from assay.runs.registration import registration_path
from assay.runs.registry import Record
from tests.unit.runs.completed_run import complete, start
from tests.unit.runs.killed import kill_after

NAME = "merging.transport"


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record(tmp_path / "experiments")


def refused(record: Record, run_id: str, why: str = "a check") -> str:
    events = len(record.events())
    with pytest.raises(RecordError) as caught:
        record.register(run_id, why=why)
    assert len(record.events()) == events
    assert not list(record.registered_folder.glob("*"))
    return str(caught.value)


def reason(record: Record, experiment: str = NAME, tier: str | None = None) -> tuple[str, str]:
    with pytest.raises(EvidenceError) as caught:
        record.registered(experiment, tier)
    return caught.value.reason, str(caught.value)


def test_a_registered_run_speaks(record: Record) -> None:
    run_id = complete(record)
    made = record.register(run_id, why="  the first  ")
    assert (made.experiment, made.tier, made.run_id, made.why) == (NAME, "tiny", run_id, "the first")
    assert made.at.endswith("+00:00")
    assert record.registered(NAME) == record.registered(NAME, "tiny") == made
    assert record.registrations() == (made,)
    assert record.standing(run_id) == "registered"
    assert json.loads(registration_path(record, NAME, "tiny").read_text())["run_id"] == run_id


def test_the_next_supersedes_and_the_first_can_come_back(record: Record) -> None:
    first, second = complete(record), complete(record)
    record.register(first, why="a")
    record.register(second, why="b")
    assert record.registered(NAME).run_id == second
    assert (record.standing(first), record.standing(second)) == ("superseded", "registered")
    assert record.events(first)[-1].payload["by"] == second
    record.register(first, why="c")
    assert record.registered(NAME).why == "c"
    assert (record.standing(first), record.standing(second)) == ("registered", "superseded")
    record.register(first, why="d")
    assert record.standing(first) == "registered"
    assert record.results(second).run_id == second  # still to be read, by its own name


def test_tiers_and_experiments_are_apart(record: Record) -> None:
    runs = {tag: complete(record, tag=tag) for tag in ("tiny", "open")}
    longer = complete(record, f"{NAME}.more")
    for run_id in (*runs.values(), longer):
        record.register(run_id, why="a")
    for tag, run_id in runs.items():
        assert record.registered(NAME, tag).run_id == run_id
    assert record.registered(f"{NAME}.more").run_id == longer
    found, message = reason(record)
    assert found == "absent"
    assert "open, tiny" in message
    found, message = reason(record, NAME, "full")
    assert found == "absent"
    assert "registered: open, tiny" in message
    assert reason(record, "merging.transpor")[0] == "absent"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"dirty": True, "untracked": ("a.py", "b.py")}, r"dirty tree on top of 1a2b3c4 (untracked: a.py, b.py)"),
        ({"dirty": True, "diff_digest": "ab"}, "Commit the changes and run it again"),
        ({"commit": None, "dirty": None}, "outside a git commit"),
        ({"commit": None, "dirty": True}, "outside a git commit"),
    ],
)
def test_code_that_cannot_be_told_does_not_speak(record: Record, fields: dict[str, Any], named: str) -> None:
    assert named in refused(record, complete(record, **fields))


@pytest.mark.parametrize("event", ["failed", "interrupted", "planned"])
def test_a_run_that_did_not_complete_does_not_speak(record: Record, event: str) -> None:
    run_id = start(record).run_id
    record.append(event, run_id)
    assert f"the run is {event}" in refused(record, run_id)


def test_altered_unknown_and_unexplained_runs_do_not_speak(record: Record) -> None:
    assert "is not in" in refused(record, "unknown")
    run_id = complete(record)
    assert "no reason was given" in refused(record, run_id, " ")
    path = record.summary_folder(run_id) / "summary.json"
    path.write_text(path.read_text().replace("14", "15"))
    assert "was altered" in refused(record, run_id)


def registered_path(record: Record) -> Path:
    record.register(complete(record), why="the first")
    return registration_path(record, NAME, "tiny")


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("the first", "the best", "altered"),
        ("the first", "the first\n", "unreadable"),
        ('"tier": "tiny"', '"tier": "full"', "unreadable"),
        ('"why"', '"reason"', "unreadable"),
        ("{", "<<<<<<< HEAD\n{", "unreadable"),
    ],
)
def test_a_registration_changed_by_hand_is_seen(record: Record, old: str, new: str, found: str) -> None:
    path = registered_path(record)
    path.write_text(path.read_text().replace(old, new))
    assert reason(record)[0] == found
    assert record.registrations() == ()
    assert [finding.path for finding in record.doctor() if finding.kind == "registration"][:1] == [
        "experiments/registered/merging.transport.tiny.json"
    ]
    run_id = record.attempts()[0]
    record.register(run_id, why="again")  # and registering heals it
    assert record.registered(NAME).why == "again"


def test_a_registration_of_a_run_by_hand_is_not_believed(record: Record) -> None:
    path = registered_path(record)
    other = complete(record)
    path.write_text(path.read_text().replace(record.attempts()[0], other))
    assert reason(record)[0] == "altered"
    path.write_text(path.read_text().replace(other, "gone_tiny_000000000000"))
    assert reason(record)[0] == "absent"


def test_a_superseded_run_does_not_speak_again_by_checking_out_its_file(record: Record) -> None:
    path = registered_path(record)
    earlier = path.read_bytes()
    record.register(complete(record), why="better")
    path.write_bytes(earlier)
    assert reason(record)[0] == "superseded"


def test_both_sides_of_a_merge_registered_a_run(record: Record) -> None:
    path = registered_path(record)
    left, right = complete(record), complete(record)
    record.register(left, why="left")
    ours = path.read_bytes()
    record.register(right, why="right")
    superseded = record.events(left)[-1].path
    superseded.unlink()  # the other branch never saw the left run
    path.write_bytes(ours)
    assert record.registered(NAME).run_id == left
    assert any(finding.path == right for finding in record.doctor())
    record.register(left, why="left it is")
    assert record.standing(right) == "superseded"
    assert not [finding for finding in record.doctor() if finding.kind == "registration"]


FULL = """
import resource, sys
from assay.errors import RecordError
from assay.runs.registry import Record
record = Record(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), -1))
try:
    record.register(sys.argv[2], why="x" * 2000)
except RecordError as error:
    print(error)
"""


def test_a_registration_that_cannot_be_written_takes_its_event_back(record: Record) -> None:
    run_id = complete(record)
    record.registered_folder.write_text("a file in the way")
    events = record.events()
    with pytest.raises(RecordError, match="Not a directory"):
        record.register(run_id, why="a check")
    assert record.events() == events


@pytest.mark.parametrize("limit", [100, 2300])
def test_a_size_limit_while_registering_leaves_the_earlier_one(record: Record, limit: int) -> None:
    path = registered_path(record)
    first = record.attempts()[0]
    before = path.read_bytes()
    second = complete(record)
    events = record.events()
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(record.root), second, str(limit)], capture_output=True, text=True, check=True
    )
    assert "File too large" in done.stdout
    assert path.read_bytes() == before
    assert record.events() == events
    assert record.registered(NAME).run_id == first
    assert not list(record.root.rglob("*.tmp"))
    assert record.register(second, why="now").run_id == second


KILLED = """
import sys
from assay.runs.registry import Record
record = Record(sys.argv[1])
print("ready", flush=True)
while True:
    for run_id in sys.argv[2:]:
        record.register(run_id, why="turn")
"""


def test_a_kill_while_registering_leaves_one_in_force(record: Record) -> None:
    runs = [complete(record), complete(record)]
    record.register(runs[1], why="first")
    turn = 0
    while turn < 6 or len(record.events()) <= 12:  # until enough was written between the kills
        assert turn < 60
        kill_after(0.05 + 0.017 * (turn % 6), KILLED, str(record.root), *runs)
        assert record.damaged() == ()
        assert record.registered(NAME).run_id in runs
        turn += 1
    chosen = record.register(runs[0], why="last")
    assert record.registered(NAME) == chosen
    assert record.standing(runs[1]) == "superseded"


def test_the_command_that_registers_names_tier_and_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "experiments" / "study" / "effect.py"
    source.parent.mkdir(parents=True)
    source.write_text('@experiment("study.effect", version=1)\ndef effect(config, run): ...\n')
    monkeypatch.chdir(tmp_path)

    def said(root: Path, name: str) -> str:
        with pytest.raises(EvidenceError) as caught:
            Record(root).registered(name, "tiny")
        return str(caught.value)

    assert said(tmp_path / "experiments", "study.effect").endswith(
        'in experiments. Run it and register it: assay run study.effect --tier tiny --register "..."'
    )
    assert said(tmp_path / "experiments", "study.efect").endswith("Did you mean 'study.effect'?")
    assert '--tier tiny --record scratch --register "..."' in said(tmp_path / "scratch", "study.effect")
    assert '--tier tiny --record FOLDER --register "..."' in said(tmp_path.parent / "elsewhere", "study.effect")
