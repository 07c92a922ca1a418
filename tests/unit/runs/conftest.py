"""Repositories that the tests of runs begin from, made once; nobody writes into them, tests copy them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.unit.runs.frozen_repository import copy
from tests.unit.runs.outgrown_repository import outgrown


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Registered runs of toy.train and of toy.fuse, which reads it."""
    root = tmp_path_factory.mktemp("outgrown") / "repository"
    outgrown(root)
    return root


@pytest.fixture
def root(template: Path, tmp_path: Path) -> Path:
    """A copy of `template` to change."""
    return shutil.copytree(template, tmp_path / "copy")


@pytest.fixture
def house(frozen: Path, tmp_path: Path) -> Path:
    """A copy of `frozen` to change."""
    return copy(frozen, tmp_path / "lab")
