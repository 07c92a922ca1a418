"""A small repository with registered runs and claims of every verdict, made with the real recorder."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.runs import Count, Record, experiment
from assay.runs.execution import execute
from assay.stats.estimate import Estimate

EFFECT = '"""Does fusion help?\n\nTwo pairs, each in both directions."""\nLIMIT = 3\n'
OTHER = '"""Does it cost?"""\nLIMIT = 4\n'
PYPROJECT = """
[project]
name = "study"
version = "1.2"
description = "A study of effects."
license = "MIT"
authors = [{ name = "The study's authors" }]
dependencies = ["numpy>=2", "pandas[extra] >=2.2; python_version > '3'"]

[tool.pytest]
addopts = ["-p", "no:cacheprovider"]

[tool.assay.report.tables]
directions = ["pair", { column = "delta", heading = "$\\\\Delta$ & gain", decimals = 2 }]
"""
README = """# Study

![Effect of each pair, before <and> after](experiments/summaries/study.effect_tiny_0/figures/effects.svg)

The effect is seen in 14/20 pairs (E1).
"""
CLAIMS = '''
import pytest

pytestmark = pytest.mark.registered("study.effect", tier="tiny")


@pytest.mark.claim("E1", section="Effect")
def test_e1(evidence):
    """The effect is seen in {wins.target: 14/20} pairs."""


@pytest.mark.claim("E2", section="Effect")
def test_e2(evidence):
    """The mean is {cka: 0.85 [0.83, 0.87]}, that is {delta.median: -0.012} or {share: 87.5%} at {= 95} %;
    p {p: < 0.001}. More is not said of <b>{best: SmolLM2-135M}</b>."""


@pytest.mark.claim("E3", section="Cost")
def test_e3(evidence):
    """Of {items: 3,001} items {H2: supported} is said, and the ratio is {ratio: 1.50}."""
    evidence.bind(ratio=1.5)


@pytest.mark.claim("E4", section="Cost", pending="the larger node is not there")
def test_e4(evidence):
    """Nothing yet."""


@pytest.mark.claim("E5", section="Cost")
def test_e5(evidence):
    """There are {no.such: 5} of them."""


@pytest.mark.registered("study.other")
@pytest.mark.claim("E6", section="Cost")
def test_e6(evidence):
    """The loss is {loss: 2.5}."""


@pytest.mark.registered("study.effect", tier="small")
@pytest.mark.claim("E7", section="Effect")
def test_e7(evidence):
    """At the small tier too, {wins.target: 14/20}; the mean is {cka.value: 0.9}."""
'''


@dataclass(frozen=True)
class Settings:
    """Configuration of the small experiments."""

    seed: int = 7
    draws: tuple[int, ...] = (1, 2)
    kind: str = "exploratory"


def _effect(config: Settings, run: Any) -> None:
    import pandas as pd
    from matplotlib.figure import Figure

    run["wins.target"] = Count(14, 20)
    run["delta.median"] = -0.01234
    run["items"] = 3000
    run["share"] = 0.875
    run["p"] = 0.0004
    run["cka"] = Estimate(0.8512345, 0.8312345, 0.8712345, 100)
    run["H2"] = True
    run["best"] = "SmolLM2-135M"
    rows = {"pair": ["a_b", "b_a"], "delta": [0.5, -0.25], "n": [1000, 2], "good": [True, False]}
    run.table("directions", pd.DataFrame(rows))
    run.table("many", pd.DataFrame({"row": range(60), "size": [10.0**-power for power in range(60)]}))
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([0, 1], [0, 1])
    run.figure("effects", figure)


def _other(config: Settings, run: Any) -> None:
    run["loss"] = 2.5


def _broken(config: Settings, run: Any) -> None:
    raise ValueError("the disk /srv/data/planted was full")


def git(folder: Path, *words: str) -> None:
    """Run git in `folder` as an author of no name that matters."""
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)


def write(folder: Path, name: str, text: str) -> None:
    """Write a file of the repository."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def run_other(folder: Path) -> str:
    """Run and register study.other."""
    other = experiment("study.other", version=1, tiers={"tiny": Settings})(_other)
    record = Record(folder / "experiments")
    return execute(other, Settings(), record=record, repository=folder, tier="tiny", register="the test", quiet=True)


def make(folder: Path) -> Path:
    """Make the repository: study.effect at two tiers, study.other (stale since), and a failed run of study.effect."""
    for name, text in (
        ("experiments/study/effect.py", EFFECT),
        ("experiments/study/other.py", OTHER),
        ("claims/study/test_study.py", CLAIMS),
        ("pyproject.toml", PYPROJECT),
        ("README.md", README),
        (".gitignore", "artifacts/\nbuild/\n__pycache__/\n"),
    ):
        write(folder, name, text)
    git(folder, "init", "--quiet", "--template=")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "start")
    record = Record(folder / "experiments")
    effect = experiment("study.effect", version=1, tiers={"tiny": Settings, "small": Settings})(_effect)
    for tier in ("tiny", "small"):
        execute(effect, Settings(), record=record, repository=folder, tier=tier, register="the test", quiet=True)
    run_other(folder)
    broken = experiment("study.effect", version=1, tiers={"quick": Settings})(_broken)
    try:
        execute(broken, Settings(), record=record, repository=folder, tier="quick", quiet=True)
    except ValueError:
        write(folder, "experiments/study/other.py", OTHER.replace("4", "5"))
    return folder
