"""A stretch of text to read and the place of each of its characters: in a file, or in a macro that was written out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import final

from assay.ledger.texts.passage import Setter

Span = tuple[int, int]


@final
class Fragment:
    """Text, and for each character the span of the source behind it."""

    __slots__ = ("_spans", "_start", "text")

    def __init__(self, text: str, start: int = 0, spans: Sequence[Span] | None = None) -> None:
        """`text` stands in the source from `start` on, or its characters stand where `spans` says."""
        self.text = text
        self._start = start
        self._spans = spans

    def span(self, start: int, end: int) -> Span:
        """The span of the source behind the characters from `start` to `end`."""
        if self._spans is None:
            return self._start + start, self._start + end
        if start < end:
            return self._spans[start][0], self._spans[end - 1][1]
        if not self._spans:
            return self._start, self._start
        return (self._spans[start][0],) * 2 if start < len(self._spans) else (self._spans[-1][1],) * 2

    def spans(self, start: int, end: int) -> Sequence[Span]:
        """The span of each character from `start` to `end`."""
        if self._spans is None:
            first, last = self._start + start, self._start + end
            return list(zip(range(first, last), range(first + 1, last + 1), strict=True))
        return self._spans[start:end]

    def part(self, start: int, end: int) -> Fragment:
        """The characters from `start` to `end`."""
        spans = None if self._spans is None else self._spans[start:end]
        return Fragment(self.text[start:end], self._start + start, spans)

    def put(self, setter: Setter, shown: str, start: int, end: int, *, aside: str = "") -> None:
        """Set `shown`, which stands here from `start` to `end`."""
        if self._spans is None or len(shown) != end - start:
            setter.put(shown, *self.span(start, end), aside=aside)
            return
        for character, span in zip(shown, self._spans[start:end], strict=True):
            setter.put(character, *span, aside=aside)

    def saying(self, text: str) -> Fragment:
        """Other characters in the same places."""
        return Fragment(text, self._start, self._spans)

    @staticmethod
    def joined(parts: Iterable[Fragment]) -> Fragment:
        """Fragments one behind the other."""
        known = list(parts)
        if len(known) == 1:
            return known[0]
        spans = [span for one in known for span in one.spans(0, len(one.text))]
        return Fragment("".join(one.text for one in known), spans=spans)

    @staticmethod
    def behind(text: str, span: Span) -> Fragment:
        """Text of which every character stands in the same span."""
        return Fragment(text, span[0], [span] * len(text))
