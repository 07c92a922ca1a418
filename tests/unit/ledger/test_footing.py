"""Runs read together say together what each says alone, and are compared with the present once for all claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.ledger.claim import RunMark
from assay.ledger.evidence import Evidence, EvidenceStore
from tests.unit.runs.outgrown_repository import edit, outgrown
from tests.unit.runs.toy_repository import assay

SCALE, MARK = "experiments/toy/scale.py", RunMark("toy.fuse")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    outgrown(root)
    return root


def read(store: EvidenceStore) -> Evidence:
    """The evidence of one claim that reads the registered run."""
    evidence = Evidence(store, MARK)
    evidence.main()
    return evidence


def test_nothing_read_stands_on_nothing(tmp_path: Path) -> None:
    footing = Evidence(EvidenceStore(tmp_path / "experiments", tmp_path), None).footing()
    assert (footing.runs, footing.experiments, footing.tier, footing.kind) == ((), (), "", "")
    assert (footing.order, footing.doubt, footing.violated, footing.stale, footing.waived) == ("", "", (), "", "")


def test_claims_on_the_same_runs_share_one_footing_and_it_follows_edits_and_waivers(root: Path) -> None:
    store = EvidenceStore(root / "experiments", root)
    fresh = read(store).footing()
    assert read(store).footing() is fresh
    (run_id,) = fresh.runs
    assert (fresh.experiments, fresh.kind, fresh.stale, fresh.waived) == (("toy.fuse",), "exploratory", "", "")
    edit(root, SCALE, "LIMIT", "CEILING")
    outgrown_now = read(EvidenceStore(root / "experiments", root)).footing()
    assert outgrown_now.stale.startswith(f"experiments.toy.scale changed since {run_id}")
    assert outgrown_now.stale.endswith('assay run toy.fuse --tier tiny --register "..."')
    assay(root, "runs", "waive", run_id, "--why", "a name, no number")
    waived = read(EvidenceStore(root / "experiments", root)).footing()
    assert (waived.stale, waived.waived) == ("", f"waived for {run_id}: a name, no number")
    edit(root, SCALE, "CEILING", "BOUND")
    again = read(EvidenceStore(root / "experiments", root)).footing()
    changed, void, repeat = again.stale.split("; ")
    assert changed.startswith("experiments.toy.scale changed since")
    assert void.startswith("waiver void, given 20")
    assert void.endswith("for another state of code and data: a name, no number")
    assert (repeat, again.waived) == ('assay run toy.fuse --tier tiny --register "..."', "")
