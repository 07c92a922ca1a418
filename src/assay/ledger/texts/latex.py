"""LaTeX as passages, without running it: with the files that it reads, and with its macros written out.

What it cannot read (conditionals, commands made while LaTeX runs, tables of data files) is noted with its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.ledger.texts import latex_commands as known
from assay.ledger.texts.formula import SYMBOLS, formula, group
from assay.ledger.texts.fragment import Fragment
from assay.ledger.texts.latex_context import Context
from assay.ledger.texts.latex_files import Folders
from assay.ledger.texts.latex_macros import bracket
from assay.ledger.texts.latex_reading import Reading
from assay.ledger.texts.manuscript import Manuscript
from assay.ledger.texts.passage import CLAIMREF, RESULTS_WORDS, Passage, Sections, Setter

_OF_FRAME = 5
_CONDITIONAL = re.compile(r"newif|if[A-Za-z@]*|else|or|fi")
_ROW_SPACE = re.compile(r"\[[^\[\]]*(?:pt|em|ex|mm|cm|in|baselineskip|[a-z])\]")
_SIDES = re.compile(r"\([lr]+\)")
_OPTION = re.compile(r"\s*\[[^\[\]]*\]")


def read_latex(source: str, *, results: Sequence[str] = RESULTS_WORDS) -> list[Passage]:
    """Passages of a LaTeX text by itself; see `read_manuscript`."""
    return list(read_manuscript(source, "", results=results).passages)


def read_manuscript(
    source: str, path: str, folders: Folders | None = None, *, results: Sequence[str] = RESULTS_WORDS
) -> Manuscript:
    """A LaTeX text and the files that it reads; what stands before `\\begin{document}` is set aside but for the title.

    The abstract is a section. Without `folders` no other file is read, which is noted.
    ClaimError for a comment `% claims: ...` that says neither `results` nor `end`.
    """
    context = Context(source, path, folders)
    reading = _Reading(context, Setter(Sections(results)))
    reading.whole(context.main)
    reading.setter.end()
    return context.manuscript(reading.setter.passages)


class _Reading(Reading):
    """Reads one text from left to right; arguments of commands are read where they stand."""

    def _known(self, found: re.Match[str], name: str, after: int, end: int, why: str) -> int:
        """Set what a command stands for that is not defined by the text."""
        at = found.start()
        inline = name in ("lstinline", "mintinline") and not self.source.startswith("{", self._code_begins(name, after))
        if name == "verb" or inline:
            after = self._code_begins(name, after)
            stop = self.source.find(self.source[after : after + 1] or "\n", after + 1, end) + 1 or end
            self._put(self.source[after:stop], after, stop, "code")
            return stop
        if name in known.HEADINGS or name == "frametitle":
            return self._heading(known.HEADINGS.get(name, _OF_FRAME), after, end)
        if name in ("item", "par"):
            self._break()
            return self._options(after, end, "list") if name == "item" else after
        if name in SYMBOLS:
            self._put(SYMBOLS[name], at, found.end("symbol") if found["symbol"] else found.end("name"), why)
            return after
        if name in known.INCLUDES:
            return self._include(name, at, after, end, why)
        if name in known.UNREAD and self.context.macros.get(name) is None:
            return self._unread(name, at, after, end)
        if _CONDITIONAL.fullmatch(name):
            return self._conditional(name, at, after, end)
        return self._call(name, at, after, end, why)

    def _code_begins(self, name: str, after: int) -> int:
        """Where the mark stands that opens code in a line."""
        if name == "verb":
            return after + self.source.startswith("*", after)
        before = re.compile(r"\s*(?:\[[^\[\]]*\])?" + (r"(?:\{[^{}]*\})?" if name == "mintinline" else ""))
        found = before.match(self.source, after)
        return found.end() if found else after

    def _call(self, name: str, at: int, after: int, end: int, why: str) -> int:
        """Set the arguments of a command that has some."""
        aside = known.ASIDE.get(name) or ("citation" if known.is_citation(name) else "")
        if name == "claimref":
            inner, stop, after = group(self.source, after, end)
            self._put(" (", at, inner, CLAIMREF)
            self.read(inner, stop, CLAIMREF)
            self._put(")", stop, after, CLAIMREF)
        elif name in known.OWN_PASSAGE:
            after = self._apart(group(self.source, self._options(after, end), end))
        elif name in ("subfloat", "subfigure"):
            while option := bracket(self.source, after, end):
                after = self._apart(option)
        elif name in known.QUANTITIES:
            after = self._quantity(name, self._options(after, end), end)
        elif name in ("textsuperscript", "textsubscript"):
            after = self._script(name, at, after, end, why)
        elif name == "xspace":
            self._put(" ", at, at, why)
        elif name == "abstract":
            inner, stop, after = group(self.source, after, end)
            self._printed(name, self.text, inner, stop)
        elif name == "texorpdfstring":
            inner, stop, after = group(self.source, after, end)
            self.read(inner, stop, why)
            after = self._aside(after, end, 1, "link")
        elif name == "num":
            inner, stop, after = group(self.source, self._options(after, end), end)
            self._number(inner, stop)
        elif name == "href":
            after = self._aside(after, end, 1, "link")
        elif aside:
            after = self._aside(after, end, known.ARGUMENTS.get(name, 1), aside)
        elif self.source.startswith("[", after) and self.source[after - 1].isalpha():
            option = bracket(self.source, after, end) if self.context.macros.get(name) else None
            if option:  # of a macro that is not read: what it prints of this is not known
                self._put(" ", after, after)
                self.read(*option[:2], why)
                self._put(" ", option[2], option[2])
            after = option[2] if option else self._options(after, end)
        return after

    def _script(self, name: str, at: int, after: int, end: int, why: str) -> int:
        """Set raised or lowered text: a power of ten, a deviation, the end of an ordinal, or a mark."""
        inner, stop, after = group(self.source, after, end)
        inside = self.source[inner:stop].strip()
        raised = name == "textsuperscript"
        if raised and re.fullmatch(r"\$?[-\u2212]?\$?[0-9]{1,2}", inside) and self.setter.tail(-2) == "10":
            self._put("^", at, inner, why)
            self.read(inner, stop, why)
        elif re.search(r"\\pm|\u00b1|\.[0-9]", inside):
            self._put(" ", at, inner, why)
            self.read(inner, stop, why)
        elif re.fullmatch("st|nd|rd|th", inside):
            self.read(inner, stop, why)
        else:
            self._put(self.source[inner:stop], inner, stop, "reference" if raised else "name")
        return after

    def _aside(self, after: int, end: int, count: int, why: str) -> int:
        sides = _SIDES.match(self.source, after, end)  # of \\cmidrule(lr){2-3}
        after = self._options(sides.end() if sides else after, end, why)
        for number in range(count):
            after = self._options(after, end, why) if number else after
            inner, stop, after = group(self.source, after, end, comments=why != "link")
            self._put(self.source[inner:stop], inner, stop, why)
        return after

    def _options(self, after: int, end: int, why: str = "layout") -> int:
        while found := _OPTION.match(self.source, after, end):
            self._put(found[0], *found.span(), why)
            after = found.end()
        return after

    def _newline(self, after: int, end: int) -> int:
        star = after + self.source.startswith("*", after)
        option = _ROW_SPACE.match(self.source, star, end)
        if self._table:
            self.setter.end(row=True)
        else:
            self._put(" ", after, after)
        return option.end() if option else star

    def _number(self, start: int, end: int) -> None:
        """Set a number of siunitx, in which spaces say nothing."""
        written = self._written(self.text.part(start, end))
        parts, last = [], 0
        for space in re.finditer(r"(?<=[0-9.])\s+(?=[eE][-+0-9])|(?<=[eE+-])\s+(?=[-+0-9])", written.text):
            parts.append(written.part(last, space.start()))
            last = space.end()
        formula(self.setter, Fragment.joined((*parts, written.part(last, len(written.text)))))

    def _quantity(self, name: str, after: int, end: int) -> int:
        for number in range(2 if name.endswith("range") else 1):
            inner, stop, after = group(self.source, after, end)
            if number:
                self._put("\u2013", inner, inner)
            self._number(inner, stop)
        inner, stop, behind = group(self.source, after, end)
        if name != "numrange" and self.source[inner:stop].strip() in ("\\percent", "\\%"):
            self._put("%", inner, stop)
            return behind
        return self._aside(after, end, 1, "unit") if name != "numrange" else after

    def _apart(self, argument: tuple[int, int, int]) -> int:
        """Set an argument as a passage of its own: a footnote is not part of the sentence that it interrupts."""
        inner, stop, after = argument
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

    def _environment(self, edge: str, at: int, after: int, end: int) -> int:
        inner, stop, after = group(self.source, after, end)
        name = self.source[inner:stop].strip()
        plain = name.rstrip("*")
        after = self._layout(after, end) if edge == "begin" else after
        own = f"{edge}{{{name}}}"
        if self.context.macros.get(own):
            piece = self._macro(self.text, own, (at, after), end)
            return self._expand(piece, own, at, "") if piece is not None else after
        if edge == "end":
            return self._leave(plain, after)
        if plain in known.VERBATIM or plain in known.SET_ASIDE or plain in known.MATHEMATICS:
            closing = self.source.find(f"\\end{{{name}}}", after, end)
            closing = end if closing < 0 else closing
            if plain in known.MATHEMATICS:
                self._mathematics(after, closing, f"\\end{{{name}}}")
            else:
                self._break()
                self._put(self.source[after:closing], after, closing, known.SET_ASIDE.get(plain, "code"))
            self._break()
            return min(closing + len(f"\\end{{{name}}}"), end)
        self._break()
        self.context.macros.open()
        if plain in known.TABLES:
            self._table += 1
            after = self._aside(after, end, known.TABLES[plain] + name.endswith("*"), "layout")
        elif plain == "abstract":
            self.setter.sections.heading(1, "abstract")
        elif plain == "frame":
            after = self._frame(after, end)
        else:
            after = self._aside(after, end, known.ENVIRONMENTS.get(plain, 0), "layout")
        return after

    def _leave(self, name: str, after: int) -> int:
        if name in known.TABLES:
            self.setter.end(row=True)
            self._table = max(0, self._table - 1)
        self._break()
        self.context.macros.close()
        if name in ("abstract", "frame"):
            self.setter.sections.heading(1 if name == "abstract" else _OF_FRAME, "")
        return after

    def _frame(self, after: int, end: int) -> int:
        """Set the title and subtitle that follow `\\begin{frame}`."""
        after = self._options(after, end)
        if self.source.startswith("{", after):
            after = self._heading(_OF_FRAME, after, end)
            if self.source.startswith("{", after):
                after = self._apart(group(self.source, after, end))
        return after
