"""A small repository with registered runs, made once, and copied into each test's folder."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.runs import Count, Record, experiment
from assay.runs.execution import execute
from assay.stats.estimate import Estimate

EFFECT = '"""Effect of fusion."""\nLIMIT = 3\n'
INI = "[pytest]\nstrict = true\naddopts = -p no:cacheprovider\n"


@dataclass(frozen=True)
class Settings:
    """Configuration of the small experiment."""

    seed: int = 7
    sesoi: float = 0.25
    grid: tuple[float, ...] = (0.1, 0.2)
    kind: str = "exploratory"


def _effect(config: Settings, run) -> None:
    import pandas as pd

    run["wins.target"] = Count(14, 20)
    run["delta.median"] = 0.0123
    run["delta.tie"] = 0.8745
    run["items"] = 3000
    run["share"] = 0.875
    run["p"] = 0.0004
    run["cka"] = Estimate(0.85, 0.83, 0.87, 100)
    run["H2"] = True
    run["best"] = "SmolLM2-135M"
    run["broken.nan"] = float("nan")
    run["broken.inf"] = float("inf")
    run["broken.none"] = Count(0, 0)
    run.table("directions", pd.DataFrame({"pair": ["a", "b"], "delta": [0.5, -0.25]}))


def _other(config: Settings, run) -> None:
    run["loss"] = 2.5


def git(folder: Path, *words: str) -> None:
    """Run git in `folder` as an author of no name that matters."""
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)


def run_and_register(folder: Path, name: str = "study.effect", *, tier: str = "tiny", settings=None) -> str:
    """Run one of the small experiments in a repository, and register the run."""
    function = _effect if name == "study.effect" else _other
    made = experiment(name, version=1, tiers={tier: Settings})(function)
    record = Record(folder / "experiments")
    return execute(
        made, settings or Settings(), record=record, repository=folder, tier=tier, register="the test", quiet=True
    )


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that tests copy."""
    folder = tmp_path_factory.mktemp("template") / "repository"
    study = folder / "experiments" / "study"
    study.mkdir(parents=True)
    (study / "effect.py").write_text(EFFECT)
    (study / "other.py").write_text('"""Another study."""\n')
    (folder / ".gitignore").write_text("artifacts/\n__pycache__/\n")
    (folder / "pytest.ini").write_text(INI)
    git(folder, "init", "--quiet", "--template=")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "start")
    run_and_register(folder)
    run_and_register(folder, "study.other", tier="small")
    return folder


class Repository:
    """A copy of the template under pytester's folder: write claims and texts, run pytest in it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path

    def write(self, name: str, text: str) -> Path:
        """Write a file, folders included."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def claims(self, *tests: str, name: str = "claims/test_claims.py", tier: str = "tiny") -> Path:
        """Write a claim file with the usual head."""
        head = f'import pytest\npytestmark = pytest.mark.registered("study.effect", tier="{tier}")\n\n\n'
        return self.write(name, head + "\n\n".join(tests))

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run pytest on claims/ in this process."""
        return self.pytester.runpytest_inprocess(*(arguments or ("claims",)))

    @property
    def summary(self) -> Path:
        """The summary of the registered run."""
        return next((self.path / "experiments/summaries").glob("study.effect_*")) / "summary.json"


def claim(name: str, sentence: str, body: str = "...", *, marks: str = "") -> str:
    """Source of one claim's test."""
    more = f", {marks}" if marks else ""
    function = "".join(letter if letter.isalnum() else "_" for letter in name)
    return f'@pytest.mark.claim("{name}"{more})\ndef test_{function}(evidence):\n    """{sentence}"""\n    {body}\n'


@pytest.fixture
def repository(pytester: pytest.Pytester, template: Path) -> Repository:
    """A repository with registered runs of study.effect (tiny) and study.other (small)."""
    shutil.copytree(template, pytester.path, dirs_exist_ok=True)
    return Repository(pytester)
