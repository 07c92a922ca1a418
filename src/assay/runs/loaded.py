"""Project files that this process loaded and no import statement leads to: over sys.path, by a computed name."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.runs.experiment import Experiment
from assay.runs.source import by_path, file_of, is_project_file, module_digests


def loaded_beyond(modules: Iterable[str], repository: Path) -> dict[str, str]:
    """SHA-256 by path, such as ``code/near.py``, of each loaded project file that does not belong to ``modules``.

    What import statements of other experiments in this process lead to is left out; what only they loaded otherwise is
    not, as nobody can tell who uses it. The script that the process began with does not count.

    Raises:
        RecordError: a file was changed since it was loaded and cannot be read any more.
    """
    root = repository.resolve()
    known = {*modules, *(name for one in _experiments() if file_of(one, root) for name in module_digests(one, root))}
    files = {file.resolve() for file in (file_of(name, root) for name in known) if file is not None}
    return by_path(sorted({path for path in _loaded(root) if path not in files}), root)


def _loaded(root: Path) -> Iterator[Path]:
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name in ("__main__", "__mp_main__") or not isinstance(file, str) or not file.endswith(".py"):
            continue
        path = Path(os.path.realpath(file))
        if path.is_relative_to(root) and is_project_file(path, name, root):
            yield path


def _experiments() -> Iterator[str]:
    """Modules of this process that are experiments."""
    for name, module in list(sys.modules.items()):
        if name.startswith("experiments."):
            declared = (value.name for value in vars(module).values() if isinstance(value, Experiment))
            if name.removeprefix("experiments.") in declared:
                yield name
