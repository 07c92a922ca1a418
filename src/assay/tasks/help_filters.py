"""Which aligned elements of the help corpus are translated sentences, and why the others are not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

SHORTEST, LONGEST = 40, 300
"""Length of the English text, in characters."""
LONGEST_VERBATIM_RUN = 5
FEWEST_HAN = 4

_NO_LETTER = re.compile(r"[\W\d_]+")
_LATIN_WORD = re.compile(r"[A-Za-z]+")
_HAN = re.compile(r"[一-鿿]")


class Aligned(NamedTuple):
    """One element that has the same id in the same file in every language; ``texts`` starts with English."""

    file: str
    element: str
    texts: Mapping[str, str]


def keep_translated(elements: Sequence[Aligned], *, english: str, chinese: str) -> tuple[list[Aligned], Counter[str]]:
    """The elements that pass every filter, and for each filter how many elements it was the first to refuse.

    In this order: ``empty`` (no text in some language); ``same as English`` (a language repeats the English text);
    ``length`` (English below 40 or above 300 characters); ``repeated English`` (an earlier element has this English
    text); ``letters of English`` (a language has the letters of the English text, whatever the case, spaces, digits
    and marks); ``half translated`` (more than half of the English words of three or more Latin letters stand in a
    translation, or six of its words in a row do: half translated sentences, formulas, paths and code);
    ``no Chinese`` (fewer than four Han characters in the Chinese text); ``letters of another`` (two translations have
    the same letters); ``repeated translation`` (an earlier kept element has this text in some translation).
    """
    kept: list[Aligned] = []
    refused: Counter[str] = Counter()
    seen: dict[str, set[str]] = {}
    for element in elements:
        reason = _reason(element.texts, english, chinese, seen)
        if reason:
            refused[reason] += 1
            continue
        kept.append(element)
        for language, text in element.texts.items():
            seen.setdefault(language, set()).add(text)
    return kept, refused


def _reason(texts: Mapping[str, str], english: str, chinese: str, seen: dict[str, set[str]]) -> str:
    source = texts[english]
    others = {language: text for language, text in texts.items() if language != english}
    if not all(texts.values()):
        return "empty"
    if source in others.values():
        return "same as English"
    if not SHORTEST <= len(source) <= LONGEST:
        return "length"
    known = seen.setdefault(english, set())
    if source in known:
        return "repeated English"
    known.add(source)
    letters = [_letters(text) for text in others.values()]
    if _letters(source) in letters:
        return "letters of English"
    if any(_half_translated(source, text) for text in others.values()):
        return "half translated"
    if len(_HAN.findall(others[chinese])) < FEWEST_HAN:
        return "no Chinese"
    if len(set(letters)) != len(letters):
        return "letters of another"
    if any(text in seen.get(language, ()) for language, text in others.items()):
        return "repeated translation"
    return ""


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", text).casefold()


def _half_translated(source: str, text: str) -> bool:
    words, other = _LATIN_WORD.findall(source), _LATIN_WORD.findall(text)
    long = Counter(word for word in words if len(word) >= 3)
    common = long & Counter(other)
    if 2 * common.total() > long.total():
        return True
    runs = {
        tuple(other[start : start + LONGEST_VERBATIM_RUN + 1]) for start in range(len(other) - LONGEST_VERBATIM_RUN)
    }
    length = LONGEST_VERBATIM_RUN + 1
    return any(tuple(words[start : start + length]) in runs for start in range(len(words) - length + 1))
