"""A frozen study with its confirmatory run and an exploratory one, both registered, and a claim on each."""

from __future__ import annotations

from pathlib import Path

from assay.report.study import Study, read_study
from assay.runs import Record
from tests.unit.runs.frozen_repository import commit, freeze, git, lab, run
from tests.unit.runs.outgrown_repository import edit
from tests.unit.runs.toy_repository import assay_json, write

CLAIMS = '''
import pytest


@pytest.mark.registered("lab.coin", tier="confirmatory")
@pytest.mark.claim("C1", kind="confirmatory")
def test_heads(evidence):
    """Heads in {heads: 30} flips."""


@pytest.mark.registered("lab.coin", tier="tiny")
@pytest.mark.claim("C2")
def test_look(evidence):
    """A look shows {heads: 7}."""
'''
SOURCE = "experiments/lab/coin.py"


def planned(root: Path) -> Path:
    """The study, frozen and committed; nothing was run."""
    lab(root)
    write(root, {"claims/test_lab.py": CLAIMS})
    commit(root, "claims")
    freeze(root)
    commit(root, "freeze")
    return root


def confirmed(root: Path) -> Path:
    """The study with both runs registered and committed."""
    planned(root)
    run(root, "--tier", "confirmatory", "--register", "the plan")
    run(root, "--tier", "tiny", "--register", "a look")
    commit(root, "results")
    return root


def read(root: Path, name: str = "lab") -> Study:
    """The study as a report reads it."""
    return read_study(name, root, Record(root / "experiments"))


def id_of(root: Path, tier: str) -> str:
    """The registered run of a tier."""
    return Record(root / "experiments").registered("lab.coin", tier).run_id


def squash(root: Path) -> None:
    """Make one commit of the freeze and its results: what came first is lost."""
    git(root, "reset", "-q", "--soft", "HEAD~2")
    git(root, "commit", "-q", "-m", "all at once")


def waive(root: Path, tier: str, why: str) -> str:
    """Rename a function of the experiment's module, waive that for the run of a tier, and return its id."""
    edit(root, SOURCE, "inputs", "the_inputs")
    run_id = id_of(root, tier)
    assay_json(root, "runs", "waive", run_id, "--why", why)
    return run_id
