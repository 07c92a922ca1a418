"""The small repository of the report's tests, made once and copied, and this repository's own study."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.report.study import Study, read_study
from assay.runs import Record
from tests.unit.report.study_repository import make

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that tests copy; nobody writes into it."""
    return make(tmp_path_factory.mktemp("report") / "repository")


@pytest.fixture
def repository(template: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return shutil.copytree(template, tmp_path / "repository")


@pytest.fixture(scope="session")
def study(template: Path) -> Study:
    """The study of the small repository, judged once."""
    return read_study("study", template, Record(template / "experiments"))


@pytest.fixture(scope="session")
def representations() -> Study:
    """The registered runs and claims of this repository."""
    return read_study("merging.representations", ROOT, Record(ROOT / "experiments"))
