"""Numbers of prose that are no results, by rule: what kind of number, and the words that show it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_YEAR = r"(?:19|20)[0-9]{2}[a-z]?"
_ORDER = r"[A-Z]?[0-9]+(?:\.[0-9]+)*[a-z]?"
_PARTS = (
    r"(?:[Ss]ections?|[Ss]ecs?\.|[Cc]hapters?|[Cc]h\.|[Aa]ppendi(?:x|ces)|[Ff]ig(?:ure|ures|s?\.)|[Tt]ables?|[Tt]abs?\."
    r"|[Ee]q(?:uation|uations|s?\.)|[Aa]lgorithms?|[Ll]istings?|[Tt]heorems?|[Ll]emmas?|[Pp]ropositions?|[Dd]efinitions?"
    r"|[Cc]orollar(?:y|ies)|[Ff]ootnotes?|[Pp]ages?|[Pp]p?\.|[Ss]teps?|[Dd]ecisions?|[Ii]ssues?|[Vv]ol\.|[Nn]o\.)"
)
_PROGRAMS = "(?:Python|PyTorch|CUDA|cuDNN|TensorFlow|JAX|NumPy|SciPy|Transformers|Ubuntu|Debian|macOS|GCC)"

RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("link", re.compile(r"(?:https?|ftp)://\S+|\bwww\.\S+|\b(?:arXiv|arxiv|doi|DOI|ISBN|PMID):?\s?[0-9][\w./()-]*")),
    (
        "date",
        re.compile(
            rf"\b{_YEAR}-[0-9]{{2}}(?:-[0-9]{{2}})?(?:T[0-9:.]+(?:Z|[-+][0-9:]+)?)?(?!\w)"
            rf"|\b(?:[0-9]{{1,2}}(?:st|nd|rd|th)?\s)?{_MONTH}(?:\s[0-9]{{1,2}}(?:st|nd|rd|th)?(?=,|\s{_YEAR}|[.;:)]|\s*$))?"
            rf"(?:,?\s{_YEAR})?\b(?![.,][0-9])"
            rf"|\b(?:[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}})?)\b"
            rf"|\b(?:[Ii]n|[Ss]ince|[Uu]ntil|[Dd]uring|[Bb]y)\s{_YEAR}(?=[.,;:)]|\s*$)"
            rf"|\b(?:[Bb]etween|[Ff]rom|[Ii]n)\s{_YEAR}\s(?:and|to|or)\s{_YEAR}\b"
            rf"|\b[0-9]{{1,2}}/[0-9]{{1,2}}/{_YEAR}\b|\b(?:19|20)[0-9]0s\b|\bQ[1-4]\s{_YEAR}\b"
            rf"|(?:\u00a9|\([Cc]\)|Copyright)\s{_YEAR}"
        ),
    ),
    (
        "citation",
        re.compile(
            rf"(?:\b[A-Z]\w+|\bal\.)\s\(?{_YEAR}(?:[;,]\s?{_YEAR})*\)"
            rf"|(?:\b[A-Z]\w+|\bal\.),\s{_YEAR}(?=[);,])|\[[0-9]+\](?!\()|\[(?:[0-9]+,\s?){{2,}}[0-9]+\]"
            rf"|\[[0-9]+(?:[,\u2013-]\s?[0-9]+)*[\u2013-][0-9]+\]"
        ),
    ),
    (
        "version",
        re.compile(
            rf"\b[Vv](?:ersions?\s|\.?)[0-9]+(?:\.[0-9]+)*|\b[0-9]+(?:\.[0-9]+){{2,}}\w*|\b{_PROGRAMS}\s[0-9]+(?:\.[0-9]+)*"
            r"|(?:(?<=[\w\]])|(?<=[\w\]]\s))[=~]=\s?[0-9][0-9.]*"
        ),
    ),
    (
        "reference",
        re.compile(
            rf"\b{_PARTS}[\s~]*\(?{_ORDER}\)?(?:(?:\s?(?:,|and|to|&|-|\u2013)\s?)+\(?{_ORDER}(?![.,]?[0-9%/])\)?)*"
            rf"|\u00a7+\s?{_ORDER}|(?<!\w)#[0-9]+\b"
        ),
    ),
    ("ordinal", re.compile(r"\b[0-9]*(?:1st|2nd|3rd|[0-9]th)\b")),
    ("digest", re.compile(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{7,64}\b")),
)
"""Reason and pattern; what a pattern covers is set aside unless a claim that the sentence cites prints it."""


def asides(text: str, masked: str = "", *, names: Sequence[str] = (), constants: Sequence[str] = ()) -> list[str]:
    """For each character of prose the reason why it prints no result, by declared names and constants and the rules.

    Empty where there is none. The rules look at `masked`, the text without what its reader sets aside.
    """
    found = named(text, names)
    _cover(found, _phrases(text, constants), "constant")
    for why, pattern in RULES:
        _cover(found, (one.span() for one in pattern.finditer(masked or text)), why)
    return found


def named(text: str, names: Sequence[str]) -> list[str]:
    """For each character "name" where it is part of a declared name, empty elsewhere."""
    found = [""] * len(text)
    _cover(found, _phrases(text, names), "name")
    return found


def reason(found: Sequence[str], start: int, end: int) -> str:
    """Why a value from `start` to `end` is set aside; empty when it is not, or only in part."""
    return found[start] if all(found[start:end]) else ""


def _cover(found: list[str], spans: Iterable[tuple[int, int]], why: str) -> None:
    for start, end in spans:
        found[start:end] = [before or why for before in found[start:end]]


def _phrases(text: str, phrases: Sequence[str]) -> Iterator[tuple[int, int]]:
    for phrase in phrases:
        pattern = r"\s+".join(re.escape(word) for word in phrase.split())
        for one in re.finditer(rf"(?<!\w){pattern}(?!\w)", text):
            yield one.span()
