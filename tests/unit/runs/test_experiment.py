"""Experiments by name: declared, listed without importing, and what is wrong with a declaration."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.errors import ConfigError
from assay.runs import experiment
from assay.runs.experiment import Experiment, description, listing, study
from tests.unit.runs.toy_repository import SUMS, WORDS, assay, assay_json, toy, write

if TYPE_CHECKING:
    from assay.runs import Run


@dataclass(frozen=True)
class Settings:
    seed: int = 1


@dataclass(frozen=True)
class Demanding:
    seed: int


@experiment("merging.transport", version=1, tiers={"tiny": Settings, "small": lambda: Settings(2)})
def transport(config: Settings, run: Run) -> None:
    """Carry weights."""
    run["seed"] = config.seed


@experiment("merging.plain", version=1)
def plain_one(config: Settings, run: Run) -> None:
    """Without tiers."""


@experiment("merging.demanding", version=1)
def demanding(config: Demanding, run: Run) -> None:
    """Without tiers, with a field that has no default."""


def test_the_decorated_function_is_an_experiment_that_can_be_called() -> None:
    recorded: dict[str, Any] = {}
    assert isinstance(transport, Experiment)
    transport(Settings(5), recorded)  # type: ignore[arg-type]
    assert recorded == {"seed": 5}
    assert (transport.name, transport.version, transport.__name__) == ("merging.transport", 1, "transport")
    assert transport.config_type is Settings


def test_tiers_give_configurations() -> None:
    assert transport.configuration("small") == Settings(2)
    assert (transport.tag("small"), plain_one.tag(None)) == ("small", "default")
    assert plain_one.configuration(None) == Settings(1)
    with pytest.raises(ConfigError, match="choose a tier with --tier: tiny, small"):
        transport.configuration(None)
    with pytest.raises(ConfigError, match=r"no tier 'smal'. Did you mean 'small'\?"):
        transport.configuration("smal")
    with pytest.raises(ConfigError, match="it has no tiers; leave out --tier"):
        plain_one.configuration("tiny")
    with pytest.raises(ConfigError, match=r"each field needs a default: .*'seed'"):
        demanding.configuration(None)


@pytest.mark.parametrize("name", ["Merging", "merging.", ".a", "a..b", "a-b", "a_b.", "merging transport", ""])
def test_a_name_that_is_no_module_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="lower-case words joined by dots"):
        experiment(name, version=1)


@pytest.mark.parametrize("version", [0, -1, True, "1"])
def test_a_version_is_a_whole_number(version: Any) -> None:
    with pytest.raises(ConfigError, match="version is a whole number from 1"):
        experiment("a.b", version=version)


def test_a_tier_is_a_function_under_a_known_name() -> None:
    with pytest.raises(ConfigError, match="'huge' is no tier's name"):
        experiment("a.b", version=1, tiers={"huge": Settings})
    with pytest.raises(ConfigError, match="wanted a function of no argument, got Settings"):
        experiment("a.b", version=1, tiers={"tiny": Settings()})  # type: ignore[dict-item]


def test_a_function_without_an_annotated_configuration_is_told_how() -> None:
    @experiment("a.b", version=1)
    def bare(config, run):  # type: ignore[no-untyped-def]
        """Bare."""

    with pytest.raises(ConfigError, match=r"write `def bare\(config: Settings, run: Run\) -> None`"):
        bare.config_type  # noqa: B018


def test_listing_reads_sources_and_imports_nothing(tmp_path: Path) -> None:
    explosive = WORDS.replace("toy.words", "toy.bomb").replace("import os\n", "raise RuntimeError('imported')\n")
    plain_file = '"""No experiment here."""\n'
    root = write(
        tmp_path,
        {
            "experiments/toy/sums.py": SUMS,
            "experiments/toy/bomb.py": explosive,
            "experiments/toy/configs.py": plain_file,
            "experiments/other/renamed.py": SUMS,
            "experiments/other/broken.py": "def (",
        },
    )
    found = {(one.name, one.path.name): one.problem for one in listing(root)}
    assert found.pop(("other.broken", "broken.py")).startswith("does not parse: ")
    assert found.pop(("toy.sums", "renamed.py")).startswith("declares 'toy.sums'; by its place its name is")
    assert found == {("toy.bomb", "bomb.py"): "", ("toy.sums", "sums.py"): ""}
    assert description("toy.bomb", root) == "What can a run hold?"
    (root / "experiments" / "other" / "renamed.py").unlink()
    assert study("toy", root) == ["toy.bomb", "toy.sums"]
    assert study("toy.sums", root) == ["toy.sums"]
    with pytest.raises(ConfigError, match=r"No experiment 'toy.bombe' in .*Did you mean 'toy.bomb'\?"):
        study("toy.bombe", root)
    with pytest.raises(ConfigError, match=r"broken.py does not parse"):
        study("other.broken", root)


def test_a_repository_without_experiments_says_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="There is none"):
        study("toy.sums", tmp_path)


@pytest.mark.parametrize("shadow", ["experiments/__init__.py", "experiments.py"])
def test_a_package_experiments_elsewhere_is_named_with_what_to_do(tmp_path: Path, shadow: str) -> None:
    other = write(tmp_path / "other", {shadow: "", "experiments/toy/words.py": "raise RuntimeError('not mine')"})
    root = toy(tmp_path / "repository")
    places = {"PYTHONPATH": os.pathsep.join([str(other), *filter(None, [os.environ.get("PYTHONPATH")])])}
    done = assay(root, "run", "toy.words", "--tier", "tiny", env=places)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Python imports the package experiments from {other / shadow}, not from {root}/experiments" in done.stderr
    assert f"Take {other} off PYTHONPATH" in done.stderr
    write(root, {"experiments/__init__.py": ""})
    assert assay_json(root, "run", "toy.sums", "--tier", "tiny", env=places)["status"] == "completed"


def test_the_repository_goes_before_another_one_on_the_path(tmp_path: Path) -> None:
    other = write(tmp_path / "other", {"experiments/toy/words.py": "raise RuntimeError('not mine')"})
    root = toy(tmp_path / "repository")
    code = "import sys; sys.path[0] = sys.argv.pop(1); from assay.cli import main; main()"
    places = {"PYTHONPATH": os.pathsep.join([str(other), str(root), *filter(None, [os.environ.get("PYTHONPATH")])])}
    words = ["run", "toy.words", "--tier", "tiny"]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), *words],
        cwd=root,
        env={**os.environ, **places},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
