"""Assay: claims are tests. The names here are the public face; each is loaded when it is first asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.diagnostics.cka import cka_interval, gram, linear_cka, shuffled_cka, unbiased_cka
    from assay.diagnostics.retrieval import retrieval
    from assay.errors import AssayError
    from assay.models.hooks import capture
    from assay.models.pretrained import open_pretrained
    from assay.models.scoring import nll, read_rows
    from assay.models.sites import HookPoint, Site
    from assay.runs.experiment import experiment
    from assay.runs.recorder import Run
    from assay.runs.registry import Record, open_record
    from assay.runs.values import Count, count
    from assay.seeds import stream
    from assay.stats.bootstrap import cluster_mean, cluster_ratio
    from assay.stats.estimate import Estimate
    from assay.tasks.parallel import ParallelText

__version__ = "0.1.0"

_MODULES = {
    "AssayError": "errors",
    "Count": "runs.values",
    "Estimate": "stats.estimate",
    "HookPoint": "models.sites",
    "ParallelText": "tasks.parallel",
    "Record": "runs.registry",
    "Run": "runs.recorder",
    "Site": "models.sites",
    "capture": "models.hooks",
    "cka_interval": "diagnostics.cka",
    "cluster_mean": "stats.bootstrap",
    "cluster_ratio": "stats.bootstrap",
    "count": "runs.values",
    "experiment": "runs.experiment",
    "gram": "diagnostics.cka",
    "linear_cka": "diagnostics.cka",
    "nll": "models.scoring",
    "open_pretrained": "models.pretrained",
    "open_record": "runs.registry",
    "read_rows": "models.scoring",
    "retrieval": "diagnostics.retrieval",
    "shuffled_cka": "diagnostics.cka",
    "stream": "seeds",
    "unbiased_cka": "diagnostics.cka",
}
__all__ = [
    "AssayError",
    "Count",
    "Estimate",
    "HookPoint",
    "ParallelText",
    "Record",
    "Run",
    "Site",
    "capture",
    "cka_interval",
    "cluster_mean",
    "cluster_ratio",
    "count",
    "experiment",
    "gram",
    "linear_cka",
    "nll",
    "open_pretrained",
    "open_record",
    "read_rows",
    "retrieval",
    "shuffled_cka",
    "stream",
    "unbiased_cka",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for, so that ``import assay`` costs nothing."""
    if name not in _MODULES:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    return getattr(importlib.import_module(f"assay.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
