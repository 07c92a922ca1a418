"""Bytes that survive: canonical JSON, digests, and files that are either whole or absent.

A file is written to a temporary name in its own folder, synced, renamed, and the folder is synced. The writer holds an
advisory lock on the temporary file, so that :func:`sweep` can tell the leftovers of a dead process from the work of a
live one without knowing either's process number.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import math
import os
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.errors import NoRepositoryError, RecordError

TEMPORARY_PREFIX = ".assay-"
TEMPORARY_SUFFIX = ".tmp"
_MOST_BITS = 4096
NON_FINITE = ("NaN", "Infinity", "-Infinity")


def utc_now() -> datetime:
    """The present moment, in UTC and with its offset."""
    return datetime.now(UTC)


def find_repository(start: Path | None = None) -> Path:
    """First folder at or above ``start`` (default: the current) that holds ``experiments/`` or ``pyproject.toml``.

    Raises:
        NoRepositoryError: there is none.
    """
    here = (Path.cwd() if start is None else start).resolve()
    for folder in (here, *here.parents):
        if (folder / "experiments").is_dir() or (folder / "pyproject.toml").is_file():
            return folder
    raise NoRepositoryError(
        f"repository: no folder above {here.name!r} holds experiments/ or pyproject.toml, and neither does it. "
        "Change into the repository, or begin one here: assay init."
    )


def shown(path: Path) -> str:
    """``path`` as an error prints it: relative to the repository or current folder, else `.../` and its last parts."""
    whole = Path(os.path.abspath(path))
    with contextlib.suppress(RecordError):
        return whole.relative_to(find_repository(whole.parent)).as_posix()
    with contextlib.suppress(ValueError):
        return whole.relative_to(Path.cwd()).as_posix()
    return "/".join(("...", *whole.parts[1:][-3:]))


def plain(value: object, path: str = "value") -> Any:
    """``value`` as JSON holds it: non-finite floats become strings; an unknown type is refused by the path to it."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(str.__str__(value), path)
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise RecordError(f"JSON: {path} is a whole number of {value.bit_length()} bits; at most {_MOST_BITS} fit.")
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _non_finite(value)
    if isinstance(value, Mapping):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            raise RecordError(f"JSON: {path} has the key {wrong[0]!r}; keys are strings. Write str(key).")
        return {_text(str.__str__(key), path): plain(entry, f"{path}.{key}") for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry, f"{path}[{index}]") for index, entry in enumerate(value)]
    raise RecordError(
        f"JSON: {path} is a {type(value).__name__}; known are None, bool, int, float, str, lists and dictionaries of "
        "them. Convert it first (a NumPy scalar by .item(), an array by .tolist(), a dataclass by its fields)."
    )


def _text(text: str, path: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RecordError(f"JSON: {path} is {text!r}, which is not valid Unicode. Repair the text first.") from None
    return text


def _non_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def canonical_json(value: object) -> str:
    """The one JSON text of ``value``: sorted keys, no spaces, shortest floats, non-finite values as strings."""
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def readable_json(value: object) -> bytes:
    """The same values as :func:`canonical_json`, indented and ended by a newline, for files that people read."""
    text = json.dumps(plain(value), sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode() + b"\n"


def parse_json(data: bytes, name: str) -> Any:
    """Value of strict JSON in UTF-8; bare NaN, a key given twice, or broken text raise RecordError naming ``name``."""
    try:
        return json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as cause:
        raise RecordError(
            f"{name} is unreadable: {cause}. Restore it from version control (git checkout -- {name}) or run again."
        ) from cause


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is given twice")
    return table


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def digest(value: object) -> str:
    """SHA-256 (hex) of bytes as they are, of everything else over its canonical JSON."""
    data = value if isinstance(value, bytes) else canonical_json(value).encode()
    return hashlib.sha256(data).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 (hex) of the bytes of a file, read in blocks."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as cause:
        raise RecordError(f"digest: {shown(path)} cannot be read ({cause.strerror}).") from cause


def read_bytes(path: Path) -> bytes:
    """All bytes of a file; RecordError with its name when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as cause:
        raise RecordError(f"{shown(path)} cannot be read ({cause.strerror}).") from cause


def write_durable(path: Path, data: bytes, *, exclusive: bool = False) -> None:
    """Put ``data`` under ``path`` whole or not at all, on the disk before returning.

    Any failure (full disk, file size limit, missing rights) removes the temporary file, leaves an earlier version as
    it was, and raises RecordError. With ``exclusive`` an existing file is kept: FileExistsError.
    """
    path = Path(path)
    try:
        _make_folder(path.parent)
        descriptor, temporary = _open_temporary(path.parent)
        try:
            _write_all(descriptor, data)
            os.fsync(descriptor)
            _publish(temporary, path, exclusive=exclusive)
        finally:
            temporary.unlink(missing_ok=True)
            os.close(descriptor)
        sync_folder(path.parent)
    except FileExistsError:
        raise
    except OSError as cause:
        raise RecordError(_failure(path, len(data), cause)) from cause


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, durably; RecordError when that cannot be done."""
    try:
        _make_folder(folder)
    except OSError as cause:
        raise RecordError(_failure(folder, 0, cause)) from cause


def _failure(path: Path, size: int, cause: OSError) -> str:
    advice = {
        errno.ENOSPC: "Free space on that disk and start again",
        errno.EDQUOT: "Raise the quota or free space and start again",
        errno.EFBIG: "Raise the file size limit (ulimit -f) and start again",
        errno.EACCES: "Allow writing there and start again",
        errno.EROFS: "Choose a record on a file system that can be written (--record DIR)",
    }.get(cause.errno or 0, "Repair the cause and start again")
    return (
        f"write: {shown(path)} ({size} bytes) could not be written: {cause.strerror or cause}. "
        f"Nothing was changed; an earlier version is intact. {advice}."
    )


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    missing = [entry for entry in (folder, *folder.parents) if not entry.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as cause:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from cause
    for entry in missing:
        sync_folder(entry.parent)


def _open_temporary(folder: Path) -> tuple[int, Path]:
    while True:
        temporary = folder / f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        with contextlib.suppress(OSError):  # a file system without locks: sweep cannot lock either, and then keeps it
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, temporary
        os.close(descriptor)  # swept between its creation and its lock


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _publish(temporary: Path, path: Path, *, exclusive: bool) -> None:
    if not exclusive:
        temporary.replace(path)
        return
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError as cause:
        if cause.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        if path.exists():  # a file system without hard links
            raise FileExistsError(errno.EEXIST, "exists", str(path)) from cause
        temporary.replace(path)


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable; syncing a file alone does not."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def temporaries(folder: Path) -> list[Path]:
    """Temporary files of writers, dead or alive, anywhere under ``folder``."""
    return sorted(folder.rglob(f"{TEMPORARY_PREFIX}*{TEMPORARY_SUFFIX}")) if folder.is_dir() else []


def sweep(folder: Path) -> list[Path]:
    """Remove the temporary files of dead processes under ``folder`` and name them; a live writer's are left alone."""
    return [path for path in temporaries(folder) if _abandoned(path, remove=True)]


def abandoned(folder: Path) -> list[Path]:
    """What :func:`sweep` would remove; changes nothing."""
    return [path for path in temporaries(folder) if _abandoned(path, remove=False)]


def _abandoned(path: Path, *, remove: bool) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False  # finished or swept meanwhile
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(descriptor).st_nlink:
            return False
        if remove:
            path.unlink(missing_ok=True)
    except OSError:
        return False  # its writer lives
    else:
        return True
    finally:
        os.close(descriptor)
