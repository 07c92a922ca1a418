"""Rewriting the numbers of a claim in the sentences that cite it, in the spelling of each text, and nothing else.

Where a sentence has the claim's own words its numbers become the claim's, one by one. In other words, a number is
rewritten where the claim printed it before; one that could stand for several numbers of the claim is left and named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from assay.ledger.judge import Judgement
from assay.ledger.numeral import Numeral
from assay.ledger.sentence import read_sentence
from assay.ledger.texts.citing import Sentence, sentences
from assay.ledger.texts.coverage import MARKDOWN, Reader
from assay.ledger.texts.manuscript import Manuscript, Part
from assay.ledger.texts.passage import Passage
from assay.ledger.texts.respell import Edit, respell
from assay.ledger.texts.values import Atom, Value


class Accepted(NamedTuple):
    """The files of a text that change, each with what it says then, and what has to be done by hand."""

    after: tuple[tuple[Part, str], ...]
    by_hand: tuple[str, ...]


class _Wanted(NamedTuple):
    """A number of a text and what it should print; None where that cannot be told."""

    value: Value
    numeral: int
    new: Numeral | None


@dataclass(frozen=True)
class _Numbers:
    """The values that a claim printed and prints, paired."""

    old: tuple[Value, ...]
    new: tuple[Value, ...]

    def pairs(self) -> Iterator[tuple[Atom, Atom, Value, tuple[int, ...]]]:
        """Atoms before and after, the value after, and the places of the numbers in it; then single numbers."""
        both = list(zip(self.old, self.new, strict=True))
        for before, after in both:
            for (one, _), (other, places) in zip(before.atoms, after.atoms, strict=True):
                yield one, other, after, places
        for before, after in both:
            whole = {places for _, places in before.atoms}
            for (one, at), (other, _) in zip(_singles(before), _singles(after), strict=True):
                if (at,) not in whole:
                    yield one, other, after, (at,)


def _singles(value: Value) -> list[tuple[Atom, int]]:
    return [(part, places[0]) for part, places in value.singles]


def new_display(judgement: Judgement, *, names: Sequence[str] = ()) -> str:
    """The sentence of a claim as displayed once its numbers are those of the registered run."""
    sentence = judgement.claim.sentence
    written = sentence.written
    for at in sorted(judgement.corrections, reverse=True):
        binding = sentence.bindings[at]
        written = written[: binding.start] + judgement.corrections[at] + written[binding.end :]
    return read_sentence(written, names=names).display


def accepted_text(reader: Reader, manuscript: Manuscript, claim: str, display: str) -> Accepted:
    """A text with each sentence that cites `claim` printing the numbers of `display`.

    `reader` knows the sentence as it was. Every character that is no digit, sign or separator of such a number stays.
    """
    numbers = _Numbers(reader.printed(claim), tuple(reader.values(display)))
    edits: list[Edit] = []
    by_hand: list[str] = []
    if [len(one.atoms) for one in numbers.old] != [len(one.atoms) for one in numbers.new]:
        return Accepted((), (f"{manuscript.path}: the forms of {claim}'s numbers changed; edit it by hand",))
    source = manuscript.sources.text
    for passage in manuscript.passages:
        found = sentences(passage, reader.sizes)
        for at, sentence in enumerate(found):
            if not any(cited.claim == claim for cited in sentence.cited):
                continue
            stretch = _stretch(passage.text, found, at, claim)
            within = [one.claim for one in sentence.cited if stretch[0] <= one.start < stretch[1]]
            others = [one for one in within if one != claim]
            for wanted in _wanted(reader, passage, stretch, numbers, display, others):
                edit = _edit(source, passage, wanted, manuscript)
                if edit is None:
                    by_hand.append(_by_hand(passage, wanted, manuscript, claim))
                else:
                    edits += edit
    return Accepted(tuple(_changed(manuscript, set(edits))), tuple(dict.fromkeys(by_hand)))


def _changed(manuscript: Manuscript, edits: set[Edit]) -> Iterator[tuple[Part, str]]:
    for part in manuscript.sources.parts:
        after, end = part.text, part.start + len(part.text)
        for one in sorted((edit for edit in edits if part.start <= edit.start <= end), reverse=True):
            after = after[: one.start - part.start] + one.text + after[one.end - part.start :]
        if after != part.text:
            yield part, after


def _by_hand(passage: Passage, wanted: _Wanted, manuscript: Manuscript, claim: str) -> str:
    """What has to be done by hand for a number that is not rewritten, and why."""
    start = wanted.value.numerals[wanted.numeral][0] if wanted.value.numerals else wanted.value.start
    span = passage.spans[start]
    place = manuscript.sources.place(span[0])
    seen = f"{place.path}:{place.line} prints {wanted.value.text}"
    macro = manuscript.macros.get(span)
    unknown = f"which number of {claim} that is cannot be told"
    if span in manuscript.registered:
        return f"{seen} by \\assay: run assay report again, and it prints what is registered"
    if macro is None:
        return f"{seen}: {unknown}; edit it by hand"
    defined = manuscript.sources.place(macro.place)
    uses = manuscript.uses[macro.name]
    shared = f", and its {uses} uses all change with it" if uses > 1 else ""
    old = passage.text[slice(*wanted.value.numerals[wanted.numeral])] if wanted.value.numerals else wanted.value.text
    new = f"{claim} has {wanted.new.text} for {old}" if wanted.new else unknown
    where = f"the macro \\{macro.name} defined at {defined.path}:{defined.line}"
    return f"{seen} by {where}: {new}; edit the definition by hand{shared}"


def _stretch(text: str, found: Sequence[Sentence], at: int, claim: str) -> tuple[int, int]:
    """What a citation speaks for: back to the citation before it, and to the end of the sentence if it is the last."""
    sentence = found[at]
    first = at
    while first > 0 and not found[first - 1].cited and claim in found[first - 1].claims:
        first -= 1
    here = [cited for cited in sentence.cited if cited.claim == claim]
    others = [cited for cited in sentence.cited if cited.claim != claim]
    before = [one.end for one in others if ")" in text[one.end : here[0].start]]
    after = [one.start for one in others if ")" in text[here[-1].end : one.start]]
    end = text.index(")", here[-1].end) if after else sentence.end
    return (max(before) if before else found[first].start), end


def _wanted(
    reader: Reader,
    passage: Passage,
    stretch: tuple[int, int],
    numbers: _Numbers,
    display: str,
    others: Sequence[str],
) -> Iterator[_Wanted]:
    """Numbers of a stretch that differ from what the claim prints now."""
    mine = [value for value in reader.prose(passage) if stretch[0] <= value.start < stretch[1]]
    if len(mine) == len(numbers.new) and _words(passage.text[slice(*stretch)], mine, stretch[0]) == _words(
        display, list(numbers.new), 0
    ):
        for value, new in zip(mine, numbers.new, strict=True):
            if value.printed is None or new.printed is None or len(value.numerals) != len(new.numerals):
                if value.text != new.text:
                    yield _Wanted(value, 0, None)
                continue
            for at, numeral in enumerate(new.printed.numerals):
                if _differs(value.printed.numerals[at], numeral):
                    yield _Wanted(value, at, numeral)
        return
    shared = {atom for other in others for value in reader.printed(other) for atom, _ in value.parts}
    yield from _by_number(mine, numbers, shared)


def _by_number(mine: Sequence[Value], numbers: _Numbers, shared: set[Atom]) -> Iterator[_Wanted]:
    """Numbers that the claim printed before, with what it prints now."""
    pairs = list(numbers.pairs())
    for value in mine:
        for atom, places in value.atoms:
            options = [(other, after, at) for one, other, after, at in pairs if one == atom]
            kinds = {other for other, _, _ in options}
            if not options or kinds == {atom}:
                continue
            alike = [one for one in mine for other, _ in one.atoms if other == atom]
            if atom in shared or (len(kinds) > 1 and len(alike) != len(options)):
                yield _Wanted(value, places[0], None)
                continue
            _, after, theirs = options[0 if len(kinds) == 1 else alike.index(value)]
            for place, there in zip(places, theirs, strict=True):
                if after.printed is not None and value.printed is not None:
                    numeral = after.printed.numerals[there]
                    if _differs(value.printed.numerals[place], numeral):
                        yield _Wanted(value, place, numeral)


def _words(text: str, found: Sequence[Value], offset: int) -> list[str]:
    for value in sorted(found, key=lambda one: one.start, reverse=True):
        text = text[: value.start - offset] + "#" + text[value.end - offset :]
    text = re.sub(r"\([A-Za-z][\w.,;& -]*\)\W*$", "", text)
    return re.findall(r"\w+|#", text)


def _differs(one: Numeral, other: Numeral) -> bool:
    return (one.value, one.place, one.percent) != (other.value, other.place, other.percent)


def _edit(source: str, passage: Passage, wanted: _Wanted, manuscript: Manuscript) -> list[Edit] | None:
    if wanted.new is None or wanted.value.printed is None or not wanted.value.numerals:
        return None  # 0.85(2) has no digits of its own for 0.02
    start, end = wanted.value.numerals[wanted.numeral]
    path = Path(manuscript.sources.part(passage.spans[start][0]).path)
    thousands = "," if path.suffix.lower() in MARKDOWN else "{,}"
    return respell(source, passage, (start, end), wanted.new, thousands=thousands)
