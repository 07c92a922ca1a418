"""Advisory locks on files: the kernel drops them when their process dies, so no lock is ever left behind."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from assay.errors import RecordError
from assay.runs.storage import canonical_json, parse_json, shown, utc_now

_POLL = 0.01  # seconds between two tries


class HeldError(RecordError):
    """Another process holds the lock; ``owner`` is what it wrote there: its process number and start."""

    def __init__(self, message: str, owner: dict[str, object]) -> None:
        super().__init__(message)
        self.owner = owner


@contextlib.contextmanager
def hold(path: Path, *, patience: float) -> Iterator[None]:
    """Hold the lock of ``path`` while the block runs; after ``patience`` seconds of waiting raise :class:`HeldError`.

    The loser writes nothing. The file stays, empty, when the lock is given back: removing it would let two processes
    hold two files of one name.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as cause:
        raise RecordError(f"lock: {shown(path)} cannot be opened ({cause.strerror}). Allow writing there.") from cause
    try:
        _acquire(descriptor, path, patience)
        _declare(descriptor, path)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def _declare(descriptor: int, path: Path) -> None:
    text = canonical_json({"pid": os.getpid(), "started": utc_now().isoformat(timespec="seconds")})
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)
    except OSError as cause:
        raise RecordError(f"lock: {shown(path)} cannot be written ({cause.strerror}). Free space there.") from cause


def _acquire(descriptor: int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as cause:
            if cause.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                raise RecordError(
                    f"lock: {shown(path)} is on a file system without locks ({cause.strerror}). Put it on another."
                ) from cause
        else:
            return
        if time.monotonic() >= deadline:
            owner = _owner(descriptor)
            raise HeldError(f"{path.stem}: process {owner.get('pid', 'unknown')} holds it.", owner)
        time.sleep(_POLL)


def _owner(descriptor: int) -> dict[str, object]:
    with contextlib.suppress(RecordError, OSError):
        owner = parse_json(os.pread(descriptor, 4096, 0), "lock")
        if isinstance(owner, dict):
            return owner
    return {}


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock of ``path``; creates and changes nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError as cause:
        raise RecordError(f"lock: {shown(path)} cannot be opened ({cause.strerror}). Allow reading it.") from cause
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)
