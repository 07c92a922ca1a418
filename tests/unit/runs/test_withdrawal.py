"""A run that is withdrawn speaks no more: said on record with its reason, and nothing else is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import EvidenceError, RecordError
from assay.runs.registration import registration_path
from assay.runs.registry import Record
from tests.unit.runs.completed_run import complete, start
from tests.unit.runs.killed import kill_after
from tests.unit.runs.toy_repository import assay, assay_json, commit, written

NAME = "merging.transport"


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record(tmp_path / "experiments")


@pytest.fixture
def spoken(record: Record) -> str:
    run_id = complete(record)
    record.register(run_id, why="the first")
    return run_id


def refused(record: Record, run_id: str, why: str = "gone") -> str:
    before = {path: path.read_bytes() for path in record.root.rglob("*") if path.is_file()}
    with pytest.raises(RecordError) as caught:
        record.withdraw(run_id, why=why)
    assert {path: path.read_bytes() for path in record.root.rglob("*") if path.is_file()} == before
    return str(caught.value)


def test_a_withdrawn_run_speaks_no_more_and_keeps_its_numbers(record: Record, spoken: str) -> None:
    before = set(record.root.rglob("*"))
    done = record.withdraw(spoken, why="  the experiment was removed  ")
    assert (done.experiment, done.tier, done.run_id, done.why) == (NAME, "tiny", spoken, "the experiment was removed")
    assert before - set(record.root.rglob("*")) == {registration_path(record, NAME, "tiny")}
    event = record.events(spoken)[-1]
    assert (str(event.event), event.payload["why"], "by" in event.payload) == ("superseded", done.why, False)
    assert record.standing(spoken) == "superseded"
    assert record.registrations() == ()
    assert record.results(spoken).run_id == spoken
    with pytest.raises(EvidenceError, match=f"{spoken} was withdrawn at {event.at[:10]}.*: the experiment was") as said:
        record.registered(NAME)
    assert said.value.reason == "absent"
    with pytest.raises(EvidenceError) as other:
        record.registered(NAME, "full")
    assert "withdrawn" not in str(other.value)
    assert [finding for finding in record.doctor() if finding.kind == "registration"] == []
    record.register(spoken, why="after all")
    assert record.registered(NAME).why == "after all"


def test_only_a_run_that_speaks_can_be_withdrawn(record: Record, spoken: str) -> None:
    assert "no reason was given" in refused(record, spoken, " ")
    assert "it was never registered" in refused(record, start(record).run_id)
    other = complete(record)
    record.register(other, why="better")
    assert "it does not speak; it was superseded" in refused(record, spoken)
    record.withdraw(other, why="gone")
    assert "it does not speak; it was superseded" in refused(record, other)


def test_a_registration_that_was_removed_by_hand_is_put_right(record: Record, spoken: str) -> None:
    registration_path(record, NAME, "tiny").unlink()
    assert [finding.kind for finding in record.doctor()].count("registration") == 1
    record.withdraw(spoken, why="removed by hand before")
    assert "registration" not in [finding.kind for finding in record.doctor()]


def test_an_old_registration_that_is_checked_out_is_not_believed(record: Record, spoken: str) -> None:
    path = registration_path(record, NAME, "tiny")
    earlier = path.read_bytes()
    record.withdraw(spoken, why="gone")
    path.write_bytes(earlier)
    with pytest.raises(EvidenceError, match="was superseded or withdrawn"):
        record.registered(NAME)
    record.withdraw(spoken, why="gone, once more")  # as after a death between the event and the file
    assert not path.exists()


KILLED = """
import sys
from assay.runs.registry import Record
record = Record(sys.argv[1])
print("ready", flush=True)
while True:
    record.withdraw(sys.argv[2], why="turn")
    record.register(sys.argv[2], why="turn")
"""


def test_a_kill_while_withdrawing_leaves_one_of_the_two_states(record: Record, spoken: str) -> None:
    for turn in range(4):
        kill_after(0.05 + 0.017 * turn, KILLED, str(record.root), spoken)
        assert record.damaged() == ()
        if record.registrations():
            assert record.standing(spoken) == "registered"
        record.register(spoken, why="on")
        assert record.registered(NAME).why == "on"
    record.withdraw(spoken, why="last")
    assert record.standing(spoken) == "superseded"


def test_an_experiment_that_was_removed_is_withdrawn_and_its_claim_is_unverified(root: Path) -> None:
    (root / "experiments/toy/fuse.py").unlink()
    commit(root)
    stale = assay(root, "runs", "stale")
    assert stale.returncode == 1
    (fuse,) = (line["run_id"] for line in assay_json(root, "runs") if line["experiment"] == "toy.fuse")
    command = f'assay runs register {fuse} --withdraw --why "..."'
    assert stale.stdout.endswith(f"If its experiment or tier was removed on purpose: {command}\n")
    assert "Run again: assay run --stale" not in stale.stdout
    again = assay(root, "run", "--stale")
    assert (again.returncode, command in again.stderr) == (2, True)
    before = written(root)
    done = assay_json(root, "runs", "register", fuse, "--withdraw", "--why", "fusing is another paper's")
    assert (done["run_id"], done["withdrawn"], done["why"]) == (fuse, True, "fusing is another paper's")
    assert set(before) - set(written(root)) == {"experiments/registered/toy.fuse.tiny.json"}
    assert assay(root, "runs", "stale").returncode == 0
    assert assay(root, "runs", "doctor").returncode == 0
    shown = assay_json(root, "runs", "show", fuse)
    assert (shown["standing"], shown["why"]) == ("superseded", "fusing is another paper's")
    claims = assay(root, "claims", "-p", "no:cacheprovider")
    assert claims.returncode == 1
    assert "UNVERIFIED" in claims.stdout
    assert f"{fuse} was withdrawn at " in claims.stdout
    assert ": fusing is another paper's. Run it and register it" in claims.stdout
    twice = assay(root, "runs", "register", fuse, "--withdraw", "--why", "again")
    assert (twice.returncode, "it does not speak" in twice.stderr) == (1, True)
    blank = assay(root, "runs", "register", fuse, "--withdraw", "--why", " ")
    assert (blank.returncode, "should speak no more" in blank.stderr) == (2, True)


def test_json_of_a_registration_says_that_it_is_none_withdrawn(root: Path) -> None:
    (train,) = (line["run_id"] for line in assay_json(root, "runs") if line["experiment"] == "toy.train")
    done = assay(root, "runs", "register", train, "--why", "again", "--json")
    assert json.loads(done.stdout)["withdrawn"] is False
