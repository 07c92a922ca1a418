"""Every error that Assay raises on purpose.

A message says what was asked, what came, and what to do, with the values in the text.
"""

from __future__ import annotations

from typing import Literal


class AssayError(Exception):
    """Root of all errors raised on purpose; the command line prints its message without a traceback."""


class ConfigError(AssayError):
    """A name, tier, field or value of a configuration is unknown or of the wrong type."""


class RecordError(AssayError):
    """A run, event, manifest, summary or registration cannot be written, read or trusted."""


class NoRepositoryError(RecordError, ConfigError):
    """Neither the folder nor one above it is a repository: the command was typed in another place."""


EvidenceReason = Literal["absent", "unfinished", "altered", "superseded", "unreadable", "non-finite"]


class EvidenceError(AssayError):
    """A claim asked for evidence that cannot be given; ``reason`` says in one word why."""

    def __init__(self, message: str, *, reason: EvidenceReason) -> None:
        super().__init__(message)
        self.reason: EvidenceReason = reason

    def __reduce__(self) -> tuple[object, ...]:
        return (_evidence_error, (str(self), self.reason))


def _evidence_error(message: str, reason: EvidenceReason) -> EvidenceError:
    return EvidenceError(message, reason=reason)


class ClaimError(AssayError):
    """A claim is written wrongly: no sentence, unbalanced braces, a loose number, an id used twice."""


class DataError(AssayError):
    """A corpus, wheel or file cannot be fetched, has another digest, or is not what a reader expects."""


class ModelError(AssayError):
    """A model folder cannot be opened safely, or its family is not known."""


class ShapeError(AssayError):
    """Arrays do not fit each other or the place they are written to."""


class EstimateError(AssayError):
    """Too little or degenerate data for the estimate that was asked for."""


class ConvergenceError(AssayError):
    """An iteration stopped before its tolerance, or broke down; the message has the error and what to raise."""
