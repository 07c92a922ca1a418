"""A waiver is somebody's word for one state of code and data; claims name it, and the next change voids it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assay.runs.registry import Record
from tests.unit.runs.outgrown_repository import edit, outgrown, told
from tests.unit.runs.toy_repository import assay, assay_json, commit

SCALE = "experiments/toy/scale.py"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("waivers") / "repository"
    outgrown(root)
    return root


def claims(root: Path, *options: str) -> tuple[dict[str, str], str]:
    """The one claim as the session saw it, and what the session printed."""
    more = ("-p", "no:cacheprovider", "--claims-json", "build/claims.json", *options)
    command = [sys.executable, "-m", "pytest", "claims", *more]
    printed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False).stdout
    (claim,) = json.loads((root / "build/claims.json").read_text())["claims"]
    return claim, printed


def test_a_waiver_from_its_refusal_to_its_end(root: Path) -> None:
    run_id = told(root)["run_id"]
    nothing = assay(root, "runs", "waive", run_id, "--why", "no reason")
    assert (nothing.returncode, "nothing changed since the run" in nothing.stderr) == (1, True)
    edit(root, SCALE, "LIMIT", "CEILING")
    for arguments, words in (
        ((run_id, "--why", " "), "say in one sentence"),
        (("toy.fuse_tiny_0", "--why", "x"), "There is no run 'toy.fuse_tiny_0'"),
    ):
        refused = assay(root, "runs", "waive", *arguments)
        assert (refused.returncode, words in refused.stderr) == (2, True)
    assert told(root)["verdict"] == "stale"
    done = assay_json(root, "runs", "waive", run_id, "--why", "a name, no number")
    assert done["changes"] == [
        "experiments.toy.scale changed: function scaled changed, constant LIMIT renamed to CEILING"
    ]
    found = told(root)
    assert (found["verdict"], found["waiver"]["why"]) == ("waived", "a name, no number")
    assert assay_json(root, "run", "--stale", "--dry-run")["plan"] == []
    assert assay(root, "runs", "doctor").returncode == 0
    shown = assay_json(root, "runs", "show", run_id)
    assert (shown["stale"], shown["waived"], shown["why"]) == ([], "a name, no number", "the first")
    (event,) = [event for event in Record(root / "experiments").events(run_id) if event.event == "waived"]
    assert (event.payload["why"], len(event.payload["source"])) == ("a name, no number", 64)


def test_the_claim_holds_and_names_the_waiver_until_the_next_change(root: Path) -> None:
    run_id = told(root)["run_id"]
    claim, printed = claims(root, "--claims-strict", "--claims-table", "docs/CLAIM_EVIDENCE.md")
    assert (claim["verdict"], claim["note"]) == ("HOLDS", f"waived for {run_id}: a name, no number")
    assert f"waived      T1  waived for {run_id}: a name, no number" in printed
    table = (root / "docs/CLAIM_EVIDENCE.md").read_text()
    assert f"**HOLDS**<br>waived for {run_id.replace('_', chr(92) + '_')}: a name, no number" in table
    commit(root)
    assert told(root)["verdict"] == "waived"
    edit(root, SCALE, "SCALE = 3.0", "SCALE = 3.5")
    assert (told(root)["verdict"], claims(root)[0]["verdict"]) == ("stale", "STALE")
