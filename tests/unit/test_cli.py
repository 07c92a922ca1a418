"""The command line, driven as users drive it: in processes of its own, on repositories of its own."""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.unit.runs.toy_repository import SUMS, assay, assay_json, commit, start, toy, write, written


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which toy.sums ran twice at tier tiny, the first run registered; tests only read it."""
    root = toy(tmp_path_factory.mktemp("once"))
    first = assay_json(root, "run", "toy.sums", "--tier", "tiny", "--register", "the first run")
    second = assay_json(root, "run", "toy.sums", "--tier", "tiny")
    (root / "ids.json").write_text(json.dumps([first["run_id"], second["run_id"]]))
    return root


@pytest.fixture
def ids(once: Path) -> tuple[str, str]:
    first, second = json.loads((once / "ids.json").read_text())
    return first, second


def test_a_run_says_where_it_writes_and_what_it_found(tmp_path: Path) -> None:
    root = toy(tmp_path)
    done = assay(root, "run", "toy.words", "--tier", "tiny", "--record", "scratch")
    assert done.returncode == 0, done.stderr
    assert "toy.words, tiny: What can a run hold?" in done.stdout
    assert "record scratch/, artifacts scratch/artifacts/" in done.stdout
    assert "supported" in done.stdout
    assert "no claim holds on gone, limit: not finite, or a count of nothing" in done.stdout
    assert "completed toy.words_tiny_" in done.stdout
    assert done.stdout.endswith("\nregistered: none to compare with\n")
    assert written(root) == {}
    summary = next((root / "scratch" / "summaries").rglob("summary.json"))
    assert json.loads(summary.read_text()) == {
        "gone": "NaN",
        "holds": True,
        "limit": "Infinity",
        "verdict": "supported",
    }


def test_two_runs_of_one_configuration_give_identical_bytes_under_two_ids(once: Path, ids: tuple[str, str]) -> None:
    first, second = ids
    assert second == f"{first}-r2"
    found = written(once)
    summaries = [
        {name.split(f"/{run}/")[1]: data for name, data in found.items() if f"summaries/{run}/" in name} for run in ids
    ]
    assert set(summaries[0]) == {"summary.json", "draws.csv", "tables.json"}
    assert summaries[0] == summaries[1]
    assert json.loads(summaries[0]["summary.json"])["above"]["five"] == {"count": 2, "of": 2, "missing": 0}
    manifests = [json.loads(found[f"experiments/manifests/{run}.json"]) for run in ids]
    assert all(manifest["dirty"] is False and manifest["commit"] for manifest in manifests)
    assert manifests[0]["config"] == {"seed": 7, "cells": 2, "pause": 0.0}
    assert manifests[0]["seeds"] == {"seed": 7}
    assert manifests[0]["determinism"]["threads_per_cell"] == 1


def test_list_show_diff_doctor_and_index(once: Path, ids: tuple[str, str]) -> None:
    listed = assay_json(once, "runs")
    assert [(line["run_id"], line["status"], line["standing"]) for line in listed] == [
        (ids[0], "completed", "registered"),
        (ids[1], "completed", ""),
    ]
    assert assay_json(once, "runs", "list", "--status", "failed") == []
    shown = assay_json(once, "runs", "show", ids[0])
    assert shown["numbers"]["above.five"] == {"count": 2, "of": 2, "missing": 0}
    assert (shown["why"], shown["stale"], shown["evidence"]) == ("the first run", [], True)
    same = assay_json(once, "runs", "diff", *ids)
    assert (same["numbers"], same["configuration"], same["largest"]) == ([], [], 0.0)
    assert same["compared"] == 2 + 2 * 5
    doctor = assay(once, "runs", "doctor")
    assert (doctor.returncode, doctor.stdout) == (0, "experiments/: 2 runs, nothing wrong\n")
    index = once / "experiments" / "registry" / "runs.jsonl"
    before = index.read_bytes()
    assert assay(once, "runs", "index").returncode == 0
    assert index.read_bytes() == before
    assert len(before.splitlines()) == 2


def test_a_pipe_that_closes_early_is_no_error(once: Path) -> None:
    lines = "import sys; sys.stdin.readline()"
    listing = start(once, "runs", "show", json.loads((once / "ids.json").read_text())[0])
    head = subprocess.run([sys.executable, "-c", lines], stdin=listing.stdout, check=True)
    if listing.stdout:
        listing.stdout.close()
    assert head.returncode == 0
    assert listing.wait(30) == 0
    assert listing.stderr
    assert listing.stderr.read() == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "toy.summs", "--tier", "tiny"), "No experiment 'toy.summs' in"),
        (("run", "toy.summs", "--tier", "tiny"), "Did you mean 'toy.sums'? Known: toy.sums, toy.words."),
        (("run", "toys"), "No experiment 'toys'"),
        (("run", "toy.sums"), "choose a tier with --tier: tiny, small"),
        (("run", "toy.sums", "--tier", "tiney"), "has no tier 'tiney'. Did you mean 'tiny'? Known: tiny, small."),
        (("run", "toy", "--tier", "small"), "experiment toy.words has no tier 'small'. Known: tiny."),
        (("run", "toy.sums", "--tier", "tiny", "--set", "seeed=1"), "no field 'seeed'. Did you mean 'seed'?"),
        (("run", "toy.sums", "--tier", "tiny", "--set", "seed=x"), "field 'seed': wanted int, got 'x' (str)"),
        (("run", "toy.sums", "--tier", "tiny", "--workers", "0"), "0 is not in the range"),
        (("run", "toy.sums", "--tier", "tiny", "--register", " "), "--register: say in one sentence why"),
        (("runs", "show", "toy.sums_tiny_0"), "There is no run 'toy.sums_tiny_0' in experiments/."),
        (("runs", "register", "x", "--why", "y"), "There is no run 'x'"),
        (("runs", "verify", "toy.words"), "'toy.words' is no run and has no registered run"),
        (("show", "x"), "No such command 'show'. Did you mean: assay runs show?"),
        (("runs", "shwo"), "No such command 'shwo'"),
        (("data", "fetch", "nothing-like-it"), "data fetch: there is no 'nothing-like-it'."),
        (("data", "fetch"), "data fetch: name what to fetch, or --all. Known: "),
        (("claims", "--format", "github", "--json"), "claims: --format github and --json exclude each other"),
        (("claims", "--list", "--format", "badge"), "claims: --format badge and --list exclude each other"),
        (("claims", "--list", "-k", "M1"), "claims --list speaks of all claims; -k M1 came as well"),
        (("claims", "text", "--format", "github", "--json"), "--json and --format github exclude each other"),
        (("claims", "txt"), "claims: 'txt' is neither a command nor a file. Did you mean 'text'?"),
        (
            ("run", "toy.sums", "--tier", "tiny", "--register", "--json"),
            "'--json' is an option, and a sentence was due",
        ),
        (("runs", "register", "toy.sums", "--why", "--tier"), "'--tier' is an option, and a sentence was due"),
        (("runs", "waive", "toy.sums", "--why", "--json"), "'--json' is an option, and a sentence was due"),
    ],
)
def test_a_wrong_word_is_named_with_the_known_ones_and_nothing_is_written(
    once: Path, arguments: tuple[str, ...], words: str
) -> None:
    before = written(once)
    done = assay(once, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert written(once) == before


@pytest.mark.parametrize("command", ["runs", "freeze --status", "report toy", "export codemeta", "claims text"])
def test_a_command_outside_of_any_repository_is_a_wrong_use(tmp_path: Path, command: str) -> None:
    done = assay(tmp_path, *command.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds experiments/ or pyproject.toml, and neither does it" in done.stderr


def test_registering_from_a_dirty_tree_is_refused_before_anything_runs(tmp_path: Path) -> None:
    root = toy(tmp_path)
    write(root, {"experiments/toy/sums.py": SUMS.replace("FACTOR = 3.0", "FACTOR = 4.0")})
    write(root, {f"new_{number}.py": "" for number in range(6)})
    done = assay(root, "run", "toy.sums", "--tier", "tiny", "--register", "why not")
    assert done.returncode == 1
    assert "on a dirty tree on top of" in done.stderr
    assert "(experiments/toy/sums.py, new_0.py (untracked), new_1.py (untracked)," in done.stderr
    assert "new_3.py (untracked) and 2 more)" in done.stderr
    assert written(root) == {}
    assert not (root / "computed.log").exists()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (SUMS.replace('"""Are sums of ten draws above five?"""', "pass"), "the function sums has no docstring"),
        (SUMS[SUMS.index("from __future__") :], "the module experiments/toy/sums.py has no docstring"),
        (SUMS.replace('"toy.sums"', '"toy.other"'), "declares 'toy.other'; by its place its name is 'toy.sums'"),
        (SUMS.replace("def sums(", "def sums(("), "does not parse"),
        (SUMS.replace("import random", "import nowhere_to_be_found"), "needs the package 'nowhere_to_be_found'"),
        (SUMS.replace("seed: int = 7", "seed: list[int] = 7"), "field 'seed': list[int] cannot be in a configuration"),
        (SUMS.replace("frozen=True", "frozen=False"), "Settings can be changed. Write @dataclass(frozen=True)"),
        (SUMS.replace('"tiny": tiny', '"huge": tiny'), "'huge' is no tier's name"),
        (SUMS.replace("    return Settings()", "    return 3"), "must return Settings, it returned 3"),
    ],
)
def test_an_experiment_written_wrongly_is_refused_with_what_to_do(tmp_path: Path, source: str, words: str) -> None:
    root = write(tmp_path, {"experiments/toy/sums.py": source})
    name = "toy.other" if "toy.other" in source else "toy.sums"
    done = assay(root, "run", name, "--tier", "tiny", python=("-OO",))
    assert words in done.stderr
    assert (done.returncode, written(root)) == (2, {})


def test_an_import_error_is_told_without_the_frames_of_the_import_system(tmp_path: Path) -> None:
    root = write(tmp_path, {"experiments/toy/sums.py": SUMS.replace("import random", "from random import gone")})
    done = assay(root, "run", "toy.sums", "--tier", "tiny", "--workers", "1")
    assert done.returncode == 2
    assert "cannot be imported: ImportError: cannot import name 'gone'" in done.stderr.splitlines()[0]
    assert "from random import gone" in done.stderr
    assert "importlib/__init__" not in done.stderr
    assert "<frozen" not in done.stderr


def test_it_all_works_without_docstrings_and_asserts(tmp_path: Path) -> None:
    root = toy(tmp_path)
    done = assay(root, "run", "toy.sums", "--tier", "tiny", python=("-OO",))
    assert done.returncode == 0, done.stderr
    assert "Are sums of ten draws above five?" in done.stdout
    assert "above.five  2/2" in done.stdout


def test_a_failed_run_keeps_its_numbers_and_tells_nobody_whose_machine_it_was(tmp_path: Path) -> None:
    root = toy(tmp_path / "repository")
    planted = {"HOME": "/home/plantedname", "USER": "plantedname", "PLANTED_TOKEN": "tok-5e1f8a3c9d"}
    done = assay(root, "run", "toy.words", "--tier", "tiny", "--set", "fail=true", env=planted)
    assert done.returncode == 1
    assert "ValueError: no file /home/plantedname/secret/rows.csv" in done.stderr
    assert "failed; its partial numbers are no evidence" in done.stderr
    (line,) = assay_json(root, "runs", "--status", "failed")
    shown = assay_json(root, "runs", "show", line["run_id"])
    assert shown["error"] == "ValueError"
    assert "rows.csv" in shown["message"]
    assert (shown["numbers"]["verdict"], shown["evidence"]) == ("supported", False)
    register = assay(root, "runs", "register", line["run_id"], "--why", "anyway")
    assert register.returncode == 1
    assert "Only a completed run can speak" in register.stderr
    for name, data in written(root).items():
        for word in ("plantedname", "tok-5e1f8a3c9d", str(tmp_path), platform.node()):
            assert word.encode() not in data, f"{word} in {name}"
            assert word not in name


def test_a_run_that_goes_on_is_not_started_twice(tmp_path: Path) -> None:
    root = toy(tmp_path)
    arguments = ("run", "toy.words", "--tier", "tiny", "--set", "wait=4")
    first = start(root, *arguments)
    await_manifest(root)
    before = written(root)
    second = assay(root, *arguments)
    assert second.returncode == 1
    assert "is already running: process" in second.stderr
    assert written(root) == before
    assert [line["status"] for line in assay_json(root, "runs")] == ["running"]
    out, err = first.communicate(timeout=60)
    assert first.returncode == 0, out + err
    assert len(assay_json(root, "runs")) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_so_and_the_next_start_needs_no_cleaning(
    tmp_path: Path, number: signal.Signals
) -> None:
    root = toy(tmp_path)
    process = start(root, "run", "toy.sums", "--tier", "small", "--workers", "1", start_new_session=True)
    deadline = time.monotonic() + 60
    while not (root / "computed.log").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    if number is signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does: the cells get it as well
    else:
        process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "interrupted; its partial numbers are no evidence" in err
    assert "Traceback" not in err
    (line,) = assay_json(root, "runs")
    assert line["status"] == "interrupted"
    assert assay_json(root, "runs", "show", line["run_id"])["by"] == number.name
    assert assay(root, "runs", "doctor").returncode == 0
    done = assay_json(root, "run", "toy.sums", "--tier", "small")
    assert (done["run_id"], done["numbers"]["above.five"]["of"]) == (f"{line['run_id']}-r2", 6)
    computed = (root / "computed.log").read_text().split()
    assert set(computed) == set("012345")
    assert len(computed) <= 7  # at most the one that was being computed twice


def test_a_cell_that_dies_takes_no_other_with_it_and_is_alone_computed_again(tmp_path: Path) -> None:
    root = toy(tmp_path)
    (root / "die").touch()
    done = assay(root, "run", "toy.sums", "--tier", "tiny", "--set", "cells=4")
    assert done.returncode == 1
    assert "1 of 4 cells of draw failed:" in done.stderr
    assert "Draw(seed=7, place=1, pause=0.0): its process died without a word (exit code 9)" in done.stderr
    assert "The other 3 are kept" in done.stderr
    (root / "die").unlink()
    assert assay(root, "run", "toy.sums", "--tier", "tiny", "--set", "cells=4").returncode == 0
    assert sorted((root / "computed.log").read_text().split()) == ["0", "1", "2", "3"]


def test_a_study_runs_each_of_its_experiments(tmp_path: Path) -> None:
    root = toy(tmp_path)
    done = assay_json(root, "run", "toy", "--tier", "tiny")
    assert [run["run_id"].split("_")[0] for run in done["runs"]] == ["toy.sums", "toy.words"]
    assert {run["status"] for run in done["runs"]} == {"completed"}


def test_a_damaged_event_is_named_and_stops_nothing_else(once: Path, tmp_path: Path, ids: tuple[str, str]) -> None:
    root = tmp_path / "copy"
    shutil.copytree(once, root)
    (event,) = (root / "experiments" / "registry" / "events").glob(f"*-{ids[1]}-completed-*.json")
    event.write_bytes(event.read_bytes()[:40])
    assert [line["status"] for line in assay_json(root, "runs")] == ["completed", "unreadable"]
    doctor = assay(root, "runs", "doctor")
    assert doctor.returncode == 1
    assert event.name in doctor.stdout
    show = assay(root, "runs", "show", ids[1])
    assert (show.returncode, event.name in show.stdout) == (0, True)
    assert assay_json(root, "run", "toy.sums", "--tier", "tiny")["run_id"] == f"{ids[0]}-r3"


def test_an_edited_summary_is_refused_by_name(once: Path, tmp_path: Path, ids: tuple[str, str]) -> None:
    root = tmp_path / "copy"
    shutil.copytree(once, root)
    summary = root / "experiments" / "summaries" / ids[0] / "summary.json"
    summary.write_text(summary.read_text().replace('"count": 2', '"count": 1'))
    for arguments in (("runs", "show", ids[0]), ("runs", "diff", *ids), ("runs", "verify", ids[0])):
        done = assay(root, *arguments)
        assert done.returncode == 1
        assert f"summaries/{ids[0]}/summary.json was altered after the run" in done.stderr


def test_a_file_size_limit_is_a_clear_error_and_leaves_no_half_file(tmp_path: Path) -> None:
    root = toy(tmp_path)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    done = assay(root, "run", "toy.words", "--tier", "tiny", preexec_fn=limit)
    assert done.returncode == 1
    assert "could not be written: File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert written(root) == {}
    assert assay_json(root, "run", "toy.words", "--tier", "tiny")["status"] == "completed"
    assert assay(root, "runs", "doctor").returncode == 0


def test_verify_reproduces_what_stands_and_names_what_drifted(once: Path, tmp_path: Path, ids: tuple[str, str]) -> None:
    root = tmp_path / "copy"
    shutil.copytree(once, root)
    before = written(root)
    same = assay_json(root, "runs", "verify", "toy.sums", "--tier", "tiny")
    assert (same["run_id"], same["verdict"], same["identical_bytes"]) == (ids[0], "reproduced", True)
    assert (same["compared"], same["largest_relative_difference"]) == (12, 0.0)
    assert written(root) == before
    assert (root / same["rerun"] / "draws.csv").is_file()
    write(root, {"experiments/toy/sums.py": SUMS.replace("FACTOR = 3.0", "FACTOR = 3.001")})
    drifted = assay(root, "runs", "verify", ids[0])
    assert drifted.returncode == 1
    assert "DRIFTED" in drifted.stdout
    assert "total.mean" in drifted.stdout
    assert "experiments.toy.sums" in drifted.stdout
    assert assay(root, "runs", "verify", ids[0], "--tolerance", "0.01").returncode == 0


CLAIM = '''
import pytest

pytestmark = pytest.mark.registered("toy.sums", tier="tiny")


@pytest.mark.claim("T1", section="1")
def test_sums(evidence):
    """The mean sum is {total.mean: %s} and {above.five: 2/2} of the draws are above five."""
'''


def test_claims_hold_and_set_the_precision_of_verify(once: Path, tmp_path: Path, ids: tuple[str, str]) -> None:
    root = tmp_path / "copy"
    shutil.copytree(once, root)
    mean = assay_json(root, "runs", "show", ids[0])["numbers"]["total.mean"]
    write(root, {"claims/toy/test_sums.py": CLAIM % f"{mean:.1f}"})
    listed = assay_json(root, "claims", "--list")
    assert [(claim["id"], claim["experiment"]) for claim in listed] == [("T1", "toy.sums")]
    held = assay(root, "claims", "-p", "no:cacheprovider")
    assert held.returncode == 0, held.stdout + held.stderr
    assert "PytestAssertRewriteWarning" not in held.stdout + held.stderr
    write(root, {"experiments/toy/sums.py": SUMS.replace("FACTOR = 3.0", "FACTOR = 3.0003")})
    within = assay_json(root, "runs", "verify", ids[0], "--tolerance", "0.001")
    assert within["held_at_printed_precision"] == 2
    write(root, {"claims/toy/test_sums.py": CLAIM % f"{mean:.6f}"})
    beyond = assay(root, "runs", "verify", ids[0], "--tolerance", "0.001", "--json")
    assert beyond.returncode == 1
    (drift,) = json.loads(beyond.stdout)["drifted"]
    assert (drift["where"], drift["first"]) == ("total.mean", f"printed {mean:.6f}")
    wrong = write(root, {"claims/toy/test_sums.py": CLAIM % f"{mean + 1:.1f}"})
    failed = assay(wrong, "claims", "-p", "no:cacheprovider")
    assert failed.returncode == 1
    assert "total.mean" in failed.stdout


def test_the_difference_from_the_registered_run_is_shown(once: Path, tmp_path: Path, ids: tuple[str, str]) -> None:
    root = tmp_path / "copy"
    shutil.copytree(once, root)
    same = assay(root, "run", "toy.sums", "--tier", "tiny")
    assert f"registered: {ids[0]}, all 12 numbers and table cells equal" in same.stdout
    write(root, {"experiments/toy/sums.py": SUMS.replace("FACTOR = 3.0", "FACTOR = 4.0")})
    commit(root)
    other = assay(root, "run", "toy.sums", "--tier", "tiny", "--register", "another factor")
    assert "registered: this run" in other.stdout
    standing = {line["run_id"]: line["standing"] for line in assay_json(root, "runs")}
    assert standing == {ids[0]: "superseded", ids[1]: "", f"{ids[0]}-r3": "", f"{ids[0]}-r4": "registered"}


def test_starting_the_command_loads_nothing_heavy() -> None:
    code = "import sys, assay.cli; print(sorted({'torch', 'pandas', 'numpy', 'rich', 'matplotlib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def await_manifest(root: Path) -> None:
    deadline = time.monotonic() + 30
    while not list((root / "experiments" / "manifests").glob("*.json")):
        if time.monotonic() > deadline:
            raise TimeoutError("the run did not start")
        time.sleep(0.02)
