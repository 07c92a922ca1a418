"""Runs and their record: write an experiment with these names, read its results with these names."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from assay.runs.experiment import experiment  # at once: the decorator has the name of its module, and has to win

if TYPE_CHECKING:
    from assay.runs.artifacts import ArtifactArray
    from assay.runs.data_files import file_digests
    from assay.runs.recorder import Run
    from assay.runs.registry import Record, open_record
    from assay.runs.results import Results
    from assay.runs.values import Count, count
    from assay.stats.estimate import Estimate

__all__ = [
    "ArtifactArray",
    "Count",
    "Estimate",
    "Record",
    "Results",
    "Run",
    "count",
    "experiment",
    "file_digests",
    "open_record",
]

_MODULES = {
    "ArtifactArray": "assay.runs.artifacts",
    "Count": "assay.runs.values",
    "Estimate": "assay.stats.estimate",
    "Record": "assay.runs.registry",
    "Results": "assay.runs.results",
    "Run": "assay.runs.recorder",
    "count": "assay.runs.values",
    "file_digests": "assay.runs.data_files",
    "open_record": "assay.runs.registry",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that importing the package costs nothing."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)
