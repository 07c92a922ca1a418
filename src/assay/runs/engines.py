"""What computes the cells of a run: an engine is given jobs and tells, one by one, how each ended.

Every cell runs in a process of its own, under its limits, whatever engine drives it: an executor only decides where and
when. The default is as many local processes as there are CPUs.
"""

from __future__ import annotations

import importlib
import itertools
import queue
import secrets
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, final

from assay.errors import ConfigError, RecordError
from assay.runs.jobs import Job
from assay.runs.processes import compute_in_own_process
from assay.runs.storage import shown

LOCAL = "local"
"""Name of the engine that nobody has to ask for."""

_ENDING = 5.0  # seconds that running cells of a stopped run have to end


class Ended(NamedTuple):
    """A job that is over; ``error`` is ``None`` when its value is on disk."""

    job: Job
    error: BaseException | None


class Engine(Protocol):
    """What a run's cells are computed by. To bring a new one is to write one method."""

    name: str

    def compute(self, jobs: Sequence[Job], *, at_once: int | None) -> Generator[Ended, None, None]:
        """Compute each job, at most ``at_once`` at a time, and yield it when it is over; closing the generator stops.

        Raises:
            HandedOverError: the jobs are computed after this process has ended.
        """
        ...


class HandedOverError(RecordError):
    """The cells were handed to a batch system: this attempt ends here, and the next one collects their values.

    ``script`` is what to submit; None for a run that reads another one whose cells were handed over.
    """

    def __init__(self, message: str, *, script: str | None) -> None:
        super().__init__(message)
        self.script = script


@final
class ExecutorEngine:
    """Cells driven by any ``concurrent.futures.Executor``: it has to take a function that it can import, and text.

    ``elsewhere`` says that its workers may be other machines: each cell then checks that it has the run's versions.
    """

    def __init__(self, executor: Executor, *, name: str, elsewhere: bool = True) -> None:
        self.executor = executor
        self.name = name
        self.elsewhere = elsewhere

    def compute(self, jobs: Sequence[Job], *, at_once: int | None) -> Generator[Ended, None, None]:
        """As :class:`Engine` says. Cells that run when the generator is closed are ended, also on other machines."""
        ended: queue.SimpleQueue[Future[None]] = queue.SimpleQueue()
        running: dict[Future[None], Job] = {}
        waiting = iter(jobs)
        token = _token(jobs)
        try:
            while True:
                free = None if at_once is None else at_once - len(running)
                for job in itertools.islice(waiting, free):
                    future = self.executor.submit(compute_in_own_process, self._sent(job, token).to_json())
                    running[future] = job
                    future.add_done_callback(ended.put)
                if not running:
                    return
                future = ended.get()
                yield Ended(running.pop(future), _error(future))
        finally:
            with suppress(OSError):
                token.unlink(missing_ok=True)
            for future in running:
                future.cancel()
            wait(running, timeout=_ENDING)

    def _sent(self, job: Job, token: Path) -> Job:
        job = job._replace(wanted=str(token))
        return job if self.elsewhere else job._replace(python=None, packages=None)


def opened(name: str, *, scheduler: str | None, workers: int) -> AbstractContextManager[Engine]:
    """The engine called ``name``: ``local``, ``dask``, ``slurm-script``, or ``MODULE:FACTORY`` that makes an executor.

    Raises:
        ConfigError: no such engine, what it needs is not installed, or the scheduler is missing, not used or silent.
    """
    if name == "dask" and scheduler is None:
        raise ConfigError(
            "--executor dask needs --scheduler ADDRESS, such as tcp://10.0.0.1:8786 (`dask scheduler` prints it)."
        )
    if name != "dask" and scheduler is not None:
        raise ConfigError(f"--scheduler {scheduler} is the address of a Dask scheduler; say --executor dask with it.")
    if scheduler is not None:
        from assay.runs.dask_engine import dask

        return dask(scheduler)
    if name == "slurm-script":
        from assay.runs.slurm import SlurmScript

        return nullcontext(SlurmScript())
    return local(workers) if name == LOCAL else _executing(_made(name), name, elsewhere=True)


def local(workers: int) -> AbstractContextManager[Engine]:
    """Processes on this machine, at most ``workers`` at once."""
    return _executing(ThreadPoolExecutor(workers, thread_name_prefix="cell"), LOCAL, elsewhere=False)


@contextmanager
def _executing(executor: Executor, name: str, *, elsewhere: bool) -> Iterator[Engine]:
    with executor:
        yield ExecutorEngine(executor, name=name, elsewhere=elsewhere)


def _made(name: str) -> Executor:
    module, colon, factory = name.partition(":")
    if not colon:
        raise ConfigError(
            f"--executor {name}: known are local, dask, slurm-script, and MODULE:FACTORY for any other executor, such "
            "as mpi4py.futures:MPIPoolExecutor."
        )
    try:
        make: Any = getattr(importlib.import_module(module), factory)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"--executor {name}: {error}. Install what it needs, or correct the name.") from error
    executor = make()
    if not isinstance(executor, Executor):
        raise ConfigError(f"--executor {name}: it made {executor!r}; wanted a concurrent.futures.Executor.")
    return executor


def _token(jobs: Sequence[Job]) -> Path:
    """A new file that is there while the run wants these cells: removing it ends them wherever they run."""
    token = Path(jobs[0].value).with_name(f"wanted-{secrets.token_hex(4)}")
    try:
        token.touch()
    except OSError as cause:
        raise RecordError(f"cells: {shown(token)} cannot be written ({cause.strerror}). Make room there.") from cause
    return token


def _error(future: Future[None]) -> BaseException | None:
    return RecordError("the executor gave it up") if future.cancelled() else future.exception()
