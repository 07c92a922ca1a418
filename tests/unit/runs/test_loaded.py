"""What a run loads beside its import statements is in its manifest, outgrows it, and keys its cells."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.runs.loaded import loaded_beyond, together
from assay.runs.source import by_path
from tests.unit.runs.outgrown_repository import because, edit
from tests.unit.runs.toy_repository import assay, assay_json, commit, write

FIRST = '''
"""An experiment with code that no import statement leads to."""

import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from assay.runs import Run, experiment

sys.path.insert(0, str(Path(__file__).parents[2] / "code"))
import far

name = "parts"
near = importlib.import_module("lab." + name)


@dataclass(frozen=True)
class Settings:
    seed: int = 1


def work(cell: int) -> dict[str, int]:
    if cell == 1 and os.path.exists("die"):
        os._exit(3)
    return {"value": far.VALUE}


@experiment("toy.first", version=1)
def first(config: Settings, run: Run) -> None:
    """What does it sum to?"""
    rows = run.cells(work, [0, 1])
    run["sum"] = int(rows.value.sum()) + near.PART
'''
AUTHOR = {f"GIT_{who}_{what}": "t@example.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
PLAIN = '''
"""An experiment that imports as usual."""

from dataclasses import dataclass

from assay.runs import Run, experiment
from lab.usual import USUAL


@dataclass(frozen=True)
class Settings:
    seed: int = 1


@experiment("toy.plain", version=1)
def plain(config: Settings, run: Run) -> None:
    """A number."""
    run["usual"] = USUAL
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "experiments/toy/first.py": FIRST,
        "experiments/toy/plain.py": PLAIN,
        "code/far.py": "VALUE = 2\n",
        "lab/parts.py": "PART = 5\n",
        "lab/usual.py": "USUAL = 1\n",
        ".gitignore": "artifacts/\n__pycache__/\n",
    }
    write(tmp_path, files)
    commit(tmp_path)
    return tmp_path


def manifest(root: Path, run_id: str) -> Any:
    return json.loads((root / f"experiments/manifests/{run_id}.json").read_text())


def manifests(root: Path) -> list[Path]:
    return sorted(root.glob("experiments/manifests/*"))


def test_loaded_files_enter_the_manifest_and_a_later_edit_makes_the_run_stale(root: Path) -> None:
    run_id = assay_json(root, "run", "toy.first", "--register", "why")["run_id"]
    assert sorted(manifest(root, run_id)["modules"]) == ["code/far.py", "experiments.toy.first", "lab/parts.py"]
    assert manifest(root, run_id)["dirty"] is False
    assert because(root, "toy.first") == []
    edit(root, "code/far.py", "2", "9")
    (root / "lab/parts.py").unlink()
    said = assay(root, "runs", "stale").stdout
    assert "code/far.py changed: constant VALUE 2 -> 9" in said
    assert "lab/parts.py is gone" in said


def test_a_folder_on_pythonpath_is_followed(root: Path) -> None:
    edit(root, "experiments/toy/first.py", 'sys.path.insert(0, str(Path(__file__).parents[2] / "code"))\n', "")
    commit(root)
    path = os.pathsep.join([str(root / "code"), os.environ.get("PYTHONPATH", "")])
    run_id = assay_json(root, "run", "toy.first", env={"PYTHONPATH": path})["run_id"]
    assert "code/far.py" in manifest(root, run_id)["modules"]


def test_of_two_experiments_in_one_process_what_others_import_is_listed_only_of_one_that_computes_names(
    root: Path,
) -> None:
    others = FIRST.replace("toy.first", "toy.third").replace('importlib.import_module("lab." + name)', "far")
    write(root, {"experiments/toy/third.py": others.replace("near.PART", "near.VALUE")})
    commit(root)
    done = assay(root, "run", "toy")
    assert done.returncode == 0, done.stderr
    found = {path.name.partition("_")[0]: set(manifest(root, path.stem)["modules"]) for path in manifests(root)}
    loaded = {"code/far.py", "lab/parts.py"}
    assert found["toy.third"] == {"experiments.toy.third", *loaded}
    assert found["toy.plain"] == {"experiments.toy.plain", "lab.usual", *loaded}
    others = {"experiments/toy/plain.py", "experiments/toy/third.py", "lab/usual.py"}
    assert found["toy.first"] == {"experiments.toy.first", *loaded, *others}
    alone = assay_json(root, "run", "toy.plain", "--set", "seed=2")["run_id"]
    assert set(manifest(root, alone)["modules"]) == {"experiments.toy.plain", "lab.usual"}


def test_a_cell_is_computed_anew_when_what_it_loaded_changed(root: Path) -> None:
    (root / "die").touch()
    assert assay(root, "run", "toy.first").returncode == 1
    (root / "die").unlink()
    edit(root, "code/far.py", "2", "1000")
    commit(root)
    run_id = assay_json(root, "run", "toy.first")["run_id"]
    summary = json.loads((root / f"experiments/summaries/{run_id}/summary.json").read_text())
    assert summary["sum"] == 2005


def test_loaded_code_that_git_ignores_makes_the_run_dirty_and_it_is_not_registered(root: Path) -> None:
    (root / ".gitignore").write_text("artifacts/\n__pycache__/\nfar.py\n")
    (root / "code/far.py").rename(root / "far.txt")
    commit(root)
    (root / "far.txt").rename(root / "code/far.py")
    commit(root)
    done = assay(root, "run", "toy.first", "--register", "why")
    assert done.returncode == 1
    assert "Commit first what git does not show: code/far.py" in done.stderr
    assert manifests(root) == []
    found = manifest(root, assay_json(root, "run", "toy.first")["run_id"])
    assert (found["dirty"], found["untracked"]) == (True, ["code/far.py"])


LAZY = FIRST.replace("import far\n\nname", "\nname").replace("    if cell", "    import far\n\n    if cell")


def lazy(root: Path) -> None:
    """Let only the second cell load code/far.py, and nothing before it."""
    text = LAZY.replace("    import far\n", "    if cell == 0:\n        return {'value': 1}\n    import far\n")
    write(root, {"experiments/toy/first.py": text})
    commit(root)


def test_what_one_cell_alone_loads_is_in_the_manifest_and_outgrows_the_run(root: Path) -> None:
    lazy(root)
    run_id = assay_json(root, "run", "toy.first", "--register", "why")["run_id"]
    assert sorted(manifest(root, run_id)["modules"]) == ["code/far.py", "experiments.toy.first", "lab/parts.py"]
    assert because(root, "toy.first") == []
    edit(root, "code/far.py", "2", "2  # still")
    assert because(root, "toy.first") == []
    edit(root, "code/far.py", "2  # still", "9")
    assert because(root, "toy.first") == ["source code/far.py"]


def test_what_the_experiment_loads_while_it_runs_is_in_the_manifest(root: Path) -> None:
    edit(root, "experiments/toy/plain.py", "from lab.usual import USUAL\n", "import sys\n")
    edit(
        root,
        "experiments/toy/plain.py",
        "    run[",
        "    sys.path.append('lab')\n    from usual import USUAL\n\n    run[",
    )
    commit(root)
    run_id = assay_json(root, "run", "toy.plain", "--register", "why")["run_id"]
    assert sorted(manifest(root, run_id)["modules"]) == ["experiments.toy.plain", "lab/usual.py"]
    edit(root, "lab/usual.py", "1", "4")
    assert because(root, "toy.plain") == ["source lab/usual.py"]


def test_a_cell_is_computed_anew_when_what_it_alone_loaded_changed(root: Path) -> None:
    write(root, {"experiments/toy/first.py": LAZY})
    (root / "die").touch()
    assert assay(root, "run", "toy.first").returncode == 1
    (root / "die").unlink()
    edit(root, "code/far.py", "2", "1000")
    run_id = assay_json(root, "run", "toy.first")["run_id"]
    summary = json.loads((root / f"experiments/summaries/{run_id}/summary.json").read_text())
    assert summary["sum"] == 2005


def test_code_that_one_cell_alone_loads_is_held_by_the_commit_or_the_run_is_dirty(root: Path) -> None:
    (root / ".gitignore").write_text("artifacts/\n__pycache__/\ncode/\n")
    (root / "code/far.py").unlink()
    lazy(root)
    write(root, {"code/far.py": "VALUE = 2\n"})
    done = assay(root, "run", "toy.first", "--register", "why")
    assert done.returncode == 1
    assert "it ran on a dirty tree" in done.stderr
    assert "untracked: code/far.py" in done.stderr
    (path,) = manifests(root)
    assert manifest(root, path.stem)["dirty"] is True


@pytest.mark.parametrize("then", ["", "; subprocess.run(['git', 'commit', '-qam', 'x'], check=True)"])
def test_code_that_changed_between_the_commit_and_its_loading_makes_the_run_dirty(root: Path, then: str) -> None:
    change = f"import subprocess; Path('code/far.py').write_text('VALUE = 3'){then}"
    edit(root, "experiments/toy/first.py", "import far\n", "")
    edit(root, "experiments/toy/first.py", "    rows =", f"    {change}\n    import far\n    rows =")
    edit(root, "experiments/toy/first.py", "    if cell", "    import far\n\n    if cell")
    commit(root)
    done = assay(root, "run", "toy.first", "--register", "why", env=AUTHOR)
    assert "untracked: code/far.py" in done.stderr, done.stderr


def test_of_a_file_that_changed_between_two_loads_the_run_is_outgrown(root: Path) -> None:
    now = by_path(["code/far.py"], root)["code/far.py"]
    for begun, later in ((now, "0"), ("0", now)):
        assert together({"code/far.py": begun}, [("code/far.py", later)], root) == {"code/far.py": "0"}
    assert together({"code/far.py": now}, [("code/far.py", now)], root) == {"code/far.py": now}
    assert together({"lab.usual": "1"}, [("lab/usual.py", "2")], root) == {"lab.usual": "1"}
    assert together({}, [("gone.py/x.py", "2"), ("gone.py/x.py", "1")], root) == {"gone.py/x.py": "1"}


def test_the_library_of_python_is_foreign_where_it_lies_under_the_repository() -> None:
    library = Path(os.__file__).resolve().parent
    assert "json" in sys.modules
    assert loaded_beyond([], library.parent) == {}


def test_nothing_of_this_process_belongs_to_another_repository(root: Path) -> None:
    assert loaded_beyond(["lab.usual"], root) == {}


def test_a_path_has_a_slash_and_a_file_that_is_gone_has_no_digest(root: Path) -> None:
    write(root, {"top.py": "T = 1\n", "v1.0/odd name.py": "T = 1\n", ".hidden/part.py": "T = 1\n"})
    write(root, {".env/pyvenv.cfg": "", ".env/part.py": "T = 1\n", "lib/__pypackages__/part.py": "T = 1\n"})
    foreign = [".env/part.py", "lib/__pypackages__/part.py"]
    found = by_path(["top.py", root / "v1.0/odd name.py", ".hidden/part.py", "absent.py", "code/a.txt", *foreign], root)
    assert list(found) == ["./top.py", "v1.0/odd name.py", ".hidden/part.py"]
    assert by_path(found, root) == found
