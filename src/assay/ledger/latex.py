"""LaTeX as passages, without running it: no file is included, and only macros without arguments are written out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.ledger import latex_commands as known
from assay.ledger.formula import SYMBOLS, formula, group
from assay.ledger.passage import CLAIMREF, RESULTS_WORDS, Lines, Passage, Sections, Setter

_COMMAND = re.compile(r"\\(?P<name>[A-Za-z@]+)(?P<star>\*?)[ \t]*|\\(?P<symbol>[\s\S])")
_COMMENT = re.compile(r"%(?P<text>[^\r\n]*)(?:\r\n?|\n|$)[ \t]*")
_COMMENT_IN_MATH = re.compile(r"(?<!\\)%[^\r\n]*")
_BLANK = re.compile(r"(?:\r\n?|\n)[ \t]*(?:\r\n?|\n)\s*")
_SIDES = re.compile(r"\([lr]+\)")
_OPTION = re.compile(r"\s*\[[^\[\]]*\]")
_DEFINED = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand)\*?\s*\{?\s*\\(?P<new>[A-Za-z@]+)\s*\}?\s*(?P<arguments>\[[0-9]\](?:\[[^\[\]]*\])?)?"
    r"|\\def\s*\\(?P<def>[A-Za-z@]+)(?P<pattern>[^{}]*)"
)
_TEXT = {"---": "\u2014", "--": "\u2013", "``": "\u201c", "''": "\u201d", "~": "\u00a0"}
_PLAIN = re.compile(r"---?|``|''|~")
_ENDS_MATH = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}


def read_latex(source: str, *, results: Sequence[str] = RESULTS_WORDS) -> list[Passage]:
    """Passages of a LaTeX text; what stands before `\\begin{document}` is set aside, the abstract is a section.

    ClaimError for a comment `% claims: ...` that says neither `results` nor `end`.
    """
    reading = _Reading(source, Setter(Sections(results)))
    begin = re.compile(r"^[^%\r\n]*?\\begin\s*\{document\}", re.MULTILINE).search(source)
    start = begin.end() if begin else 0
    reading.preamble(start)
    end = re.compile(r"^[^%\r\n]*?(?P<end>\\end\s*\{document\})", re.MULTILINE).search(source, start)
    reading.read(start, end.start("end") if end else len(source))
    reading.setter.end()
    return reading.setter.passages


class _Reading:
    """Reads one text from left to right; arguments of commands are read where they stand."""

    def __init__(self, source: str, setter: Setter) -> None:
        self.source = source
        self.setter = setter
        self.lines = Lines(source)
        self.macros: dict[str, str] = {}
        self._table = 0

    def preamble(self, end: int) -> None:
        """Learn the macros that stand before the document, and set the rest aside."""
        for found in _DEFINED.finditer(self.source, 0, end):
            self._define(found, end)
        for line in re.finditer(r"[^\r\n]+", self.source[:end]):
            self.setter.put(line[0], *line.span(), aside="preamble")
            self.setter.end()

    def read(self, start: int, end: int, why: str = "") -> None:
        """Set the source from `start` to `end`, all of it set aside if `why` says so."""
        at = start
        while at < end:
            character = self.source[at]
            blank = _BLANK.match(self.source, at, end) if character in "\r\n" else None
            plain = _PLAIN.match(self.source, at, end)
            if character == "\\":
                at = self._command(at, end, why)
            elif character == "%":
                at = self._comment(at, end)
            elif blank:
                self._break()
                at = blank.end()
            elif character == "$":
                mark = "$$" if self.source.startswith("$$", at) else "$"
                at = self._mathematics(at + len(mark), end, _ENDS_MATH[mark])
            elif character == "&" and self._table:
                self.setter.put("\t|\t", at, at)
                at += 1
            elif self.source.startswith("{,}", at):
                self.setter.put(",", at, at + 3, aside=why)
                at += 3
            elif plain:
                self.setter.put(_TEXT.get(plain[0], plain[0]), at, plain.end(), aside=why)
                at = plain.end()
            else:
                if self.source.startswith("}{", at):
                    self.setter.put(" ", at, at)  # two arguments are two words
                elif character not in "{}":
                    self.setter.put(character, at, at + 1, aside=why)
                at += 1

    def _break(self) -> None:
        if not self._table:
            self.setter.end()

    def _comment(self, at: int, end: int) -> int:
        found = _COMMENT.match(self.source, at, end)
        if found is None:
            return end
        self.setter.sections.mark(found["text"], self.lines.place(at)[0])
        if _BLANK.match(self.source, found.end() - 1, end):
            self._break()
        return found.end()

    def _mathematics(self, start: int, end: int, mark: str) -> int:
        """Set a formula up to its closing mark."""
        found = re.compile(rf"(?<!\\)(?:\\\\)*{re.escape(mark)}" if mark[0] == "$" else re.escape(mark)).search(
            self.source, start, end
        )
        stop = found.end() - len(mark) if found else end
        inside = _COMMENT_IN_MATH.sub(lambda one: " " * len(one[0]), self.source[start:stop])
        formula(self.setter, inside, start, macros=self.macros)
        return found.end() if found else end

    def _command(self, at: int, end: int, why: str) -> int:
        """Set what a command stands for; where reading goes on."""
        found = _COMMAND.match(self.source, at, end)
        if found is None:
            return end
        name, after = found["name"] or found["symbol"], found.end()
        defined = _DEFINED.match(self.source, at, end)
        if name == "\\":
            return self._newline(after, end)
        if name in ("(", "["):
            return self._mathematics(after, end, _ENDS_MATH[found[0]])
        if name in ("begin", "end"):
            return self._environment(name, after, end)
        if defined:
            return self._define(defined, end)
        if name in self.macros:
            self._expand(name, at, after, why)
        elif name == "verb":
            after += self.source.startswith("*", after)
            stop = self.source.find(self.source[after : after + 1] or "\n", after + 1, end) + 1 or end
            self.setter.put(self.source[after:stop], after, stop, aside="code")
            after = stop
        elif name in known.HEADINGS:
            after = self._heading(known.HEADINGS[name], after, end)
        elif name in ("item", "par"):
            self._break()
            after = self._options(after, end, "list") if name == "item" else after
        elif name in SYMBOLS:
            self.setter.put(SYMBOLS[name], at, found.end("symbol") if found["symbol"] else found.end("name"), aside=why)
        else:
            after = self._call(name, at, after, end, why)
        return after

    def _call(self, name: str, at: int, after: int, end: int, why: str) -> int:
        """Set the arguments of a command that has some."""
        aside = known.ASIDE.get(name) or ("citation" if re.match(r"[A-Za-z]*cite", name, re.IGNORECASE) else "")
        if name == "claimref":
            inner, stop, after = group(self.source, after, end)
            self.setter.put(" (", at, inner, aside=CLAIMREF)
            self.read(inner, stop, CLAIMREF)
            self.setter.put(")", stop, after, aside=CLAIMREF)
        elif name in known.OWN_PASSAGE:
            after = self._apart(self._options(after, end), end)
        elif name in known.QUANTITIES:
            after = self._quantity(name, self._options(after, end), end)
        elif name == "href":
            after = self._aside(after, end, 1, "link")
        elif aside:
            after = self._aside(after, end, known.ARGUMENTS.get(name, 1), aside)
        elif self.source.startswith("[", after) and name != "num" and self.source[after - 1].isalpha():
            after = self._options(after, end)
        return after

    def _aside(self, after: int, end: int, count: int, why: str) -> int:
        sides = _SIDES.match(self.source, after, end)  # of \\cmidrule(lr){2-3}
        after = self._options(sides.end() if sides else after, end, why)
        for number in range(count):
            inner, stop, after = group(self.source, self._options(after, end, why) if number else after, end)
            self.setter.put(self.source[inner:stop], inner, stop, aside=why)
        return after

    def _options(self, after: int, end: int, why: str = "layout") -> int:
        while found := _OPTION.match(self.source, after, end):
            self.setter.put(found[0], *found.span(), aside=why)
            after = found.end()
        return after

    def _newline(self, after: int, end: int) -> int:
        star = after + self.source.startswith("*", after)
        option = re.compile(r"\[[^\[\]]*(?:pt|em|ex|mm|cm|in|baselineskip|[a-z])\]").match(self.source, star, end)
        if self._table:
            self.setter.end(row=True)
        else:
            self.setter.put(" ", after, after)
        return option.end() if option else star

    def _quantity(self, name: str, after: int, end: int) -> int:
        for number in range(2 if name.endswith("range") else 1):
            inner, stop, after = group(self.source, after, end)
            if number:
                self.setter.put("\u2013", inner, inner)
            formula(self.setter, self.source[inner:stop], inner)
        inner, stop, behind = group(self.source, after, end)
        if name != "numrange" and self.source[inner:stop].strip() in ("\\percent", "\\%"):
            self.setter.put("%", inner, stop)
            return behind
        return self._aside(after, end, 1, "unit") if name != "numrange" else after

    def _apart(self, after: int, end: int) -> int:
        """Set an argument as a passage of its own: a footnote is not part of the sentence that it interrupts."""
        inner, stop, after = group(self.source, after, end)
        outer, table = self.setter, self._table
        self.setter, self._table = outer.apart(), 0
        self.read(inner, stop)
        outer.join(self.setter)
        self.setter, self._table = outer, table
        return after

    def _heading(self, level: int, after: int, end: int) -> int:
        self.setter.end()
        option = _OPTION.match(self.source, after, end)
        inner, stop, after = group(self.source, option.end() if option else after, end)
        self.setter.sections.heading(level, self.source[inner:stop])
        self.read(inner, stop)
        self.setter.end()
        return after

    def _environment(self, edge: str, after: int, end: int) -> int:
        inner, stop, after = group(self.source, after, end)
        name = self.source[inner:stop].strip()
        plain = name.rstrip("*")
        if edge == "end":
            return self._leave(plain, after)
        if plain in known.VERBATIM or plain in known.SET_ASIDE or plain in known.MATHEMATICS:
            closing = self.source.find(f"\\end{{{name}}}", after, end)
            closing = end if closing < 0 else closing
            if plain in known.MATHEMATICS:
                self._mathematics(after, closing, f"\\end{{{name}}}")
            else:
                self._break()
                self.setter.put(self.source[after:closing], after, closing, aside=known.SET_ASIDE.get(plain, "code"))
            self._break()
            return min(closing + len(f"\\end{{{name}}}"), end)
        self._break()
        if plain in known.TABLES:
            self._table += 1
            after = self._aside(after, end, known.TABLES[plain] + name.endswith("*"), "layout")
        elif plain == "abstract":
            self.setter.sections.heading(1, "abstract")
        else:
            after = self._aside(after, end, known.ENVIRONMENTS.get(plain, 0), "layout")
        return after

    def _leave(self, name: str, after: int) -> int:
        if name in known.TABLES:
            self.setter.end(row=True)
            self._table = max(0, self._table - 1)
        self._break()
        if name == "abstract":
            self.setter.sections.heading(1, "")
        return after

    def _define(self, found: re.Match[str], end: int) -> int:
        """Note a macro; its text is set where the macro is used."""
        inner, stop, after = group(self.source, found.end(), end)
        if not (found["arguments"] or (found["pattern"] or "").strip()):
            self.macros[found["new"] or found["def"]] = self.source[inner:stop]
        return after

    def _expand(self, name: str, at: int, after: int, why: str) -> None:
        """Set the text of a macro in its place; a macro in it that is being set already is left out."""
        text = self.macros.pop(name)
        inner = _Reading(text, self.setter.apart())
        inner.macros = self.macros
        inner.read(0, len(text), why)
        self.setter.absorb(inner.setter, at, after)
        self.macros[name] = text
