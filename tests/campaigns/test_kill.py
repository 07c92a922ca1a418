"""Kill a run at random moments: every file stays readable, and the next start goes on where the last one was."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

from assay.seeds import stream
from tests.unit.runs.toy_repository import assay, assay_json, start, toy, written

KILLS = 10
CELLS = 40
ARGUMENTS = ("run", "toy.sums", "--tier", "tiny", "--set", f"cells={CELLS}", "--set", "pause=0.05", "--workers", "2")


def test_killed_at_random_moments_a_run_resumes_without_cleaning(tmp_path: Path) -> None:
    root = toy(tmp_path)
    rng = stream(2_026, "kill")
    kills = 0
    while kills < KILLS:
        process = start(root, *ARGUMENTS)
        time.sleep(float(rng.uniform(0.05, 1.4)))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        assert process.returncode == -signal.SIGKILL
        kills += 1
        for name, data in written(root).items():
            if name.endswith(".json"):
                json.loads(data)
        states = {line["status"] for line in assay_json(root, "runs")}
        assert states <= {"interrupted"}
        assert assay(root, "runs", "doctor").returncode == 0
    interrupted = assay_json(root, "runs")
    done = assay_json(root, *ARGUMENTS)
    assert done["numbers"]["above.five"]["of"] == CELLS
    computed = [int(place) for place in (root / "computed.log").read_text().split()]
    assert set(computed) == set(range(CELLS))
    assert len(computed) <= CELLS + 2 * KILLS  # a kill loses the two cells that are being computed, and no other
    assert len(assay_json(root, "runs")) == len(interrupted) + 1
    assert assay(root, "runs", "doctor").returncode == 0
    assert not list(root.rglob(".assay-*.tmp"))
    undisturbed = assay_json(toy(tmp_path / "undisturbed"), *ARGUMENTS)
    assert undisturbed["numbers"] == done["numbers"]
