"""Which numbers of a run the claims print, read from the claim files without running them."""

from __future__ import annotations

from pathlib import Path

from assay.errors import ClaimError
from assay.ledger.sentence import SentenceError, Source, read_sentence
from assay.ledger.source import static_claims


def printed_bindings(claims_dir: Path, experiment: str, tier: str) -> dict[str, tuple[str, ...]]:
    """Printed forms of each result key of an experiment's run, in the order of files and lines.

    A claim whose `registered` marker names no tier speaks of any. Pending claims, constants and fields of the
    configuration are left out. ClaimError for a claim file that cannot be read, or a sentence that is wrong.
    """
    found: dict[str, dict[str, None]] = {}
    for source, function, mark in static_claims(claims_dir):
        run = function.run
        if run is None or run.experiment != experiment or run.tier not in (None, tier) or mark.pending:
            continue
        for binding in _bindings(source.path.name, function.line, function.written or ""):
            found.setdefault(binding[0], {})[binding[1]] = None
    return {key: tuple(forms) for key, forms in found.items()}


def _bindings(name: str, line: int, written: str) -> list[tuple[str, str]]:
    try:
        sentence = read_sentence(_without_loose(written))
    except SentenceError as error:
        raise ClaimError(f"{name}:{line}: {error}") from error
    return [(binding.key, binding.text) for binding in sentence.bindings if binding.source is Source.RESULT]


def _without_loose(written: str) -> str:
    """The braces alone: whether a number outside them is a declared name is decided when claims are collected."""
    parts, depth = [], 0
    for character in written:
        depth += (character == "{") - (character == "}")
        parts.append(character if depth > 0 or character == "}" else " ")
    return "".join(parts)
