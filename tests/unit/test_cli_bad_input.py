"""What a user's own mistakes look like on the command line: a message, no traceback alone, nothing half done."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.unit.runs.toy_repository import SUMS, assay, start, toy, write, written


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            SUMS.replace("import random", "raise OSError('no disk')"),
            "cannot be imported: OSError: no disk (experiments/toy/sums.py:",
        ),
        (SUMS.replace("import random", "raise SystemExit(0)"), "cannot be imported: SystemExit: 0"),
        (
            SUMS.replace("import random", "import experiments.toy.lost"),
            "ModuleNotFoundError: No module named 'experiments.toy.lost' (experiments/toy/sums.py:",
        ),
        (SUMS.replace("import random", "import experiments.toy.broken"), "cannot be imported: SyntaxError"),
        (SUMS.replace("    return Settings()", "    raise OSError('no corpus')"), "tier 'tiny': OSError: no corpus"),
        (
            SUMS.replace('version=1, tiers={"tiny"', 'version=1, data=lambda config: 1 / 0, tiers={"tiny"'),
            "toy.sums, its data hashes: ZeroDivisionError: division by zero",
        ),
    ],
)
def test_what_an_experiment_raises_before_its_run_is_told_with_its_place(
    tmp_path: Path, source: str, words: str
) -> None:
    root = write(tmp_path, {"experiments/toy/sums.py": source, "experiments/toy/broken.py": '"""No."""\ndef (:\n'})
    done = assay(root, "run", "toy.sums", "--tier", "tiny")
    assert words in done.stderr
    assert "nothing was run" in done.stderr
    assert (done.returncode, written(root)) == (2, {})


def test_a_reader_who_goes_away_ends_no_run(tmp_path: Path) -> None:
    root = toy(tmp_path)
    running = start(root, "run", "toy.sums", "--tier", "tiny", stderr=subprocess.STDOUT)
    assert running.stdout
    running.stdout.close()
    assert running.wait(120) == 0
    assert '"completed"' in assay(root, "runs", "--json").stdout


def test_output_that_cannot_be_written_is_said_and_ends_no_run(tmp_path: Path) -> None:
    root = toy(tmp_path)
    with Path("/dev/full").open("w") as full:
        running = start(root, "run", "toy.sums", "--tier", "tiny", stdout=full)
        _, said = running.communicate(timeout=120)
    assert said.startswith("assay: standard output cannot be written (No space left on device); going on without it.")
    assert running.returncode == 1
    assert '"completed"' in assay(root, "runs", "--json").stdout


def test_json_is_one_document_whatever_the_experiment_prints(tmp_path: Path) -> None:
    noisy = SUMS.replace("    time.sleep(cell.pause)", "    print('a cell')")
    root = write(tmp_path, {"experiments/toy/sums.py": noisy})
    done = assay(root, "run", "toy.sums", "--tier", "tiny", "--json")
    assert json.loads(done.stdout)["status"] == "completed"
    assert "a cell" in done.stderr


def test_a_record_that_is_a_file_is_named(tmp_path: Path) -> None:
    root = write(tmp_path, {"experiments/toy/sums.py": SUMS, "file": "no record"})
    done = assay(root, "runs", "--record", "file")
    assert (done.returncode, "A record is a folder" in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr
