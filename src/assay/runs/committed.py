"""What changed inside a module since a run, told from the source that was committed when it ran."""

from __future__ import annotations

import ast
from pathlib import Path

from assay.errors import RecordError
from assay.runs.definitions import changed_definitions
from assay.runs.manifest import Manifest
from assay.runs.provenance import committed_file
from assay.runs.source import possible_files, shape_digest
from assay.runs.storage import read_bytes


def definitions_since(manifest: Manifest, module: str, repository: Path) -> tuple[str, ...]:
    """Definitions of ``module`` that changed since the run, or one remark that says why they cannot be told."""
    if manifest.commit is None:
        return ("the run has no commit, so the definition cannot be told",)
    try:
        before = _source_then(manifest, module, repository)
    except RecordError as error:
        return (str(error),)
    if before is None:
        return (f"commit {manifest.commit[:7]} is not here, or does not hold what ran",)
    now = next((repository / file for file in possible_files(module) if (repository / file).is_file()), None)
    return () if now is None else tuple(map(str, changed_definitions(before, read_bytes(now))))


def _source_then(manifest: Manifest, module: str, repository: Path) -> bytes | None:
    """The module's file at the commit of the run, if it has the digest that the run recorded."""
    for file in possible_files(module):
        found = committed_file(repository, str(manifest.commit), file)
        if found is not None and _digest_of(found) == manifest.modules[module]:
            return found
    return None


def _digest_of(source: bytes) -> str:
    try:
        return shape_digest(ast.parse(source))
    except (SyntaxError, ValueError):
        return ""
