"""Reading of LaTeX from left to right: text, formulas, comments, macros, files and conditionals.

What single commands and environments mean is said in `assay.ledger.texts.latex`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from assay.errors import ClaimError
from assay.ledger.texts import latex_commands as known
from assay.ledger.texts.formula import formula, group
from assay.ledger.texts.fragment import Fragment, Span
from assay.ledger.texts.latex_context import NUMBERS, Context, generated
from assay.ledger.texts.latex_macros import definition
from assay.ledger.texts.latex_preamble import conditional, document, included, learn
from assay.ledger.texts.passage import Setter

_COMMAND = re.compile(r"\\(?P<name>[A-Za-z@]+)(?P<star>\*?)[ \t]*|\\(?P<symbol>[\s\S])")
_RUN = re.compile(r"[^\\%\r\n$&{}~\-`']+")
_COMMENT = re.compile(r"%(?P<text>[^\r\n]*)(?:\r\n?|\n|$)[ \t]*")
_COMMENT_IN_MATH = re.compile(r"(?<!\\)%[^\r\n]*")
_BLANK = re.compile(r"(?:\r\n|\r(?!\n)|\n)[ \t]*(?:\r\n?|\n)\s*")
_LAYOUT = re.compile(  # overlays of beamer, lengths and settings that follow a command at once
    r"<(?:[a-z]+@)?[0-9,+.:| -]+>|=?[ \t]*-?[0-9]*\.?[0-9]+(?:pt|em|ex|cm|mm|in|pc|bp|sp|mu)(?![A-Za-z])|=-?[0-9]+"
)
_TEST = re.compile(r"(?:[^\\\r\n]|\\[A-Za-z@]+){0,60}?[<=>][ \t]*(?:-?[0-9.]+[ \t]*(?:[a-z]{2})?|\\[A-Za-z@]+)")
_TEXT = {"---": "\u2014", "--": "\u2013", "``": "\u201c", "''": "\u201d", "~": "\u00a0"}
_PLAIN = re.compile(r"---?|``|''|~")
_ENDS_MATH = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_DEEPEST = 40
_MOST_UNCLOSED = 10  # conditionals of which the end was sought in vain


def _behind(command: re.Match[str]) -> int:
    """Where the arguments of a command begin; a star is no part of a macro."""
    return command.end("name") if command["star"] else command.end()


class Reading(ABC):
    """Reads one text; arguments of commands are read where they stand."""

    def __init__(self, context: Context, setter: Setter) -> None:
        self.context = context
        self.setter = setter
        self.text = context.main
        self.source = context.main.text
        self._table = 0
        self._depth = 0
        self._unclosed = 0

    def whole(self, text: Fragment, why: str = "") -> None:
        """Read a file: its preamble, if it has one, and its document."""
        start, end = document(text.text)
        printed = learn(self.context, text, 0, start, self.setter) if start else []
        for one in printed:
            self._printed(one.command, one.text, one.start, one.end)
        self.within(text, start, end, why)

    def within(self, text: Fragment, start: int, end: int, why: str = "") -> None:
        """Read a stretch of another text, in the place of what stands here."""
        outer = self.text
        self.text, self.source = text, text.text
        self.read(start, end, why)
        self.text, self.source = outer, outer.text

    def _printed(self, command: str, text: Fragment, start: int, end: int) -> None:
        self.setter.end()
        if command == "abstract":
            self.setter.sections.heading(1, "abstract")
        self.within(text, start, end)
        self.setter.end()
        if command == "abstract":
            self.setter.sections.heading(1, "")

    def _put(self, shown: str, start: int, end: int, aside: str = "") -> None:
        self.text.put(self.setter, shown, start, end, aside=aside)

    def read(self, start: int, end: int, why: str = "") -> None:
        """Set the source from `start` to `end`, all of it set aside if `why` says so."""
        at = start
        while at < end:
            run = _RUN.match(self.source, at, end)
            if run:
                self._put(run[0], at, run.end(), why)
                at = run.end()
                continue
            at = self._special(at, end, why)

    def _special(self, at: int, end: int, why: str) -> int:
        """Set what begins with a character that LaTeX takes for more than itself; where reading goes on."""
        character = self.source[at]
        blank = _BLANK.match(self.source, at, end) if character in "\r\n" else None
        plain = _PLAIN.match(self.source, at, end)
        if character == "\\":
            return self._command(at, end, why)
        if character == "%":
            return self._comment(at, end)
        if blank:
            self._break()
            return blank.end()
        if character == "$":
            mark = "$$" if self.source.startswith("$$", at) else "$"
            return self._mathematics(at + len(mark), end, _ENDS_MATH[mark], why)
        if character == "&" and self._table:
            self._put("\t|\t", at, at)
        elif self.source.startswith("{,}", at):
            self._put(",", at, at + 3, why)
            return at + 3
        elif plain:
            self._put(_TEXT.get(plain[0], plain[0]), at, plain.end(), why)
            return plain.end()
        elif character == "{":
            self.context.macros.open()
        elif character == "}":
            self.context.macros.close()
            if self.source.startswith("{", at + 1):
                self._put(" ", at, at)  # two arguments are two words
        else:
            self._put(character, at, at + 1, why)
        return at + 1

    def _break(self) -> None:
        if not self._table:
            self.setter.end()

    def _comment(self, at: int, end: int) -> int:
        found = _COMMENT.match(self.source, at, end)
        if found is None:
            return end
        place = self.context.sources.place(self.text.span(at, at)[0])
        try:
            self.setter.sections.mark(found["text"], place.line)
        except ClaimError as error:
            raise ClaimError(f"{place.path}: {error}" if place.path else str(error)) from error
        if _BLANK.match(self.source, found.end("text"), end):
            self._break()
        return found.end()

    def _mathematics(self, start: int, end: int, mark: str, why: str = "") -> int:
        """Set a formula up to its closing mark; a dollar that nothing closes in its paragraph is noted."""
        pattern = rf"(?<!\\)(?:\\\\)*{re.escape(mark)}" if mark[0] == "$" else re.escape(mark)
        found = re.compile(pattern).search(self.source, start, end)
        stop = found.end() - len(mark) if found else end
        blank = _BLANK.search(self.source, start, stop) if mark == "$" else None
        if blank or (found is None and mark == "$"):
            self._note("$", start - 1, start, "nothing closes this formula in its paragraph", fails=True)
            return start
        inside = self._written(self.text.part(start, stop))
        plain = _COMMENT_IN_MATH.sub(lambda one: " " * len(one[0]), inside.text)
        first = len(self.setter)
        formula(self.setter, inside.saying(plain))
        if why:
            self.setter.set_aside(first, len(self.setter), why)
        return found.end() if found else end

    def _written(self, text: Fragment) -> Fragment:
        """A stretch with every macro in it written out."""
        parts, last, at = [], 0, 0
        while found := _COMMAND.search(text.text, at):
            name, at = found["name"] or "", found.end()
            span = found.start(), _behind(found)
            piece = self._macro(text, name, span, len(text.text)) if name else None
            if piece is not None:
                parts += [text.part(last, found.start()), piece[0]]
                last = at = piece[1]
            elif name in known.UNREAD and self.context.macros.get(name) is None:
                offset = text.span(found.start(), at)[0]
                self.context.unread(name, found[0], offset, results=self.setter.sections.about_results)
        return Fragment.joined((*parts, text.part(last, len(text.text))))

    def _macro(self, text: Fragment, name: str, span: Span, end: int) -> tuple[Fragment, int] | None:
        return self.context.macro(text, name, span, end, results=self.setter.sections.about_results)

    def _note(self, shown: str, at: int, end: int, why: str, *, fails: bool) -> None:
        fails = fails and self.setter.sections.about_results
        self.context.note(self.text.span(at, end)[0], shown, why, fails=fails)

    def _command(self, at: int, end: int, why: str) -> int:
        """Set what a command stands for; where reading goes on."""
        found = _COMMAND.match(self.source, at, end)
        if found is None:
            return end
        name, after = found["name"] or found["symbol"], found.end()
        if name == "\\":
            return self._newline(after, end)
        if name in ("(", "["):
            return self._mathematics(after, end, _ENDS_MATH[found[0]], why)
        if name in ("begin", "end"):
            return self._environment(name, at, after, end)
        defined = definition(self.source, at, end, place=self.text.span(0, 0)[0])
        if defined:
            self.context.define(defined)
            self._beside(after, defined.end, "definition")
            return defined.end
        if found["name"] and self.context.macros.get(name):
            piece = self._macro(self.text, name, (at, _behind(found)), end)
            if piece is not None:
                return self._expand(piece, name, at, why)
        return self._known(found, name, self._layout(after, end) if found["name"] else after, end, why)

    def _layout(self, after: int, end: int) -> int:
        """Set aside what follows a command at once and is no text; where reading goes on."""
        layout = _LAYOUT.match(self.source, after, end)
        if layout is None:
            return after
        self._put(layout[0], *layout.span(), "layout")
        return layout.end()

    def _expand(self, piece: tuple[Fragment, int], name: str, at: int, why: str) -> int:
        """Read what a macro stands for in its place."""
        self._depth += 1
        if self._depth > _DEEPEST:
            self._note(f"\\{name}", at, at, "it defines itself without end", fails=True)
        else:
            self.within(piece[0], 0, len(piece[0].text), why)
        self._depth -= 1
        return piece[1]

    def _include(self, name: str, at: int, after: int, end: int, why: str) -> int:
        """Read a file in the place of the command that names it."""
        arguments, stop = included(self.context, self.text, name, after, end)
        with self.context.file(name, arguments, self.text.span(at, stop)[0]) as inner:
            if inner is not None:
                if name.startswith("include"):
                    self.setter.end()
                reason = generated(inner.text)
                if reason == NUMBERS:
                    apart = self.setter.apart()
                    learn(self.context, inner, 0, len(inner.text), apart)
                    self.setter.join(apart)
                else:
                    self.whole(inner, why or reason)
        return stop

    def _unread(self, name: str, at: int, after: int, end: int) -> int:
        """Note a command that is not read, and set its arguments aside unless they are text."""
        stop = after
        closing = {"csname": "\\endcsname", "numexpr": "\\relax", "dimexpr": "\\relax"}.get(name)
        if closing:
            found = self.source.find(closing, after, end)
            stop = found + len(closing) if found >= 0 else after
        elif name not in ("expandafter", "ExplSyntaxOn", "foreach", "loop", "whiledo"):
            most = 1 if name == "ifthenelse" else 3
            while most and (option := re.compile(r"\s*\[[^\[\]]*\]|\s*(?=\{)").match(self.source, stop, end)):
                at_brace = self.source.startswith("{", option.end())
                most -= at_brace
                stop = group(self.source, option.end(), end)[2] if at_brace else option.end()
        self._put(self.source[after:stop], after, stop, "not read")
        offset = self.text.span(at, stop)[0]
        self.context.unread(name, self.source[at:stop], offset, results=self.setter.sections.about_results)
        return stop

    def _conditional(self, name: str, at: int, after: int, end: int) -> int:
        """Read all branches of a conditional and note that it is not decided; `\\iffalse` is a comment."""
        self._put(" ", at, at)
        if name == "iffalse" and self._unclosed < _MOST_UNCLOSED:
            depth = 1
            for found in re.compile(r"\\(?:(if)[A-Za-z@]*(?![A-Za-z@]*\s*\{)|(fi|else)(?![A-Za-z@]))").finditer(
                self.source, after, end
            ):
                depth += 1 if found[1] else -(found[2] == "fi" or depth == 1)
                if depth == 0:
                    self._put(self.source[after : found.start()], after, found.start(), "comment")
                    return found.end()
            self._unclosed += 1
        stop = conditional(self.context, self.source, name, after)
        if name.startswith("if"):
            why = "it is not decided: every branch of it is read"
            self._note(f"\\{name}", at, after, why, fails=False)
            test = _TEST.match(self.source, after, end) if name in ("ifnum", "ifdim") else None
            if test:
                self._put(test[0], *test.span(), "condition")
                stop = test.end()
        return stop

    def _beside(self, start: int, end: int, why: str) -> None:
        """Set a stretch aside as a passage of its own, so that the sentence around it goes on."""
        outer = self.setter
        self.setter = outer.apart()
        self._put(self.source[start:end], start, end, why)
        outer.join(self.setter)
        self.setter = outer

    @abstractmethod
    def _known(self, found: re.Match[str], name: str, after: int, end: int, why: str) -> int:
        """Set what a command stands for that the text does not define; where reading goes on."""

    @abstractmethod
    def _environment(self, edge: str, at: int, after: int, end: int) -> int:
        """Begin or end an environment; where reading goes on."""

    @abstractmethod
    def _newline(self, after: int, end: int) -> int:
        """Set a line end."""
