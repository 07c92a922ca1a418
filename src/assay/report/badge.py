"""A badge in SVG: how many claims hold, and how many do not, to be shown beside the name of a project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from assay.ledger.claim import Verdict

_WORDS = {
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.FAILS: ("fails", "fail"),
    Verdict.UNVERIFIED: ("unverified", "unverified"),
    Verdict.STALE: ("stale", "stale"),
    Verdict.PENDING: ("pending", "pending"),
}
_GREEN, _RED, _AMBER, _GREY = "#1a6b32", "#a82019", "#7d5200", "#4b545d"
_LABEL = "claims"
_PADDING = 7
_NARROW, _WIDE = set("fijlrt,1 "), set("mw")


def badge(verdicts: Iterable[str]) -> str:
    """The badge of these verdicts, 20 px high; equal counts give equal bytes."""
    counts = _counts(verdicts)
    said = said_of(counts)
    left, right = _width(_LABEL), _width(said)
    texts = "".join(
        f'<text x="{start + size / 2:g}" y="14" textLength="{size - 2 * _PADDING:g}">{escape(text)}</text>'
        for start, size, text in ((0, left, _LABEL), (left, right, said))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:g}" height="20" role="img" '
        f'aria-label="{_LABEL}: {escape(said)}"><title>{_LABEL}: {escape(said)}</title>'
        f'<clipPath id="r"><rect width="{left + right:g}" height="20" rx="3"/></clipPath>'
        f'<g clip-path="url(#r)"><rect width="{left:g}" height="20" fill="#3d444c"/>'
        f'<rect x="{left:g}" width="{right:g}" height="20" fill="{_colour(counts)}"/></g>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">'
        f"{texts}</g></svg>\n"
    )


def _counts(verdicts: Iterable[str]) -> dict[Verdict, int]:
    found = [Verdict(verdict) for verdict in verdicts]
    return {verdict: found.count(verdict) for verdict in _WORDS}


def said_of(counts: Mapping[Verdict, int]) -> str:
    """Counts in words, as in "11 hold, 1 fails"; what has none is left out."""
    parts = [f"{count} {_WORDS[verdict][count != 1]}" for verdict in _WORDS if (count := counts[verdict])]
    return ", ".join(parts) or "none"


def _colour(counts: Mapping[Verdict, int]) -> str:
    if counts[Verdict.FAILS] or counts[Verdict.UNVERIFIED]:
        return _RED
    if counts[Verdict.STALE]:
        return _AMBER
    return _GREEN if counts[Verdict.HOLDS] else _GREY


def _width(text: str) -> float:
    """Room for a text of 11 px, by the class of each letter; ``textLength`` then fits the letters to it exactly."""
    return 2 * _PADDING + sum(4.2 if letter in _NARROW else 9.8 if letter in _WIDE else 7.0 for letter in text)
