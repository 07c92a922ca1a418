"""Many trainings at once: processes of one torch thread each, every model the same bytes as when it is trained alone.

Measured on the toy decoder (0.8 M parameters, 128 programs a batch, one thread, processor time): products stacked over
17 models (torch.bmm) give the same bits as one by one and take the same time, torch.compile gains 2 %, lines without
padding save 40 %. More than half of a step is matrix products near the processor's peak in float32, so what helps is
another core and shorter factors (``TrainingConfig.products``): a model is trained by one thread, and as many models at
once as there are cores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import final

import torch
from torch import nn

from assay.errors import ConfigError, ModelError
from assay.models.training import BatchSource, Trained, TrainingConfig, train

__all__ = ["TrainingJob", "train_many"]


@final
@dataclass(frozen=True)
class TrainingJob:
    """One training: the name of its folder, how its model is made at step 0, its data and its configuration.

    ``model`` and ``batches`` travel to another process: ``functools.partial(toy, config, seed=0)``, not a lambda.
    """

    name: str
    model: Callable[[], nn.Module]
    batches: BatchSource
    config: TrainingConfig


def train_many(jobs: Sequence[TrainingJob], *, folder: Path, processes: int = 2) -> dict[str, Trained]:
    """Train all ``jobs``, each in ``folder / name``, ``processes`` at a time; what lies there already is gone on with.

    Which jobs run beside a job, and how many, changes nothing in its file. When a job fails the others are still
    finished, and lie in their folders.

    Raises:
        ConfigError: no process, a name used twice, or one that is no plain folder name.
        ModelError: jobs that failed, by name, from the first of their errors.
    """
    names = [job.name for job in jobs]
    odd = [name for name in names if not name or name in (".", "..") or Path(name).name != name]
    if processes < 1 or len(set(names)) != len(names) or odd:
        raise ConfigError(
            f"train_many: {processes} processes, jobs {names}; at least one process is needed, and names that differ "
            f"and are plain folder names{f' (not {odd})' if odd else ''}."
        )
    spawn = get_context("spawn")
    with ProcessPoolExecutor(max_workers=processes, mp_context=spawn, initializer=_one_thread) as pool:
        futures = {job.name: pool.submit(_run, job, folder / job.name) for job in jobs}
        errors = {name: error for name, future in futures.items() if (error := future.exception()) is not None}
    if errors:
        first, cause = next(iter(errors.items()))
        raise ModelError(
            f"train_many: {len(errors)} of {len(jobs)} trainings failed ({', '.join(errors)}); {first}: "
            f"{type(cause).__name__}: {cause} The others are in {folder}; call again to go on."
        ) from cause
    return {name: future.result() for name, future in futures.items()}


def _one_thread() -> None:
    torch.set_num_threads(1)


def _run(job: TrainingJob, folder: Path) -> Trained:
    return train(job.model(), job.batches, config=job.config, folder=folder)
