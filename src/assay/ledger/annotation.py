"""Annotations that GitHub shows beside a line: workflow commands on standard output, percent-encoded."""

from __future__ import annotations


def annotation(level: str, *, path: str, line: int, column: int, title: str, message: str) -> str:
    """One workflow command without a line end; ``level`` is error, warning or notice."""
    place = f"file={_property(path)},line={line},col={column}"
    return f"::{level} {place},title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
