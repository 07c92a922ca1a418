"""Which files hold claims, without opening them."""

from __future__ import annotations

import os
from pathlib import Path


def claim_files(folder: Path) -> list[Path]:
    """Python files under a folder of claims (or the file itself), sorted, without hidden files and folders."""
    if folder.is_file():
        return [folder]
    found = []
    for here, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if not name.startswith(".")]
        found += [Path(here, name) for name in names if name.endswith(".py") and not name.startswith(".")]
    return sorted(found)
