"""A small repository whose experiment reads a helper, a package, a data file and another experiment's run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.unit.runs.toy_repository import assay, assay_json, commit, write

FILES = {
    ".gitignore": "artifacts/\nbuild/\n__pycache__/\n",
    "README.md": "A repository.\n",
    "lab/__init__.py": '"""A package."""\n\n__version__ = "1"\n',
    "lab/inner.py": "OFFSET = 2\n",
    "lab/dist.py": "SHIFT = 0\n",
    "lab/late.py": "LATE = 0\n",
    "tools/far.py": "FAR = 0\n",
    "lab/outer.py": """
import importlib
import sys
from pathlib import Path

from lab.dist import SHIFT
from lab.inner import OFFSET

sys.path.append(str(Path(__file__).parents[1] / "tools"))
OTHERS = [importlib.import_module(name) for name in ("lab.late", "far")]


def shifted(x):
    return x + OFFSET + SHIFT + OTHERS[0].LATE + OTHERS[1].FAR
""",
    "lab/unused.py": "IDLE = 1\n",
    "experiments/toy/scale.py": '''
"""How numbers are scaled."""

import math

SCALE = 3.0
LIMIT = 1000


def scaled(x, power=1):
    """Scale one number."""
    return min(math.pow(x, power) * SCALE, LIMIT)
''',
    "experiments/toy/items.yaml": "# what is read\nitem: 5\n",
    "experiments/toy/parts/a.txt": "1\n",
    "experiments/toy/other.yaml": "item: 1\n",
    "experiments/toy/train.py": '''
"""Train nothing."""

from dataclasses import dataclass

from assay.runs import Run, experiment

RATE = 0.5


@dataclass(frozen=True)
class Training:
    steps: int = 4


@experiment("toy.train", version=1)
def train(config: Training, run: Run) -> None:
    """How far does it get?"""
    run["loss"] = RATE * config.steps
''',
    "experiments/toy/fuse.py": '''
"""Fuse what was trained."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.runs import Run, experiment, file_digests
from experiments.toy.scale import scaled
from lab.outer import shifted

ITEMS = "experiments/toy/items.yaml"


@dataclass(frozen=True)
class Fusion:
    seed: int = 1
    cells: int = 2


def tiny() -> Fusion:
    return Fusion(cells=3)


def inputs(config: Fusion) -> dict[str, str]:
    return file_digests(ITEMS, "experiments/toy/parts")


@experiment("toy.fuse", version=1, tiers={"tiny": tiny}, data=inputs)
def fuse(config: Fusion, run: Run) -> None:
    """What comes of it?"""
    item = int(Path(ITEMS).read_text().split()[-1])
    run["total"] = shifted(scaled(item)) * config.cells + run.uses("toy.train").value("loss")
''',
    "claims/test_toy.py": '''
import pytest

pytestmark = pytest.mark.registered("toy.fuse", tier="tiny")


@pytest.mark.claim("T1")
def test_total(evidence):
    """The total is {total: 53.0}."""
''',
}


def outgrown(root: Path) -> dict[str, str]:
    """Make the repository with registered runs of toy.train and toy.fuse; gives their ids by experiment."""
    write(root, FILES)
    commit(root)
    ids = {}
    for name in ("toy.train", "toy.fuse"):
        ids[name] = assay_json(root, "run", name, "--register", "the first")["run_id"]
    commit(root)
    return ids


def edit(root: Path, name: str, old: str, new: str) -> None:
    """Replace a text that is there in a file."""
    path = root / name
    text = path.read_text()
    if old not in text:
        raise ValueError(f"{name} holds no {old!r}")
    path.write_text(text.replace(old, new))


def stale_json(root: Path) -> str:
    """What ``assay runs stale --json`` prints, whatever its exit status."""
    return assay(root, "runs", "stale", "--json").stdout


def told(root: Path, experiment: str = "toy.fuse") -> Any:
    """What ``assay runs stale`` says of one experiment's registered run."""
    (found,) = [one for one in json.loads(stale_json(root)) if one["experiment"] == experiment]
    return found


def because(root: Path, experiment: str = "toy.fuse") -> list[str]:
    """Kind and place of each reason for which an experiment's registered run is outgrown."""
    return [f"{reason['kind']} {reason['where']}" for reason in told(root, experiment)["reasons"]]
