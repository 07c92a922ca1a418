"""The record under fire: parallel writers, stopped clocks, kills, truncation, merges and moves."""

from __future__ import annotations

import getpass
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.errors import EvidenceError, RecordError
from assay.runs.manifest import RunStatus
from assay.runs.registry import Record, open_record, split_attempt
from assay.runs.results import unverified_values
from assay.runs.storage import sync_folder
from tests.unit.runs.completed_run import complete, folder_in_memory, manifest_of, start

BASE = manifest_of().run_id
HOUSE = Path(__file__).resolve().parents[3]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record(tmp_path / "experiments")


def python(code: str, *arguments: str, options: tuple[str, ...] = ()) -> str:
    done = subprocess.run(
        [sys.executable, *options, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=HOUSE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_where_things_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Record(tmp_path / "experiments").artifacts == tmp_path / "artifacts"
    assert Record(tmp_path / "scratch").artifacts == tmp_path / "scratch" / "artifacts"
    (tmp_path / "experiments" / "merging").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "experiments" / "merging")
    assert open_record().root == tmp_path / "experiments"
    assert open_record().repository == tmp_path
    assert open_record("elsewhere").root == Path("elsewhere").absolute()


def test_opening_an_empty_record_reads_and_writes_nothing(record: Record) -> None:
    assert record.attempts() == record.events() == record.damaged() == record.registrations() == ()
    assert record.doctor() == []
    assert not record.root.exists()
    with pytest.raises(RecordError, match=r"run 'x' is not in .*experiments\. Known are none"):
        record.status("x")


# -- writers ---------------------------------------------------------------------------------------------------------

WRITER = """
import sys
from datetime import UTC, datetime
from assay.runs.registry import Record
record = Record(sys.argv[1], clock=lambda: datetime(2026, 11, 30, tzinfo=UTC))
sys.stdin.readline()
for turn in range(50):
    record.append("waived", "shared", turn=turn)
record.rebuild_index()
"""


def test_eight_writers_lose_nothing_under_a_stopped_clock(record: Record) -> None:
    command = [sys.executable, "-c", WRITER, str(record.root)]
    writers = [subprocess.Popen(command, stdin=subprocess.PIPE, text=True) for _ in range(8)]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    events = record.events("shared")
    assert sorted(event.payload["turn"] for event in events) == sorted(list(range(50)) * 8)
    assert record.index_is_current()
    assert not list(record.root.rglob("*.tmp"))


def test_a_clock_that_runs_backwards_keeps_the_order(tmp_path: Path) -> None:
    hours = iter(range(20, 0, -1))
    record = Record(tmp_path, clock=lambda: datetime(2026, 11, 30, next(hours), tzinfo=UTC))
    for event in (RunStatus.PLANNED, RunStatus.RUNNING, RunStatus.FAILED):
        record.append(event, "x")
    assert [event.event for event in record.events("x")] == ["planned", "running", "failed"]
    assert record.status("x") is RunStatus.FAILED


def test_an_unknown_event_is_refused(record: Record) -> None:
    with pytest.raises(ValueError, match="exploded"):
        record.append("exploded", "x")


# -- attempts, locks and kills ---------------------------------------------------------------------------------------


def test_attempts_have_folders_of_their_own(record: Record) -> None:
    assert record.next_attempt(BASE) == BASE
    names = [complete(record) for _ in range(11)]
    assert names[:3] == [BASE, f"{BASE}-r2", f"{BASE}-r3"]
    assert record.attempts(BASE) == tuple(names)
    assert names[-1].endswith("-r11")
    other = complete(record, "merging.other")
    assert set(record.attempts()) == {*names, other}
    assert split_attempt(names[-1]) == (BASE, 11)


def test_an_attempt_is_not_given_twice_when_its_events_are_gone(record: Record) -> None:
    complete(record)
    for path in record.event_folder.iterdir():
        path.unlink()
    assert record.next_attempt(BASE) == f"{BASE}-r2"
    shutil.rmtree(record.root / "manifests")
    assert record.next_attempt(BASE) == f"{BASE}-r2"


HOLDER = """
import sys, time
from assay.runs.registry import Record
record = Record(sys.argv[1])
with record.lock(sys.argv[2]):
    run_id = record.next_attempt(sys.argv[2])
    record.append("running", run_id)
    print(run_id, flush=True)
    time.sleep(60)
"""


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_second_starter_is_refused_and_a_kill_is_seen(record: Record, tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(record.root), "x"]
    for name in ("x", "x-r2"):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline().strip() == name
            assert record.status(name) is RunStatus.RUNNING
            before = files(tmp_path)
            with (
                pytest.raises(RecordError, match=rf"x is already running: process {holder.pid}, started 20"),
                record.lock("x"),
            ):
                pass
            assert files(tmp_path) == before
            holder.send_signal(signal.SIGKILL)
        assert record.status(name) is RunStatus.INTERRUPTED
    assert record.events("x")[-1].event is RunStatus.INTERRUPTED  # written by the second start
    assert record.events("x-r2")[-1].event is RunStatus.RUNNING  # only seen so far
    with record.lock("x"):
        assert record.events("x-r2")[-1].event is RunStatus.INTERRUPTED
        assert record.next_attempt("x") == "x-r3"


def test_an_earlier_attempt_is_not_kept_alive_by_a_later_one(record: Record) -> None:
    record.append("running", "x")
    record.append("running", "x-r2")
    lock = record.artifacts / "locks" / "x.lock"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as stream:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX)
        assert record.status("x") is RunStatus.INTERRUPTED
        assert record.status("x-r2") is RunStatus.RUNNING


