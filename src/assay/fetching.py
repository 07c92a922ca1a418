"""Fetching foreign files: tools run as subprocesses, digests checked, cache folders installed whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from assay.errors import DataError

__all__ = ["cache_root", "checked", "install_folder", "locked", "need_space", "run_tool", "sha256_file"]

_BLOCK = 1 << 20
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_STDERR_LINES = 12


def cache_root() -> Path:
    """Folder of fetched files: ``$ASSAY_CACHE``, else ``assay`` in the platform's cache folder. Not created here."""
    chosen = os.environ.get("ASSAY_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "assay"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "assay" / "Cache"
    xdg = os.environ.get("XDG_CACHE_HOME")
    return (Path(xdg) if xdg and os.path.isabs(xdg) else Path.home() / ".cache") / "assay"


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, 64 hex digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def checked(path: Path, sha256: str, what: str) -> Path:
    """``path``, if its SHA-256 is the pinned one.

    Errors: DataError if the file is missing or has another digest; the file is left where it is.
    """
    if not path.is_file():
        raise DataError(f"{what}: expected the file {path}, which does not exist. Fetch it again.")
    found = sha256_file(path)
    if found != sha256:
        raise DataError(
            f"{what}: {path.name} ({path.stat().st_size:,} bytes) has SHA-256 {found}, the pinned one is {sha256}. "
            "The download was cut or another file is published under this name: fetch again; "
            "if it stays different, do not use it."
        )
    return path


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Exclusive between processes: the lock file ``<folder>.lock`` next to ``folder``; the second process waits."""
    from filelock import FileLock

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(str(folder.parent / f"{folder.name}.lock"))
        lock.acquire()
    except OSError as error:
        raise DataError(
            f"cache: cannot write below {folder.parent} ({error.strerror or error}). "
            "Set ASSAY_CACHE to a folder that you may write to."
        ) from error
    try:
        yield
    finally:
        lock.release()


def run_tool(
    argv: Sequence[str],
    *,
    what: str,
    advice: str,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Standard output of a command that must succeed.

    ``what`` names the purpose and ``advice`` what to do when it fails; both enter the message.
    ``environment`` is added to the caller's. Messages of the tool are asked for in English (``LC_ALL=C``).

    Errors: DataError if the tool is missing or exits with another status than 0, with the end of what it said.
    """
    try:
        done = subprocess.run(
            list(argv),
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            cwd=cwd,
            env={**os.environ, "LC_ALL": "C", **(environment or {})},
        )
    except FileNotFoundError as error:
        raise DataError(f"{what}: the program {argv[0]!r} is not installed here. {advice}") from error
    except OSError as error:
        raise DataError(f"{what}: {argv[0]!r} cannot be started ({error.strerror or error}). {advice}") from error
    if done.returncode != 0:
        said = "\n".join(f"  {line}" for line in (done.stderr or done.stdout).strip().splitlines()[-_STDERR_LINES:])
        raise DataError(f"{what}: {argv[0]} ended with status {done.returncode}. {advice}\nIts last words:\n{said}")
    return done.stdout


def need_space(folder: Path, n_bytes: int, what: str) -> None:
    """Refuse before the work starts when the disk of ``folder`` has fewer than ``n_bytes`` free bytes.

    Errors: DataError with what is needed and what is free.
    """
    there = folder
    while not there.exists():
        there = there.parent
    free = shutil.disk_usage(there).free
    if free < n_bytes:
        raise DataError(
            f"{what}: needs {n_bytes / 1e6:,.0f} MB below {folder}, {free / 1e6:,.0f} MB are free. "
            "Free some space or set ASSAY_CACHE to a folder on another disk."
        )


def install_folder(build: Callable[[Path], None], final: Path) -> Path:
    """``final``, built if it is not there yet: whole, or not at all.

    ``build`` fills an empty temporary sibling; its files are flushed to disk and the folder is renamed. Two processes
    that ask for the same folder build it once. Whatever ``build`` raises leaves nothing behind.

    Errors: DataError if the disk is full or the file-size limit is reached; otherwise what ``build`` raises.
    """
    if final.is_dir():
        return final
    with locked(final):
        if final.is_dir():
            return final
        scratch = Path(tempfile.mkdtemp(prefix=f".{final.name}.", suffix=".part", dir=final.parent))
        try:
            build(scratch)
            _flush(scratch)
            scratch.chmod(0o755)
            os.rename(scratch, final)
            _flush_entry(final.parent)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            raise DataError(
                f"{final.name}: cannot be written below {final.parent} ({error.strerror}). Nothing was kept. "
                "Free some space, raise the file-size limit, or set ASSAY_CACHE to a folder on another disk."
            ) from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return final


def _flush(folder: Path) -> None:
    for parent, _, names in os.walk(folder):
        for name in names:
            with (Path(parent) / name).open("rb") as file:
                os.fsync(file.fileno())
        _flush_entry(Path(parent))


def _flush_entry(folder: Path) -> None:
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
