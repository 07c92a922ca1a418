"""Options of ``assay run`` on where its cells are computed and what each may use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import click

from assay.runs.engines import LOCAL, Engine, opened
from assay.runs.execution import available_cpus
from assay.runs.jobs import Limits

_ABOVE_ZERO = click.FloatRange(min=0, min_open=True)
_OPTIONS = (
    click.option("--workers", type=click.IntRange(min=1), help="Cells at once (default: the CPUs there are)."),
    click.option(
        "--executor",
        default=LOCAL,
        show_default=True,
        help="What computes the cells: local, dask, slurm-script (writes a job array), or MODULE:FACTORY.",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="For dask: its scheduler, such as tcp://10.0.0.1:8786."),
    click.option(
        "--cell-time-limit",
        type=_ABOVE_ZERO,
        metavar="SECONDS",
        help="End a cell that runs longer, whatever limit the code gives.",
    ),
    click.option(
        "--cell-memory-limit",
        type=_ABOVE_ZERO,
        metavar="MB",
        help="End a cell that uses more, whatever limit the code gives.",
    ),
)


class Computing(NamedTuple):
    """What the options said: the engine's name, its scheduler, how many cells at once, and the limits of each."""

    executor: str
    scheduler: str | None
    workers: int | None
    limits: Limits

    def opened(self) -> AbstractContextManager[Engine]:
        """The engine, ready for cells.

        Raises:
            ConfigError: it is not known or cannot be reached.
        """
        return opened(self.executor, scheduler=self.scheduler, workers=self.workers or available_cpus())

    def words(self) -> list[str]:
        """The options that were given, as they are typed."""
        given = {
            "--executor": None if self.executor == LOCAL else self.executor,
            "--scheduler": self.scheduler,
            "--workers": self.workers,
            "--cell-time-limit": None if self.limits.time_s is None else f"{self.limits.time_s:.12g}",
            "--cell-memory-limit": None if self.limits.memory_mb is None else f"{self.limits.memory_mb:.12g}",
        }
        return [word for option, value in given.items() if value is not None for word in (option, str(value))]

    def unused(self, experiments: Sequence[str], *, n_cells: int) -> list[str]:
        """What to say when options on cells were given and the runs had none: one warning, or nothing."""
        words = self.words()
        if n_cells or not words or not experiments:
            return []
        return [
            f"{' '.join(words)} did nothing: {', '.join(experiments)} ran no cells (run.cells). All was computed in "
            "one process here, without a limit."
        ]

    def __str__(self) -> str:
        """How many cells run at once, and where."""
        if self.executor == LOCAL or self.workers is not None:
            count = self.workers or available_cpus()
            at_once = "1 cell at once" if count == 1 else f"{count} cells at once"
        else:
            at_once = "cells at once: as many as there is room for"
        return at_once if self.executor == LOCAL else f"{at_once}, by {self.executor}"


def computing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options; it gets them as one argument ``computing``."""

    def with_computing(
        *,
        executor: str,
        scheduler: str | None,
        workers: int | None,
        cell_time_limit: float | None,
        cell_memory_limit: float | None,
        **others: Any,
    ) -> Any:
        limits = Limits(cell_time_limit, cell_memory_limit)
        return command(computing=Computing(executor, scheduler, workers, limits), **others)

    with_computing.__doc__ = command.__doc__
    with_computing.__name__ = command.__name__
    with_computing.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    for option in reversed(_OPTIONS):
        with_computing = option(with_computing)
    return with_computing
