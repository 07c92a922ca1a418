"""Project files that a process loaded and no import statement leads to: over sys.path, by a computed name."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from assay.runs.experiment import Experiment
from assay.runs.source import by_path, computes_imports, file_of, is_project_file, module_digests

_INSTALLED = tuple({f"{sysconfig.get_path(name)}{os.sep}" for name in ("stdlib", "platstdlib", "purelib", "platlib")})
"""Where Python and its packages lie: in an environment of conda that is under the repository, too."""


def loaded_beyond(modules: Iterable[str], repository: Path) -> dict[str, str]:
    """SHA-256 by path, such as ``code/near.py``, of each project file loaded here that does not belong to ``modules``.

    What import statements of other experiments in this process lead to is left out, unless code of this one computes
    names of modules: then nobody can tell whether it uses them. The script that the process began with does not count.

    Raises:
        RecordError: a file was changed since it was loaded and cannot be read any more.
    """
    root, known = repository.resolve(), list(modules)
    beyond = dict(_beyond(known, root))
    if not beyond:
        return {}
    others = {name for one in _experiments() if file_of(one, root) for name in module_digests(one, root)}
    apart = by_path((file for name, file in beyond.items() if name not in others), root)
    return by_path(beyond.values(), root) if computes_imports([*known, *apart], root) else apart


def loaded_in_cell(modules: Iterable[str], repository: Path) -> dict[str, str]:
    """The same of the process of a cell, which has loaded nothing but what the cell uses."""
    root = repository.resolve()
    return by_path(dict(_beyond(modules, root)).values(), root)


def together(begun: Mapping[str, str], loaded: Iterable[tuple[str, str]], repository: Path) -> dict[str, str]:
    """Digests of what a run knew when it began, and of files by path that were loaded since, or by its cells.

    Of a file that was changed between two loads it is one that the file no longer has, so that the run counts as
    outgrown.
    """
    reached = {file_of(name, repository) for name in begun if "/" not in name}
    found = {name: {one} for name, one in begun.items()}
    for name, one in loaded:
        if file_of(name, repository) not in reached:
            found.setdefault(name, set()).add(one)
    now = by_path((name for name, digests in found.items() if len(digests) > 1), repository)
    return {name: min(digests - {now.get(name)} or digests) for name, digests in sorted(found.items())}


def _beyond(modules: Iterable[str], root: Path) -> Iterator[tuple[str, Path]]:
    """Name and file of each loaded module under ``root`` whose file is that of none of ``modules``."""
    known = {file.resolve() for file in (file_of(name, root) for name in modules) if file is not None}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name in ("__main__", "__mp_main__") or not isinstance(file, str) or not file.endswith(".py"):
            continue
        if file.startswith(_INSTALLED):
            continue
        path = Path(os.path.realpath(file))
        if path.is_relative_to(root) and path not in known and is_project_file(path, name, root):
            yield name, path


def _experiments() -> Iterator[str]:
    """Modules of this process that are experiments."""
    for name, module in list(sys.modules.items()):
        if name.startswith("experiments."):
            declared = (value.name for value in vars(module).values() if isinstance(value, Experiment))
            if name.removeprefix("experiments.") in declared:
                yield name
