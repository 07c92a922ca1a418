"""Code of an experiment that runs before its run starts: whatever it raises becomes one error that says where."""

from __future__ import annotations

import importlib
import traceback
from pathlib import Path
from types import TracebackType

from assay.errors import AssayError, ConfigError
from assay.runs.storage import shown

_IMPORTING = (importlib.__file__, "<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_PASSED_ON = (AssayError, KeyboardInterrupt, GeneratorExit, MemoryError)


class Preparing:
    """A block that imports an experiment, or builds its configuration or data hashes; ``what`` is named in the error.

    Errors raised on purpose and interrupts pass; all others, SystemExit too, become ConfigError with type, message and
    line. With ``trace`` the traceback is a note of the error.
    """

    def __init__(self, what: str, *, trace: bool = True) -> None:
        self.what = what
        self.trace = trace

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None or isinstance(error, _PASSED_ON):
            return
        said = f"{type(error).__name__}: {error}".rstrip(": ")
        frame = [one for one in traceback.extract_tb(at) if not one.filename.startswith("<")][-1]
        place = f"{shown(Path(frame.filename))}:{frame.lineno}"
        failure = ConfigError(f"{self.what}: {said} ({place}). Repair it; nothing was run.")
        if self.trace:
            failure.add_note(_trace(error))
        raise failure from error


def _trace(error: BaseException) -> str:
    """The traceback, also of what the error came from, without the frames of the import system."""
    whole = traceback.TracebackException.from_exception(error)
    found: traceback.TracebackException | None = whole
    while found is not None:
        kept = [one for one in found.stack if one.filename not in _IMPORTING]
        found.stack = traceback.StackSummary.from_list(kept)
        found = found.__cause__ or found.__context__
    return "".join(whole.format()).rstrip()
