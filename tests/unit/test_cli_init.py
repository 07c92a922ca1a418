"""`assay init`, as a newcomer uses it: the printed commands are run, without the packages of the extras."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.unit.runs.toy_repository import assay, assay_json, commit, write

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
BLOCKER = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in {names!r}:
            raise ModuleNotFoundError(f"{{name}} is not installed here", name=name)
sys.meta_path.insert(0, Blocked())
"""
IMPORTED_AS = {"POT": "ot", "pyyaml": "yaml"}
NAMES = {
    "experiments/example/first_digits.py",
    "claims/example/test_first_digits.py",
    ".github/workflows/claims.yml",
    "pyproject.toml",
    "README.md",
    ".gitignore",
    ".gitattributes",
}


def package(requirement: str) -> str:
    """Name under which a required package is imported."""
    name = requirement.partition(">")[0].partition("=")[0]
    return IMPORTED_AS.get(name, name)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Variables of a shell that finds `assay`, `pytest` and git, and only the packages of a plain installation."""
    base = {package(one) for one in PROJECT["dependencies"]}
    lab = {package(one) for one in PROJECT["optional-dependencies"]["lab"]} - base
    assert {"torch", "scipy", "matplotlib", "filelock"} <= lab
    write(tmp_path, {"blocker/sitecustomize.py": BLOCKER.format(names=lab)})
    author = {f"GIT_{who}_{what}": "u@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    paths = [str(tmp_path / "blocker"), *filter(None, [os.environ.get("PYTHONPATH")])]
    here = Path(sys.executable).parent
    places = {"PYTHONPATH": os.pathsep.join(paths), "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
    return {**os.environ, **author, **places}


def follow(commands: list[str], folder: Path, environment: dict[str, str]) -> str:
    """What the commands print, one after the other in one shell; each has to succeed."""
    script = "\n".join(["set -e", *commands])
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def printed(output: str) -> list[str]:
    """The commands under `Next:`."""
    return [line.strip() for line in output.partition("\nNext:\n")[2].splitlines() if line.strip()]


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts[:1]
    }


def registered(folder: Path) -> Any:
    return [line["standing"] for line in assay_json(folder, "runs")]


def test_the_printed_commands_give_a_registered_run_and_a_claim_that_holds(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "work").mkdir()
    done = assay(tmp_path / "work", "init", "my paper", env=environment)
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "work" / "my paper"
    assert set(files(folder)) == NAMES
    assert "without it runs work, but no claim can hold" in done.stdout
    commands = printed(done.stdout)
    assert commands[:2] == ["cd 'my paper'", "git init"]
    assert commands[-1] == "pytest claims/"
    out = follow(commands, tmp_path / "work", environment)
    assert "1 claim: 1 HOLDS" in out
    assert registered(folder) == ["registered"]
    mutated = follow(["pytest claims/ --claims-mutate --claims-strict", "assay claims text"], folder, environment)
    assert "0 of 1 claims cannot fail" in mutated
    assert "README.md  4      0          0" in mutated
    assert follow(["git status --short"], folder, environment) == ""


def test_an_existing_repository_gets_only_what_it_lacks(tmp_path: Path, environment: dict[str, str]) -> None:
    own = {
        "pyproject.toml": '[project]\nname = "thing"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
        ".gitignore": "artifacts\n*.log\n",
        "README.rst": "Thing\n",
        "tests/test_thing.py": "def test_thing():\n    pass\n",
    }
    write(tmp_path / "thing", own)
    folder = tmp_path / "thing"
    commit(folder)
    asked = assay(folder, "init", env=environment, stdin=subprocess.DEVNULL)
    assert asked.returncode == 2
    assert '+claims_texts = ["README.md", "docs/*.md"]' in asked.stdout
    assert "+/artifacts/" not in asked.stdout
    assert files(folder) == own
    done = assay(folder, "init", "--yes", env=environment)
    assert done.returncode == 0, done.stderr
    now = files(folder)
    assert set(now) == (NAMES - {"README.md"}) | set(own)
    assert {name for name in own if now[name] != own[name]} == {"pyproject.toml", ".gitignore"}
    assert now[".gitignore"] == "artifacts\n*.log\n/build/\n__pycache__/\n.venv/\n"
    assert "README.md (not made: README.rst is there)" in done.stdout
    commands = printed(done.stdout)
    assert "git init" not in commands
    assert "1 claim: 1 HOLDS" in follow([*commands, "pytest"], folder, environment)
    assert registered(folder) == ["registered"]


def test_an_answer_decides(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.log\n"})
    (tmp_path / "answer").write_text("n\n")
    with (tmp_path / "answer").open() as answer:
        refused = assay(tmp_path, "init", stdin=answer)
    assert (refused.returncode, refused.stderr) == (1, "Nothing was written.\n")
    assert set(files(tmp_path)) == {".gitignore", "answer"}
    (tmp_path / "answer").write_text("y\n")
    with (tmp_path / "answer").open() as answer:
        assert assay(tmp_path, "init", stdin=answer).returncode == 0
    assert set(files(tmp_path)) == {*NAMES, "answer"}


def test_a_second_call_changes_nothing_and_names_what_is_left_to_do(tmp_path: Path) -> None:
    first = assay_json(tmp_path, "init")
    before = files(tmp_path)
    again = assay_json(tmp_path, "init")
    assert (set(first["new"]), again["new"], again["changed"]) == (NAMES, [], [])
    assert again["left"] == dict.fromkeys(again["left"], "is there")
    assert again["commands"] == first["commands"]
    assert files(tmp_path) == before
    commit(tmp_path)
    assert assay_json(tmp_path, "init")["commands"][0].startswith("assay run example.first_digits --register")


def test_json_asks_nothing(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.log\n"})
    done = assay(tmp_path, "init", "--json")
    assert done.returncode == 2
    assert "add --yes" in done.stderr
    assert set(files(tmp_path)) == {".gitignore"}


def test_without_git_it_says_what_is_lost(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "paper").mkdir()
    (tmp_path / "bin").mkdir()
    lonely = {**environment, "PATH": str(tmp_path / "bin")}
    done = assay(tmp_path / "paper", "init", env=lonely)
    assert done.returncode == 0, done.stderr
    assert "git is not installed. Runs work, but none can be registered" in done.stdout
    assert printed(done.stdout) == ["assay run example.first_digits"]
    ran = assay(tmp_path / "paper", "run", "example.first_digits", env=lonely)
    assert ran.returncode == 0, ran.stderr
    assert "301/1000" in ran.stdout


def test_a_folder_inside_a_repository_gets_no_workflow_that_nobody_reads(tmp_path: Path) -> None:
    write(tmp_path, {"notes.md": "Notes\n"})
    commit(tmp_path)
    found = assay_json(tmp_path, "init", "paper")
    assert "GitHub reads it only at the top" in found["left"][".github/workflows/claims.yml"]
    assert found["commands"][:1] == ["cd paper"]
    assert not (tmp_path / "paper" / ".github").exists()


def test_work_that_is_not_committed_and_an_ignored_record_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"model.py": "x = 1\n", ".gitignore": "*.csv\n/artifacts/\n/build/\n__pycache__/\n.venv/\n"})
    commit(tmp_path)
    write(tmp_path, {"model.py": "x = 2\n", "draft.py": "y = 1\n"})
    uncommitted, ignored, *_ = assay_json(tmp_path, "init")["notes"]
    assert uncommitted.startswith("Not committed yet: model.py, draft.py.")
    assert ignored.startswith("git ignores experiments/summaries/run/table.csv,")
    assert "Add !experiments/summaries/** to .gitignore" in ignored
    with (tmp_path / ".gitignore").open("a") as ignoring:
        ignoring.write("!experiments/summaries/**\n")
    assert not any("git ignores" in note for note in assay_json(tmp_path, "init")["notes"])


def test_settings_of_pytest_elsewhere_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path, {"pytest.ini": "[pytest]\n", "pyproject.toml": "[project]\n"})
    found = assay_json(tmp_path, "init")
    assert "pytest.ini holds the settings of pytest" in found["left"]["pyproject.toml"]
    assert files(tmp_path)["pyproject.toml"] == "[project]\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("claims", "a file", "needs the folder claims, which is a file"),
        ("pyproject.toml", "[tool", "no valid TOML"),
        (".gitignore", "caf\udce9\n", ".gitignore is not UTF-8"),
    ],
)
def test_what_stands_in_the_way_is_said_before_anything_is_written(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_bytes(text.encode(errors="surrogateescape"))
    done = assay(tmp_path, "init", "--yes")
    assert done.returncode == 2
    assert said in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_workflow_installs_assay_from_where_it_came(tmp_path: Path) -> None:
    """Here an editable folder or a path, which no other machine has: said, and no path is written."""
    (tmp_path / "paper").mkdir()
    found = assay_json(tmp_path / "paper", "init")
    workflow = files(tmp_path / "paper")[".github/workflows/claims.yml"]
    assert '      - run: python -m pip install "assay"\n' in workflow
    assert "# Where this Assay can be installed from is not known here" in workflow
    assert any("installs `assay` by its bare name" in note for note in found["notes"])
    assert [place for place in (*sys.path, "file:", "{") if place and place in workflow] == []
    again = assay_json(tmp_path / "paper", "init")
    assert not any("bare name" in note for note in again["notes"])


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        (None, f"assay=={PROJECT['version']}"),
        (
            {"url": "https://git.example.org/lab/assay.git", "vcs_info": {"vcs": "git", "commit_id": "a" * 40}},
            f"assay @ git+https://git.example.org/lab/assay.git@{'a' * 40}",
        ),
    ],
)
def test_an_installation_that_tells_its_origin_is_what_the_workflow_installs(
    tmp_path: Path, origin: dict[str, Any] | None, wanted: str
) -> None:
    source = Path(__file__).parents[2] / "src"
    site, paper = tmp_path / "site", tmp_path / "paper"
    for name in ("assay", "assay_pytest"):
        shutil.copytree(source / name, site / name, ignore=shutil.ignore_patterns("__pycache__"))
    installed = site / f"assay-{PROJECT['version']}.dist-info"
    told = {"METADATA": f"Metadata-Version: 2.1\nName: assay\nVersion: {PROJECT['version']}\n", "INSTALLER": "pip\n"}
    write(installed, told if origin is None else {**told, "direct_url.json": json.dumps(origin)})
    paper.mkdir()
    found = assay_json(paper, "init", env={"PYTHONPATH": str(site)})
    workflow = files(paper)[".github/workflows/claims.yml"]
    assert f'      - run: python -m pip install "{wanted}"\n' in workflow
    assert "not known" not in workflow
    assert not any("bare name" in note for note in found["notes"])


def test_a_command_that_needs_an_extra_names_it(tmp_path: Path, environment: dict[str, str]) -> None:
    write(tmp_path, {"recipe.yml": "merge_method: linear\n"})
    done = assay(tmp_path, "merge", "recipe.yml", "out", env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("assay: this needs the package ")
    assert done.stderr.endswith("which is not installed: pip install 'assay[lab]'\n")
