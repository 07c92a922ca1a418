"""The repository whose claims are checked: what paths, texts and the record are relative to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def repository_of(config: pytest.Config) -> Path:
    """Root folder of pytest; where no file of settings says which that is, the nearest folder with `experiments/`.

    Without such a file the root is where pytest was started or pointed at, such as claims/. The folders above that are
    looked at as far as the top of the git repository.
    """
    if config.inipath is not None or (config.rootpath / "experiments").is_dir():
        return config.rootpath
    for start in (config.rootpath, *places_of(config)):
        for folder in (start, *start.parents):
            if (folder / "experiments").is_dir():
                return folder
            if (folder / ".git").exists():
                break
    return config.rootpath


def places_of(config: pytest.Config) -> list[Path]:
    """Files and folders that pytest was pointed at, without the names of tests in them."""
    return [config.invocation_params.dir / place.partition("::")[0] for place in config.args]