def test_partial_numbers_are_kept_but_are_no_evidence(record: Record) -> None:
    run_id = start(record).run_id
    assert unverified_values(record, run_id) == {}
    folder = record.summary_folder(run_id)
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text('{"wins": {"target": 3}}')
    assert unverified_values(record, run_id) == {"wins.target": 3}
    with pytest.raises(EvidenceError, match="is interrupted; the numbers") as caught:
        record.results(run_id)
    assert caught.value.reason == "unfinished"


# -- damage ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [0, -1])
def test_a_truncated_event_is_reported_and_the_others_stay_readable(record: Record, which: int) -> None:
    broken, sound = complete(record), complete(record, "merging.other")
    path = record.events(broken)[which].path
    path.write_bytes(path.read_bytes()[:30])
    assert record.damaged() == (path,)
    with pytest.raises(RecordError, match="is damaged"):
        record.status(broken)
    with pytest.raises(EvidenceError) as caught:
        record.results(broken)
    assert caught.value.reason == "unreadable"
    assert path.name in str(caught.value)
    assert record.results(sound).value("wins.target") == 14
    assert set(record.attempts()) == {broken, sound}
    record.rebuild_index()
    assert '"status":"unreadable"' in record.index_path.read_text()
    with record.lock(broken):  # a start is not blocked by it
        assert record.next_attempt(broken) == f"{broken}-r2"


# -- index -----------------------------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_two_branches_merge_in_both_orders_to_one_index(record: Record, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / ".gitignore").write_text("artifacts/\n")
    complete(record, "merging.first")
    record.rebuild_index()
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    for branch in ("left", "right"):
        git(tmp_path, "checkout", "-q", "-b", branch, "main")
        for number in range(10):
            complete(record, f"merging.{branch}{number}")
            record.rebuild_index()
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", branch)
    indexes = []
    for one, other in (("left", "right"), ("right", "left")):
        git(tmp_path, "checkout", "-q", "-b", f"{one}-then-{other}", one)
        git(tmp_path, "merge", "-q", "--no-edit", other)
        record.rebuild_index()
        assert record.index_is_current()
        indexes.append(record.index_path.read_bytes())
    assert indexes[0] == indexes[1]
    assert indexes[0].count(b"\n") == 21
    assert record.doctor() == []


def test_the_index_follows_the_events(record: Record) -> None:
    complete(record)
    assert not record.index_is_current()
    record.rebuild_index()
    assert record.index_is_current()
    record.append("waived", BASE)
    assert not record.index_is_current()
    record.rebuild_index()
    record.index_path.write_bytes(record.index_path.read_bytes()[:-2])
    assert not record.index_is_current()
    record.index_path.unlink()
    record.rebuild_index()
    assert record.index_is_current()


# -- moves, leaks, costs ---------------------------------------------------------------------------------------------


def test_a_moved_repository_still_opens(record: Record, tmp_path: Path) -> None:
    run_id = complete(record)
    record.register(run_id, why="the first")
    record.rebuild_index()
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (tmp_path / "experiments").rename(moved / "experiments")
    again = Record(moved / "experiments")
    assert again.registered("merging.transport").run_id == run_id
    assert again.results(run_id).value("wins.target") == 14
    assert again.index_is_current()


LEAK = """
import sys
from assay.runs.privacy import scrub
from assay.runs.provenance import code_state, machine
from assay.runs.registry import Record
from dataclasses import asdict
from pathlib import Path
from tests.unit.runs.completed_run import complete, start
root = Path(sys.argv[1])
record = Record(root / "experiments")
facts = machine() | asdict(code_state(root))
run_id = complete(record, **{**facts, "commit": "0" * 40, "dirty": False})
record.register(run_id, why="a check")
failed = start(record, "merging.failing", **facts)
error = OSError(2, "No such file", str(Path.home() / "data" / "text.tsv"))
message = scrub(f"{error}: key {sys.argv[2]} of zaphod on {sys.argv[3]}", root)
record.append("failed", failed.run_id, type="OSError", message=message)
record.rebuild_index()
"""


