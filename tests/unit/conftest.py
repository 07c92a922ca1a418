"""A study that is preregistered, at three stages, made once; nobody writes into them, tests copy them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.runs.frozen_repository import commit, copy, freeze, lab, run


@pytest.fixture(scope="session")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study ``lab``, not frozen."""
    return lab(tmp_path_factory.mktemp("planned") / "lab")


@pytest.fixture(scope="session")
def frozen(planned: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study ``lab``, frozen and committed."""
    root = copy(planned, tmp_path_factory.mktemp("frozen") / "lab")
    freeze(root)
    commit(root, "freeze")
    return root


@pytest.fixture(scope="session")
def finished(frozen: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study ``lab``, frozen, run and committed, in a linear history of three commits."""
    root = copy(frozen, tmp_path_factory.mktemp("finished") / "lab")
    run(root)
    commit(root, "results")
    return root
