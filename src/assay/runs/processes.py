"""An executor that gives each call a Python process of its own, so that one that dies takes no other with it.

Each process has one thread for numerical work: on small models, several threads a process slow each other down.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from assay.errors import RecordError

P = ParamSpec("P")
T = TypeVar("T")

THREADS_PER_CELL = 1
"""Threads for numerical work in each process."""

_PARTING = 10.0  # seconds that a process has to end after it told how its call ended
_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMEXPR")
_ONE_THREAD = {f"{library}_NUM_THREADS": str(THREADS_PER_CELL) for library in _LIBRARIES} | {
    "VECLIB_MAXIMUM_THREADS": str(THREADS_PER_CELL),
    "TOKENIZERS_PARALLELISM": "false",
}


class Outcome(NamedTuple):
    """What a process sends back: the value, or the exception as text."""

    value: Any
    error: str
    trace: str


class ProcessPerCell(Executor):
    """Runs each submitted call in a fresh spawned process, at most ``workers`` at once.

    The future of a call that raised, or whose process died, raises ``RecordError`` with the exception as text, and its
    traceback as a note. Interrupts from the keyboard are left to the parent; a child whose parent is gone exits.
    """

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="cell")
        self._context = multiprocessing.get_context("spawn")
        self._alive: set[BaseProcess] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue ``fn(*args, **kwargs)``; the function and its arguments are pickled for the new process."""
        return self._threads.submit(self._run, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001 - the base class's
        """As ``Executor.shutdown``."""
        self._threads.shutdown(wait, cancel_futures=cancel_futures)

    def kill(self) -> None:
        """Start nothing more and end the processes that run."""
        with self._lock:
            self._stopped = True
            for process in self._alive:
                process.kill()
        self.shutdown(cancel_futures=True)

    def _run(self, fn: Callable[..., T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> T:
        receiver, sender = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_child, args=(sender, fn, args, kwargs))
        with self._lock, _one_thread(), _interrupts_held():
            if self._stopped:
                raise RecordError("not started: the run was stopped")
            process.start()
            self._alive.add(process)
        sender.close()
        try:
            outcome: Outcome | None = receiver.recv()
        except EOFError:
            outcome = None
        process.join(_PARTING)
        if process.is_alive():  # a thread that the call left behind; what the call returned is here already
            process.kill()
            process.join()
        receiver.close()
        with self._lock:
            self._alive.discard(process)
        if outcome is None:
            raise RecordError(f"its process died without a word ({_ending(process.exitcode)})")
        if outcome.error:
            failure = RecordError(outcome.error)
            failure.add_note(outcome.trace)
            raise failure
        value: T = outcome.value
        return value


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        names = {member.value: member.name for member in signal.Signals}
        name = names.get(-code, f"signal {-code}")
        return f"ended by {name}" + (": often too little memory" if name == "SIGKILL" else "")
    return f"exit code {code}"


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let processes started inside see one thread; numerical libraries read these once, when they are loaded."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C from processes started inside until they say for themselves that the parent deals with it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Report:
    """Sends how the block ended, by value or by exception, and ends the exception there: it is the call's outcome."""

    def __init__(self, sender: Connection) -> None:
        self.sender = sender
        self.value: Any = None

    def __enter__(self) -> _Report:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        if error is None:
            self.sender.send(Outcome(self.value, "", ""))
        else:
            trace = "".join(traceback.format_exception(error))
            self.sender.send(Outcome(None, f"{type(error).__name__}: {error}".rstrip(": "), trace))
        self.sender.close()
        return True


def _child(sender: Connection, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(THREADS_PER_CELL)
    with _Report(sender) as report:
        report.value = fn(*args, **kwargs)


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
