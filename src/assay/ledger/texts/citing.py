"""Sentences of a passage and the claims that each of them cites.

A citation is `(M7)`, `(M7, M8)` or `\\claimref{M7}`, anywhere in the sentence or right behind its end. It speaks for
its sentence, and where the claim itself is several sentences for as many before it, up to one that has a citation of
its own. A row of a table is one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from assay.ledger.texts.passage import CLAIMREF, Passage

ID = r"[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*"
_SEPARATOR = r"\s*(?:[,;&/]\s*(?:and\s+)?|and\s+)"
_CITATION = re.compile(rf"\(\s*(?P<ids>{ID}(?:{_SEPARATOR}{ID})*)\s*\)")
_END = re.compile(r"[.!?]+[\"'\u201d\u2019)\]]*(?=\s+(?P<next>[\"'\u201c\u2018(\[]*[^\W_]))")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(\[])(?:[A-Z]|[Ee]\.?g|[Ii]\.?e|al|vs|cf|resp|approx|ca|etc|[Ff]igs?|[Ee]qs?|[Ss]ecs?|[Tt]abs?|[Cc]h"
    r"|[Nn]os?|[Vv]ol|[Pp]p?|[Dd]r|[Ss]t|[Rr]ef|[Aa]pp)$"
)
_FAMILY = re.compile(r"([A-Za-z]+)[0-9]+[a-z]?")


class Cited(NamedTuple):
    """An id in a text and where it stands there."""

    claim: str
    start: int
    end: int


class Sentence(NamedTuple):
    """A stretch of a passage, the claims that speak for it, its citations, and those that no claim answers."""

    start: int
    end: int
    claims: tuple[str, ...]
    cited: tuple[Cited, ...]
    unknown: tuple[Cited, ...]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text begin and end; a citation right behind the end of one belongs to it."""
    spans, start = [], 0
    for found in _END.finditer(text):
        if found.start() < start or found["next"][-1].islower():
            continue
        if found[0][0] == "." and _ABBREVIATED.search(text, start, found.start()):
            continue
        end = found.end()
        while behind := _behind(text, end):
            end = behind
        spans.append((start, end))
        start = end
    return [*spans, (start, len(text))] if text[start:].strip() or not spans else spans


def _behind(text: str, end: int) -> int:
    """The end of a citation that follows a sentence and does not begin the next one; 0 without."""
    found = re.compile(rf"\s*{_CITATION.pattern}\.?").match(text, end)
    following = text[found.end() :].lstrip()[:1] if found else ""
    return found.end() if found and not following.islower() else 0


def sentences(passage: Passage, sizes: Mapping[str, int]) -> list[Sentence]:
    """The sentences of a passage with the claims they cite; `sizes` says of how many sentences each known claim is."""
    prose = passage.prose
    spans = [(0, len(prose))] if passage.row else sentence_spans(prose)
    families = {found[1] for claim in sizes if (found := _FAMILY.fullmatch(claim))}
    own = [_cited(passage, prose, span, sizes, families) for span in spans]
    claims: list[list[str]] = [list(dict.fromkeys(one.claim for one in known)) for known, _ in own]
    for at, (known, _) in enumerate(own):
        for one in known:
            for back in range(at - 1, max(-1, at - sizes[one.claim]), -1):
                if own[back][0]:
                    break
                claims[back] += [one.claim] if one.claim not in claims[back] else []
    return [Sentence(*span, tuple(ids), *found) for span, ids, found in zip(spans, claims, own, strict=True)]


def _cited(
    passage: Passage, prose: str, span: tuple[int, int], known: Collection[str], families: Collection[str]
) -> tuple[tuple[Cited, ...], tuple[Cited, ...]]:
    """Citations of claims in a stretch, and ids there that are cited as claims and are none."""
    found, unknown = [], []
    for one in _CITATION.finditer(prose, *span):
        by_command = passage.asides[one.start("ids")] == CLAIMREF
        for word in re.finditer(ID, one["ids"]):
            if word[0] == "and":
                continue
            cited = Cited(word[0], one.start("ids") + word.start(), one.start("ids") + word.end())
            family = _FAMILY.fullmatch(word[0])
            if word[0] in known:
                found.append(cited)
            elif by_command or (family and family[1] in families):
                unknown.append(cited)
    return tuple(found), tuple(unknown)
