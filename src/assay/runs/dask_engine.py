"""Cells on the workers of a Dask cluster, through ``distributed.Client.get_executor()``."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager

from assay.errors import ConfigError
from assay.runs.engines import Engine, ExecutorEngine

_PATIENCE = 10  # seconds that the scheduler has to answer


@contextmanager
def dask(scheduler: str) -> Iterator[Engine]:
    """An engine on the cluster whose scheduler has this address; Dask moves the cells of a lost worker to another.

    Raises:
        ConfigError: distributed is not installed, or nothing answers at the address.
    """
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise ConfigError(f"--executor dask: {error}. Install the extra: pip install 'assay[dask]'.") from error
    try:
        client = distributed.Client(scheduler, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ConfigError(
            f"--scheduler {scheduler}: no Dask scheduler answers there ({error}). Start one with `dask scheduler`, and "
            "workers with `dask worker`; use the address that it prints."
        ) from error
    with client:
        yield ExecutorEngine(client.get_executor(), name="dask")
