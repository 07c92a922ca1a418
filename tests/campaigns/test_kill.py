"""Kill a run at random moments: every file stays readable, and the next start goes on where the last one was."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from assay.runs.manifest import RunStatus
from assay.runs.registry import Record
from assay.seeds import stream
from tests.unit.runs.toy_repository import assay_json, start, toy, written

CELLS = 16
ARGUMENTS = ("run", "toy.sums", "--tier", "tiny", "--set", f"cells={CELLS}", "--workers", "2")


def test_killed_at_random_moments_a_run_resumes_without_cleaning(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    wanted = 4 * request.config.getoption("--kills")  # 200 with --kills 50
    root = toy(tmp_path)
    record = Record(root / "experiments")
    rng = stream(2_026, "kill")
    kills = 0
    while kills < wanted:
        process = start(root, *ARGUMENTS)
        time.sleep(float(rng.uniform(0.1, 1.2)))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=300)
        kills += process.returncode == -signal.SIGKILL
        for name, data in written(root).items():
            if name.endswith(".json"):
                json.loads(data)
        assert {record.status(run_id) for run_id in record.attempts()} <= {RunStatus.INTERRUPTED, RunStatus.COMPLETED}
        assert {finding.kind for finding in record.doctor()} <= {"interrupted", "temporary", "index"}
    done = assay_json(root, *ARGUMENTS)
    assert done["numbers"]["above.five"]["of"] == CELLS
    computed = [int(place) for place in (root / "computed.log").read_text().split()]
    assert set(computed) == set(range(CELLS))
    whole = sum(record.status(run_id) is RunStatus.COMPLETED for run_id in record.attempts())
    assert len(computed) <= whole * CELLS + 2 * kills  # a kill loses the cells that are being computed, and no other
    assert {finding.kind for finding in record.doctor()} <= {"interrupted"}
    undisturbed = assay_json(toy(tmp_path / "undisturbed"), *ARGUMENTS)
    assert undisturbed["numbers"] == done["numbers"]
