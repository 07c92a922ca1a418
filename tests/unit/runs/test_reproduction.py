"""A rerun reproduces, drifts from a named source, or fails; each is a verdict with an exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.runs.outgrown_repository import edit
from tests.unit.runs.toy_repository import assay, assay_json, commit

FUSE, SCALE, TRAIN = (f"experiments/toy/{name}.py" for name in ("fuse", "scale", "train"))


def verify(root: Path) -> tuple[int, Any, str]:
    """Exit status, document, and standard error of ``assay runs verify toy.fuse --json``."""
    done = assay(root, "runs", "verify", "toy.fuse", "--json")
    return done.returncode, json.loads(done.stdout), done.stderr


def test_an_untouched_run_reproduces(root: Path) -> None:
    status, found, _ = verify(root)
    assert (status, found["verdict"], found["identical_bytes"], found["failure"]) == (0, "reproduced", True, "")


def test_a_drift_names_code_and_data(root: Path) -> None:
    edit(root, SCALE, "SCALE = 3.0", "SCALE = 3.5")
    edit(root, "experiments/toy/items.yaml", "5", "6")
    status, found, _ = verify(root)
    assert (status, found["verdict"]) == (1, "drifted")
    assert [(one["source"], one["detail"]) for one in found["likely_sources"]] == [
        ("data", "file experiments/toy/items.yaml changed"),
        ("code", "experiments.toy.scale changed: constant SCALE 3.0 -> 3.5"),
    ]
    shown = assay(root, "runs", "verify", "toy.fuse").stdout
    assert "constant SCALE 3.0 -> 3.5" in shown
    assert "DRIFTED  toy.fuse_tiny_" in shown


def test_a_p_value_a_hundred_times_as_large_drifts_unless_an_absolute_tolerance_is_declared(root: Path) -> None:
    edit(root, TRAIN, "RATE * config.steps", "1e-12 * SIZE")
    edit(root, TRAIN, "RATE =", "SIZE = 1\nRATE =")
    commit(root)
    assay_json(root, "run", "toy.train", "--register", "a p-value")
    edit(root, TRAIN, "SIZE = 1", "SIZE = 100")
    done = assay(root, "runs", "verify", "toy.train")
    assert done.returncode == 1
    assert "within 0.0001 relative (1e-09 beside an exact 0); 1 drifted" in done.stdout
    declared = assay(root, "runs", "verify", "toy.train", "--absolute", "1e-9")
    assert declared.returncode == 0
    assert "within 0.0001 relative or 1e-09 absolute (1e-09 beside an exact 0); 0 drifted" in declared.stdout
    assert "largest relative difference 0.99" in declared.stdout


def test_threads_are_named(root: Path) -> None:
    shown = assay(root, "runs", "verify", "toy.fuse", env={"OMP_NUM_THREADS": "7"}).stdout
    assert "REPRODUCED" in shown
    edit(root, SCALE, "SCALE = 3.0", "SCALE = 3.5")
    drifted = json.loads(assay(root, "runs", "verify", "toy.fuse", "--json", env={"OMP_NUM_THREADS": "7"}).stdout)
    assert [one["source"] for one in drifted["likely_sources"]][:2] == ["code", "threads"]


def test_an_experiment_that_is_not_deterministic_is_suspected_itself(root: Path) -> None:
    edit(root, TRAIN, "RATE * config.steps", "__import__('random').random()")
    commit(root)
    assay_json(root, "run", "toy.train", "--register", "without a seed")
    done = assay(root, "runs", "verify", "toy.train", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"]) == (1, "drifted")
    assert [change["where"] for change in found["drifted"]] == ["loss"]
    (only,) = found["likely_sources"]
    assert (only["source"], "without a seed" in only["detail"]) == ("the experiment", True)


@pytest.mark.parametrize(
    ("old", "new", "failure"),
    [
        ("item = int(", "raise ValueError('no items')\n    item = int(", "ValueError: no items"),
        ("item = int(", "raise SystemExit(3)\n    item = int(", "SystemExit: 3"),
        ('run.uses("toy.train")', 'run.uses("toy.other")', "asks for toy.other, which it did not read"),
        ("seed: int = 1", "grain: int = 1", "has no field 'seed'"),
        (", file_digests", ", file_digests, nothing_like_it", "cannot be imported"),
    ],
)
def test_a_rerun_that_cannot_end_has_failed(root: Path, old: str, new: str, failure: str) -> None:
    edit(root, FUSE, old, new)
    status, found, error = verify(root)
    assert (status, found["verdict"]) == (1, "failed"), error
    assert failure in found["failure"]
    assert found["likely_sources"][0]["source"] == "code"
    assert ("Traceback" in error) == ("no items" in failure or "SystemExit" in failure)
    assert found["drifted"] == []
