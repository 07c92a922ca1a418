"""Configuration and data are asked of the experiment as it is now; ``--set`` stays what it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.unit.runs.outgrown_repository import because, edit, outgrown, told
from tests.unit.runs.toy_repository import assay_json, commit, write

FUSE = "experiments/toy/fuse.py"


@pytest.fixture(scope="module")
def template(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Registered again with ``--set``."""
    root = shutil.copytree(template, tmp_path_factory.mktemp("intended") / "repository")
    assay_json(root, "run", "toy.train", "--set", "steps=4", "--register", "the default, said aloud")
    commit(root)
    assay_json(root, "run", "toy.fuse", "--set", "seed=9", "--register", "another seed")
    commit(root)
    return root


def test_what_set_overrode_is_no_change(root: Path) -> None:
    assert told(root)["verdict"] == "current"


def test_a_field_is_told_with_both_values_unless_set_overrode_it(root: Path) -> None:
    edit(root, FUSE, "cells=3", "cells=4")
    edit(root, FUSE, "seed: int = 1", "seed: int = 2")
    (source, field) = told(root)["reasons"]
    assert source["details"] == ["constant Fusion.seed 1 -> 2", "function tiny changed"]
    assert (field["kind"], field["where"], field["what"]) == ("configuration", "cells", "3 -> 4")
    plan = assay_json(root, "run", "--stale", "toy.fuse", "--dry-run")["plan"]
    assert [one["set"] for one in plan] == [["seed=9"]]


def test_data_that_only_the_experiment_knows_is_compared(root: Path) -> None:
    run = 'return file_digests(ITEMS, "experiments/toy/parts")'
    edit(root, FUSE, run, 'return {"words": "0" * 64, **file_digests(ITEMS)}')
    assert because(root) == [
        "source experiments.toy.fuse",
        "data file experiments/toy/parts/a.txt",
        "data words",
    ]


def test_a_configuration_read_from_a_file_is_compared(tmp_path: Path) -> None:
    root = write(tmp_path, {"experiments/toy/settings.txt": "steps 4\n"})
    outgrown(root)
    train = "experiments/toy/train.py"
    edit(root, train, "steps: int = 4", 'steps: int = int(open("experiments/toy/settings.txt").read().split()[1])')
    commit(root)
    assay_json(root, "run", "toy.train", "--register", "from a file")
    (root / "experiments/toy/settings.txt").write_text("steps 5\n")
    assert because(root, "toy.train") == ["configuration steps"]


def test_what_cannot_be_imported_is_said_and_the_rest_is_compared(root: Path) -> None:
    edit(root, FUSE, "from pathlib import Path", "from pathlib import Path\nimport a_package_of_nobody")
    found = told(root)
    assert found["verdict"] == "stale"
    assert "needs the package 'a_package_of_nobody'" in found["untold"]
    assert [reason["kind"] for reason in found["reasons"]] == ["source"]
