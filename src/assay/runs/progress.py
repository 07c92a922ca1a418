"""Progress on standard error: a bar on a terminal, a plain line now and then elsewhere, or nothing."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

Advance = Callable[[int], None]
"""Tell the bar how many of its steps are done by now."""

_SECONDS_BETWEEN_LINES = 15.0


@contextlib.contextmanager
def progress(label: str, total: int, *, quiet: bool = False) -> Iterator[Advance]:
    """Show how far ``label`` is out of ``total`` steps while the block runs."""
    if quiet:
        yield lambda done: None
    elif sys.stderr.isatty():
        with _bar(label, total) as advance:
            yield advance
    else:
        yield _lines(label, total)


@contextlib.contextmanager
def _bar(label: str, total: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


def _lines(label: str, total: int) -> Advance:
    start = last = time.monotonic()

    def advance(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_BETWEEN_LINES or (done == total and total > 0 and now - start >= 1.0):
            last = now
            with contextlib.suppress(OSError):  # nobody reads it any more: no reason to end the run
                sys.stderr.write(f"{label}: {done}/{total} after {now - start:.0f} s\n")
                sys.stderr.flush()

    return advance
