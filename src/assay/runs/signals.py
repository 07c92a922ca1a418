"""What the signals that stop a program do to a run: they interrupt it once, and then wait until that is on record."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any


@contextlib.contextmanager
def signals_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt as Ctrl-C does, so that the record says what happened."""
    with _signals(_interrupt, (signal.SIGTERM, signal.SIGHUP)):
        yield


@contextlib.contextmanager
def signals_ignored() -> Iterator[None]:
    """Let no signal to stop end the block, which puts on record how a run ended."""
    with _signals(signal.SIG_IGN, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)):
        yield


@contextlib.contextmanager
def _signals(handler: Any, numbers: tuple[signal.Signals, ...]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # Python lets only the main thread change what a signal does
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _interrupt(number: int, _: FrameType | None) -> None:
    raise KeyboardInterrupt(signal.Signals(number).name)
