"""Markdown as passages: blocks by markdown-it-py (CommonMark and tables), what stands inside of them read here.

The parser says which lines a block takes and not where in them a word stands, which is what a place needs.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from assay.ledger.citations import GENERATED
from assay.ledger.texts.formula import formula
from assay.ledger.texts.fragment import Fragment
from assay.ledger.texts.manuscript import Unread
from assay.ledger.texts.passage import RESULTS_WORDS, Lines, Passage, Sections, Setter

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\ufeff?---[ \t]*(?:\r\n?|\n)[\s\S]*?(?:\r\n?|\n)---[ \t]*(?=[\r\n])")
_SECTION_NUMBER = re.compile(r"\s*[A-Z]?[0-9]+(?:\.[0-9]+)*[.:)]?\s+(?=\S)")
_PIECE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)(?!`)(?P<code>[\s\S]*?)(?<!`)(?P=ticks)(?!`)"
    r"|<!--(?P<comment>[\s\S]*?)-->"
    r"|<(?P<level>su[bp])>(?P<script>[^<>]*)</(?P=level)>"
    r"|(?<=\w)(?P<mark>[\^~])(?P<raised>-?[0-9]{1,3}|st|nd|rd|th)(?P=mark)"
    r"|(?P<made>\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}|\\(?:input|include|import)\{[^{}]*\}(?:\{[^{}]*\})?)"
    r"|(?P<attributes>\{(?:\s*(?:[#.][\w:.-]+|[\w-]+=(?:\"[^\"]*\"|[^\s{}\"]+)))+\s*\})"
    r"|<(?:https?|ftp|mailto):[^<>\s]*>"
    r"|(?P<tag></?[A-Za-z][^<>]*>)"
    r"|(?P<entity>&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);)"
    r"|(?P<math>(?<![\\$\w])\$(?=[^\s$])(?P<inside>[^$]*?[^\s\\$])\$(?![0-9$])|\$\$(?P<display>[^$]+)\$\$)"
    r"|(?P<footnote>\[\^[^\]\s]+\]:?)"
    r"|(?P<link>\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)|(?<=\w)\]\[[^\[\]]*\])"
    r"|(?P<emphasis>(?<![\w\\])[*_]+(?=\S)|(?<=\S)(?<!\\)[*_]+(?!\w)|\*\*|~~)"
)


def read_markdown(source: str, *, results: Sequence[str] = RESULTS_WORDS) -> tuple[list[Passage], list[Unread]]:
    """Passages of a Markdown text, and what in it is made by a program and not read.

    None of a table of claims, whose numbers are those of its claims.
    ClaimError for a comment `claims: ...` that says neither `results` nor `end`.
    """
    if source.startswith(GENERATED):
        return [], []
    from markdown_it import MarkdownIt

    front = _FRONT_MATTER.match(source)
    blank = re.sub(r"[^\r\n]", " ", front[0]) if front else ""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(blank + source[len(blank) :])
    reading = _Reading(source, Setter(Sections(results)))
    if front:
        reading.code(0, front.end(), "front matter")
    for before, token in zip([None, *tokens], tokens, strict=False):
        reading.block(token, before)
    return reading.setter.passages, reading.unread


_BLOCK_TAG = re.compile(
    r"<!--[\s\S]*?-->|</?(?P<name>tr|p|li|div|h[1-6]|table|thead|tbody|[uod]l|d[td]|details|summary|figure|figcaption"
    r"|caption|blockquote|section|center)(?![\w-])[^<>]*>",
    re.IGNORECASE,
)
_PROGRAM = re.compile(r"\s*\{(?:[A-Za-z]+[\s,}]|(?:include|literalinclude|csv-table|code-cell)\})")
_COMPUTED = re.compile(r"(?:r|=|\{(?:r|python|julia|ojs)\})(?:\s|$)|=\S")
_Put = Callable[[str, int, int, str], None]


class _Reading:
    """Sets the blocks of one text."""

    def __init__(self, source: str, setter: Setter) -> None:
        self.source = source
        self.setter = setter
        self.lines = Lines(source)
        self.unread: list[Unread] = []

    def block(self, token: Token, before: Token | None) -> None:
        """Set one token of the block parser, if it has text of its own."""
        if token.map is None:
            return
        kind = before.type if before else ""
        if token.type == "inline" and kind.startswith(("td", "th")):
            return  # its row was set whole
        start, end = self._span(*token.map)
        if token.type == "tr_open":
            self._row(start, end)
        elif token.type in ("fence", "code_block"):
            if _PROGRAM.match(token.info):
                self._note(start, f"{token.markup}{token.info.strip()}")
            self.code(start, end, "code")
        elif token.type == "html_block":
            self._html(start, end)
        elif token.type == "inline":
            if before is not None and kind == "heading_open":
                self._heading(int(before.tag[1:]), token.content, start, end)
            else:
                self._paragraph(token.content, start)
                self.setter.end()

    def _note(self, offset: int, text: str) -> None:
        why = "what stands there is made when the text is set"
        self.unread.append(Unread(offset, " ".join(text.split())[:60], why, self.setter.sections.about_results))

    def _span(self, first: int, last: int) -> tuple[int, int]:
        starts = self.lines.starts
        return starts[first], starts[last] if last < len(starts) else len(self.source)

    def code(self, start: int, end: int, why: str) -> None:
        """Set a block that is no prose."""
        self.setter.put(self.source[start:end], start, end, aside=why)
        self.setter.end()

    def _heading(self, level: int, title: str, start: int, end: int) -> None:
        self.setter.sections.heading(level, title)
        self._paragraph(title, start)
        number = _SECTION_NUMBER.match(self.setter.tail(0))
        if number:
            self.setter.set_aside(0, number.end(), "reference")
        self.setter.end()

    def _paragraph(self, content: str, start: int) -> None:
        """Set lines that the parser freed of indents, bullets and quotation marks, each found again in its line."""
        pieces, at = [], start
        for line in content.split("\n"):
            found = self.source.find(line, at)
            begin = at if found < 0 else found
            pieces.append((begin, begin + len(line)))
            at = begin + len(line)
        joined = "\n".join(self.source[begin:end] for begin, end in pieces)
        places = [place for begin, end in pieces for place in range(begin, end + 1)]
        self._set(joined, places)

    def _row(self, start: int, end: int) -> None:
        """Set a row of a table as one passage; cells are kept apart, so that no value spans two of them."""
        at = start
        for cell in re.finditer(r"(?:\\.|[^|\\\r\n])+", self.source[start:end]):
            at = start + cell.start()
            self._inline(at, at + len(cell[0]))
            self.setter.put("\t|\t", at + len(cell[0]), at + len(cell[0]))
        self.setter.end(row=True)

    def _html(self, start: int, end: int) -> None:
        """Set a block of HTML: a passage for each row, paragraph, item and heading of it."""
        at = start
        for found in _BLOCK_TAG.finditer(self.source, start, end):
            name = (found["name"] or "").lower()
            if not name:
                continue  # a comment
            self._inline(at, found.start())
            self.setter.end(row=name == "tr")
            at = found.end()
            if name[0] == "h" and found[0][1] != "/":
                title = self.source[at:end].partition("</")[0]
                self.setter.sections.heading(int(name[1]), re.sub(r"<[^<>]*>", "", title))
        self._inline(at, end)
        self.setter.end()

    def _inline(self, start: int, end: int) -> None:
        self._set(self.source[start:end], list(range(start, end)))

    def _set(self, text: str, places: list[int]) -> None:
        """Set inline text; `places` are the offsets of its characters in the source."""

        def put(shown: str, begin: int, stop: int, why: str = "") -> None:
            if begin == stop:
                return
            if len(shown) == stop - begin:
                for at, character in enumerate(shown, start=begin):
                    self.setter.put(character, places[at], places[at] + 1, aside=why)
            else:
                self.setter.put(shown, places[begin], places[stop - 1] + 1, aside=why)

        last = 0
        for found in _PIECE.finditer(text):
            put(text[last : found.start()], last, found.start())
            last = found.end()
            self._piece(found, put, places)
        put(text[last:], last, len(text))

    def _piece(self, found: re.Match[str], put: _Put, places: list[int]) -> None:
        begin, stop = found.span()
        if found["escaped"]:
            put(found["escaped"], begin, stop, "")
        elif found["ticks"] or found["made"]:
            put(found[0], begin, stop, "code" if found["ticks"] else "not read")
            if found["made"] or _COMPUTED.match(found["code"]):
                self._note(places[begin], found[0])
        elif found["level"] or found["raised"]:
            self._script(found, put)
        elif found["comment"] is not None:
            self.setter.sections.mark(found["comment"], self.lines.place(places[begin])[0])
        elif found["entity"]:
            put(html.unescape(found[0]), begin, stop, "")
        elif found["math"]:
            name = "inside" if found["inside"] else "display"
            spans = [(place, place + 1) for place in places[found.start(name) : found.end(name)]]
            formula(self.setter, Fragment(found[name], spans=spans))
        elif found["tag"]:
            put("\t", begin, stop, "")
        elif not found["emphasis"]:
            put(found[0], begin, stop, "link" if found["link"] or found[0][0] == "<" else "reference")

    def _script(self, found: re.Match[str], put: _Put) -> None:
        """Set raised or lowered text: a power of ten, the end of an ordinal, a deviation, or a mark."""
        name = "script" if found["level"] else "raised"
        inside, (start, end) = found[name].strip(), found.span(name)
        lowered = found["level"] == "sub" or found["mark"] == "~"
        if not lowered and re.fullmatch(r"[-\u2212]?[0-9]{1,3}", inside) and self.setter.tail(-2) == "10":
            put("^", found.start(), start, "")
            put(found[name], start, end, "")
        elif re.fullmatch(r"[-\u2212]?[0-9]{0,3}\W?", inside):
            put(found[name], start, end, "name" if lowered else "reference")
        else:
            ordinal = re.fullmatch("st|nd|rd|th", inside)
            put("" if ordinal else "\t", found.start(), start, "")
            put(found[name], start, end, "")
