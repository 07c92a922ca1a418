"""Options of `assay run` on cells: what is said where there are none, and what becomes of a study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.runs.toy_repository import assay, assay_json, toy

LIMITS = ("--cell-time-limit", "60", "--cell-memory-limit", "4000", "--workers", "1")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return toy(tmp_path / "toy")


def test_options_on_cells_that_did_nothing_are_named_at_the_end(root: Path) -> None:
    done = assay(root, "run", "toy.words", "--tier", "tiny", "--executor", "slurm-script", *LIMITS)
    assert done.returncode == 0, done.stderr
    options = "--executor slurm-script --workers 1 --cell-time-limit 60 --cell-memory-limit 4000"
    said = f"{options} did nothing: toy.words ran no cells (run.cells)."
    assert f"warning: {said}" in done.stderr
    document = assay(root, "run", "toy.words", "--tier", "tiny", *LIMITS, "--json")
    found = json.loads(document.stdout)
    assert (found["experiment"], found["cells"]) == ("toy.words", 0)
    (warning,) = found["warnings"]
    assert warning.startswith(said.removeprefix("--executor slurm-script "))
    assert f"warning: {warning}\n" in document.stderr


def test_where_cells_ran_or_no_option_was_given_nothing_is_said(root: Path) -> None:
    cells = assay_json(root, "run", "toy.sums", "--tier", "tiny", *LIMITS)
    assert (cells["cells"], cells["warnings"]) == (2, [])
    again = assay(root, "run", "toy.words", "--tier", "tiny")
    assert "warning" not in again.stdout + again.stderr
    study = assay_json(root, "run", "toy", "--tier", "tiny", *LIMITS)
    assert [one["cells"] for one in study["runs"]] == [2, 0]
    assert study["warnings"] == []


def test_stale_runs_without_cells_say_it_too(root: Path) -> None:
    assay_json(root, "run", "toy.words", "--tier", "tiny", "--register", "the first run")
    source = root / "experiments/toy/words.py"
    source.write_text(source.read_text().replace('"supported"', '"refuted"'))
    found = assay_json(root, "run", "--stale", *LIMITS)
    assert [one["experiment"] for one in found["runs"]] == ["toy.words"]
    assert "--workers 1 --cell-time-limit 60" in found["warnings"][0]
