"""Words that choose between a few ways: checked when the code runs as well as by types."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from assay.errors import AssayError, EstimateError


def checked_choice(
    word: str, choices: object, *, what: str, error: Callable[[str], AssayError] = EstimateError
) -> None:
    """Refuse a word that is none of ``choices``, a ``Literal``. ``what`` begins the message.

    Raises:
        EstimateError: with the word and all choices; or the ``error`` given.
    """
    words = get_args(choices)
    if word not in words:
        raise error(f"{what} {word!r}; there are {', '.join(map(repr, words))}.")
