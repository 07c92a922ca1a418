"""A job array from its script to the run that collects it; `sbatch` is a shell script that runs the tasks."""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assay.errors import RecordError
from assay.runs.engines import HandedOverError
from assay.runs.jobs import Job, Limits, encode
from assay.runs.registry import Record
from assay.runs.slurm import MOST_TASKS, SlurmScript, run_task
from tests.unit.runs.toy_repository import SUMS, assay, assay_json, commit, toy, write

SBATCH = """#!/bin/bash
# Runs every task of the array of a script, one after the other, with its output where the script says.
script="${@: -1}"
last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' "$script")
output=$(sed -n 's/^#SBATCH --output="\\(.*\\)"/\\1/p' "$script")
cp "$script" "$PWD/artifacts/spooled.sh"
for task in $(seq 0 "$last"); do
  (cd / && SLURM_ARRAY_TASK_ID=$task bash "$OLDPWD/artifacts/spooled.sh") > "${output/\\%a/$task}" 2>&1
done
echo "Submitted batch job 1"
"""
TAIL = SUMS.replace("toy.sums", "toy.tail").replace("FACTOR = 3.0", "FACTOR = 1.0")
TAIL = TAIL.replace(
    "    rows = run.cells(draw, [Draw(config.seed, place,",
    '    base = run.uses("toy.sums", tier="tiny").value("total.mean")\n    run["base"] = base\n'
    "    rows = run.cells(draw, [Draw(int(1000 * base), place,",
)
RUN = ("run", "toy.sums", "--tier", "tiny", "--set", "cells=5")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return toy(tmp_path / "a folder")


@pytest.fixture
def sbatch(tmp_path: Path) -> Path:
    path = tmp_path / "sbatch"
    path.write_text(SBATCH)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def submit(root: Path, sbatch: Path, script: str) -> None:
    done = subprocess.run(
        [str(sbatch), "--partition=cpu", script], cwd=root, capture_output=True, text=True, check=True
    )
    assert "Submitted batch job" in done.stdout


def computed(root: Path) -> list[str]:
    return sorted((root / "computed.log").read_text().split())


def test_a_script_is_written_and_the_next_run_collects_what_it_computed(root: Path, sbatch: Path) -> None:
    first = assay_json(root, *RUN, "--executor", "slurm-script", "--workers", "3")
    run_id = first["run_id"]
    assert (first["status"], first["script"]) == ("interrupted", f"artifacts/slurm/{run_id}/array.sh")
    assert "#SBATCH --array=0-4%3\n" in (root / first["script"]).read_text()
    assert assay_json(root, "runs", "show", run_id)["by"] == "slurm-script"
    assert not (root / "computed.log").exists()
    submit(root, sbatch, first["script"])
    assert computed(root) == ["0", "1", "2", "3", "4"]
    done = assay_json(root, *RUN)
    assert (done["run_id"], done["status"]) == (f"{run_id}-r2", "completed")
    assert done["numbers"]["above.five"]["of"] == 5
    assert computed(root) == ["0", "1", "2", "3", "4"]
    assert Record(root / "experiments").doctor() == []


def test_what_to_type_next_is_said(root: Path) -> None:
    done = assay(root, *RUN, "--executor", "slurm-script")
    assert done.returncode == 0
    assert "5 cells wait for Slurm; when the array is through, the run goes on." in done.stdout
    then = "assay run toy.sums --tier tiny --set cells=5 --executor slurm-script"
    assert re.search(rf"\n  sbatch artifacts/slurm/\S+/array\.sh\n  then: {then}\n$", done.stdout)
    assert "failed" not in done.stdout + done.stderr


def test_a_cell_that_fails_says_why_in_its_log_and_is_alone_left(root: Path, sbatch: Path) -> None:
    (root / "die").touch()
    first = assay_json(root, *RUN, "--executor", "slurm-script")
    submit(root, sbatch, first["script"])
    logs = (root / first["script"]).parent
    assert "its process died without a word (exit code 9)" in (logs / "1.log").read_text()
    assert (logs / "0.log").read_text() == ""
    again = assay(root, *RUN, "--executor", "slurm-script")
    assert "1 cell waits for Slurm;" in again.stdout
    (root / "die").unlink()
    assert assay_json(root, *RUN)["numbers"]["above.five"]["of"] == 5
    assert computed(root) == ["0", "1", "2", "3", "4"]


def test_where_nothing_is_missing_the_run_goes_on(root: Path, sbatch: Path) -> None:
    first = assay_json(root, *RUN, "--executor", "slurm-script")
    submit(root, sbatch, first["script"])
    done = assay_json(root, *RUN, "--executor", "slurm-script")
    assert (done["run_id"], done["status"]) == (f"{first['run_id']}-r2", "completed")


def follow(root: Path, sbatch: Path, report: Any) -> Any:
    """Submit the script of a run that was handed over, and type what it said to type then."""
    if report["script"]:
        submit(root, sbatch, report["script"])
    return assay_json(root, *shlex.split(report["then"])[1:])