def test_token_user_home_and_host_are_in_no_file(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "hf_plantedTokenInTheEnvironment"
    monkeypatch.setenv("HF_TOKEN", token)
    monkeypatch.setenv("USER", "zaphod")
    monkeypatch.setenv("HOME", "/home/zaphod")
    host = platform.node()
    python(LEAK, str(tmp_path), token, host)
    written = files(record.root)
    assert len(written) >= 8
    words = [token, "zaphod", "/home", str(tmp_path), "HF_TOKEN"]
    words += [getpass.getuser()] if getpass.getuser() != "root" else []
    for name, content in written.items():
        text = content.decode()
        for word in words:
            assert word not in text, (name, word)
            assert word not in name
    failed = next(content.decode() for name, content in written.items() if "-failed-" in name)
    assert "<secret>" in failed
    assert "<user>" in failed
    assert "<host>" in failed
    assert "text.tsv" in failed


OPTIMISED = """
import sys
from assay.runs.registry import Record
from tests.unit.runs.completed_run import complete
record = Record(sys.argv[1])
run_id = complete(record)
record.register(run_id, why="a check")
record.rebuild_index()
path = record.summary_folder(run_id) / "summary.json"
path.write_text(path.read_text().replace("14", "15"))
try:
    record.results(run_id)
except Exception as error:
    print(type(error).__name__, error.reason, len(record.doctor()) > 0)
"""


def test_the_checks_stand_without_assertions_and_docstrings(tmp_path: Path) -> None:
    output = python(OPTIMISED, str(tmp_path / "experiments"), options=("-OO",))
    assert output.strip() == "EvidenceError altered True"


READER = """
import sys, time
start = time.perf_counter()
from assay.runs.registry import Record
light = not {"numpy", "pandas", "torch", "scipy", "asyncio"} & sys.modules.keys()
times = []
for _ in range(5):
    start = time.perf_counter()
    record = Record(sys.argv[1])
    results = record.results(record.registered("merging.run7").run_id)
    value = results.value("wins.target")
    times.append(time.perf_counter() - start)
light = light and not {"numpy", "pandas", "torch", "scipy"} & sys.modules.keys()
print(light, value, min(times))
"""


def test_one_result_among_two_hundred_runs_is_quick_and_light() -> None:
    with folder_in_memory() as folder:
        record = Record(folder / "experiments")
        for number in range(200):
            complete(record, f"merging.run{number}")
        for number in range(5, 9):
            record.register(f"merging.run{number}_tiny_{BASE[-12:]}", why="a check")
        light, value, seconds = python(READER, str(record.root)).split()
    assert light == "True"
    assert value == "14"
    assert float(seconds) < 0.05


def test_a_completed_event_is_durable_in_milliseconds(record: Record) -> None:
    times, bare = [], []
    for number in range(40):
        begin = time.perf_counter()
        record.append("completed", f"x{number}", manifest="0" * 64)
        times.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        with (record.root / f"{number}").open("wb") as stream:  # what the disk takes for the same two syncs
            stream.write(b"0" * 300)
            stream.flush()
            os.fsync(stream.fileno())
        sync_folder(record.root)
        bare.append(time.perf_counter() - begin)
    assert statistics.median(times) < 2 * statistics.median(bare) + 0.005


def test_the_record_knows_what_is_stale(record: Record, tmp_path: Path) -> None:
    from assay.runs.source import module_digests

    module = record.root / "merging" / "transport.py"
    module.parent.mkdir(parents=True)
    module.write_text("import experiments.constants\n")
    (record.root / "constants.py").write_text("FACTOR = 3\n")
    run_id = complete(record, modules=module_digests("experiments.merging.transport", tmp_path))
    assert record.stale(run_id) == []
    (record.root / "constants.py").write_text("# a comment\nFACTOR = (3)\n")
    assert record.stale(run_id) == []
    (record.root / "constants.py").write_text("FACTOR = 4\n")
    assert record.stale(run_id) == ["experiments.constants"]
    (record.root / "constants.py").unlink()
    assert record.stale(run_id, tmp_path) == ["experiments.constants"]
    module.unlink()
    assert record.stale(run_id) == ["experiments.constants", "experiments.merging.transport"]


def test_a_reader_without_the_right_to_write_can_read(record: Record) -> None:
    run_id = complete(record)
    before = files(record.root)
    record.results(run_id)
    record.doctor()
    record.index_is_current()
    assert files(record.root) == before
    assert os.listdir(record.root.parent) == ["experiments"]
