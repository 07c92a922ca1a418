"""Every error that Assay raises on purpose.

A message says what was asked, what came, and what to do, with the values in the text.
"""


class AssayError(Exception):
    """Root of all errors raised on purpose; the command line prints its message without a traceback."""


class ConfigError(AssayError):
    """A name, tier, field or value of a configuration is unknown or of the wrong type."""


class RecordError(AssayError):
    """A run, event, manifest, summary or registration cannot be written, read or trusted."""


class EvidenceError(AssayError):
    """A claim asked for evidence that is absent, unfinished, altered, superseded or not finite."""


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