def test_a_study_is_handed_over_experiment_by_experiment(root: Path, sbatch: Path) -> None:
    first = assay_json(root, "run", "toy", "--tier", "tiny", "--executor", "slurm-script")
    sums, words = first["runs"]
    assert (first["status"], sums["status"], words["status"]) == ("interrupted", "interrupted", "completed")
    assert (sums["cells"], words["cells"], first["warnings"]) == (2, 0, [])
    assert sums["then"] == "assay run toy.sums --tier tiny --executor slurm-script"
    assert follow(root, sbatch, sums)["numbers"]["above.five"]["of"] == 2
    assert computed(root) == ["0", "1"]
    shown = assay(root, "run", "toy", "--tier", "tiny", "--executor", "slurm-script")
    assert shown.returncode == 0
    assert "2 cells wait for Slurm" in shown.stdout
    assert "completed toy.words_tiny_" in shown.stdout


def test_a_run_that_reads_what_was_handed_over_waits_for_it(root: Path, sbatch: Path) -> None:
    write(root, {"experiments/toy/tail.py": TAIL})
    commit(root)
    asked = ("--tier", "tiny", "--executor", "slurm-script", "--workers", "2", "--register", "why not")
    sums, tail, words = assay_json(root, "run", "toy", *asked)["runs"]
    assert [one["status"] for one in (sums, tail, words)] == ["interrupted", "interrupted", "completed"]
    assert (tail["script"], tail["cells"]) == (None, 0)
    assert "It reads toy.sums, tiny, whose cells wait for Slurm" in tail["message"]
    sums_now = follow(root, sbatch, sums)
    assert (sums_now["status"], sums_now["registered"]) == ("completed", True)
    handed = follow(root, sbatch, tail)
    assert (handed["status"], handed["cells"]) == ("interrupted", 2)
    done = follow(root, sbatch, handed)
    assert (done["status"], done["numbers"]["base"]) == ("completed", sums_now["numbers"]["total.mean"])
    assert computed(root) == ["0", "0", "1", "1"]
    assert Record(root / "experiments").doctor() == []


def test_stale_runs_are_handed_over_in_their_order(root: Path, sbatch: Path) -> None:
    write(root, {"experiments/toy/tail.py": TAIL})
    commit(root)
    assay_json(root, "run", "toy", "--tier", "tiny", "--register", "before")
    for name in ("sums", "tail"):
        source = root / f"experiments/toy/{name}.py"
        source.write_text(source.read_text().replace("range(10)", "range(11)"))
    commit(root)
    again = ("run", "--stale", "--executor", "slurm-script")
    refused = assay(root, *again)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "2 runs would be collected by later commands" in refused.stderr
    assert "Nothing was run." in refused.stderr
    found = assay_json(root, *again, "--register", "another length")
    assert [one["run_id"].partition("_")[0] for one in found["runs"]] == ["toy.sums", "toy.tail"]
    assert (found["status"], found["runs"][1]["script"]) == ("interrupted", None)
    (sums,) = follow(root, sbatch, found["runs"][0])["runs"]
    assert sums["status"] == "completed"
    (handed,) = follow(root, sbatch, found["runs"][1])["runs"]
    (tail,) = follow(root, sbatch, handed)["runs"]
    assert tail["numbers"]["base"] == sums["numbers"]["total.mean"]
    assert assay(root, "runs", "stale").returncode == 0


def jobs(folder: Path, count: int, limits: Limits) -> list[Job]:
    places = [str(folder)] * 3
    return [
        Job("builtins:float", encode(place), str(folder / "run" / f"{place}.json"), *places, (), limits)
        for place in range(count)
    ]


def test_limits_and_the_size_of_the_array_become_directives(tmp_path: Path) -> None:
    with pytest.raises(HandedOverError, match="2500 cells wait for Slurm"):
        list(SlurmScript().compute(jobs(tmp_path, 2500, Limits(time_s=600, memory_mb=4000)), at_once=None))
    script = (tmp_path / "slurm" / "run" / "array.sh").read_text()
    assert f"#SBATCH --array=0-{MOST_TASKS - 1}\n" in script
    assert "#SBATCH --time=33\n" in script  # three cells of 600 s a task, and a minute for each
    assert "#SBATCH --mem=4256M\n" in script
    subprocess.run(["bash", "-n", str(tmp_path / "slurm" / "run" / "array.sh")], check=True)


def test_a_task_computes_its_share_and_counts_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = tmp_path / "cells.jsonl"
    (tmp_path / "run").mkdir()
    cells.write_text("".join(f"{job.to_json()}\n" for job in jobs(tmp_path, 5, Limits())))
    assert run_task(cells, tasks=2, task=1) == 2  # numbers 1 and 3: float() gives no mapping
    assert capsys.readouterr().err.count("returned float; wanted a mapping") >= 2
    assert os.listdir(tmp_path / "run") == []


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "slurm").write_text("in the way")
    with pytest.raises(RecordError, match="could not be written"):
        list(SlurmScript().compute(jobs(tmp_path, 2, Limits()), at_once=None))
