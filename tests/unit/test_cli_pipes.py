"""Any command that lists, into `head -1`: a reader who has gone is no error, whatever is still to be said."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from assay.runs.registry import Record
from tests.unit.runs.completed_run import complete
from tests.unit.runs.toy_repository import commit, start, write

CLAIMS = {
    "claims/test_it.py": 'import pytest\n\n\n@pytest.mark.claim("M1")\n@pytest.mark.registered("toy.words")\n'
    'def test_it(evidence):\n    """Wins {wins.target: 14}."""\n',
    "pytest.ini": "[pytest]\n",
    "pyproject.toml": '[project]\nname = "it"\nlicense = "MIT"\n',
    "README.md": "Wins 14 (M1).\n",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two runs, one registered, and a claim."""
    root = write(tmp_path_factory.mktemp("pipes"), {**CLAIMS, "experiments/toy/.keep": ""})
    record = Record(root / "experiments")
    record.register(complete(record, "toy.words"), why="the test")
    complete(record, "toy.words")
    record.rebuild_index()
    commit(root)
    return root


@pytest.mark.parametrize(
    "command",
    [
        *("--help", "runs --help", "runs", "runs --json", "runs show", "runs diff", "runs doctor", "runs stale"),
        *("claims", "claims --list", "claims --list --json", "claims --format badge", "claims text --all"),
        *("freeze --status --json", "data fetch --list", "export codemeta", "export in-toto", "init new --json"),
    ],
)
def test_a_reader_who_is_gone_is_no_error(repository: Path, command: str) -> None:
    words = command.split()
    runs = Record(repository / "experiments").attempts()
    words += {"runs show": runs[:1], "runs diff": runs[:2]}.get(command, ())
    read, written = os.pipe()
    os.close(read)
    process = start(repository, *words, stdout=written)
    os.close(written)
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")


def test_a_claim_that_fails_is_told_by_the_exit_status_though_the_reader_has_gone(
    repository: Path, tmp_path: Path
) -> None:
    root = shutil.copytree(repository, tmp_path / "copy")
    write(root, {"README.md": "Wins 15 (M1).\n"})
    read, written = os.pipe()
    os.close(read)
    process = start(root, "claims", "--claims-table", "table.md", stdout=written)
    os.close(written)
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (1, "")
    assert "**FAILS**" in (root / "table.md").read_text()
