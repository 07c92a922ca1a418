"""Macros of LaTeX: how they are defined, and the text for which one stands where it is used.

A macro is written out as TeX does it, the first one first, so that a macro may make another one or take its arguments
from behind the macro in which it stands. What an argument holds keeps its own place; the rest stands where the macro
is used.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple, final

from assay.ledger.texts import latex_commands as known
from assay.ledger.texts.formula import group
from assay.ledger.texts.fragment import Fragment, Span
from assay.ledger.texts.manuscript import Macro, Registered

_MOST_STEPS = 1_000
_LONGEST = 100_000
_LONGEST_OPTION = 5_000
_COMMAND = re.compile(r"\\(?:(?P<name>[A-Za-z@]+)[ \t]*|[\s\S])")
_DEFINES = re.compile(
    r"\\(?:(?P<new>(?:re)?newcommandx?|provide(?:command|robustcmd)|DeclareRobustCommand|(?:re)?newrobustcmd"
    r"|DeclareMathOperator|(?P<document>(?:New|Renew|Provide|Declare)(?:Expandable)?DocumentCommand))\*?"
    r"\s*\{?\s*\\(?P<name>[A-Za-z@]+)\s*\}?"
    r"|(?:re)?newenvironment\*?\s*\{(?P<environment>[^{}\\]+)\}"
    r"|(?P<def>[gex]?def)\s*\\(?!csname(?![A-Za-z@]))(?P<defined>[A-Za-z@]+)(?P<pattern>[^{}]*)"
    r"|(?P<let>let)\s*\\(?P<alias>[A-Za-z@]+)\s*=?\s*(?P<target>\\[A-Za-z@]+|[^\s\\])"
    r"|def\s*\\csname(?P<computed>[\s\S]*?)\\endcsname[^{}]*)"
)
_COUNT = re.compile(r"\s*\[\s*(?P<count>[0-9])\s*\]")
_SPECIFIED = re.compile(r"\s*\+?(?:(?P<braced>m)|O\s*\{(?P<default>[^{}]*)\})")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\r\n]*(?:\r\n?|\n|$)[ \t]*")
_PARAMETER = re.compile(r"#(?:(?P<number>[1-9])|#)")
_NUMBER = re.compile(
    r"^\\assay@number\{(?P<experiment>[^{}]*)\}\{(?P<tier>[^{}]*)\}\{(?P<key>[^{}]*)\}\{(?P<text>.*)\}\s*$",
    re.MULTILINE,
)


class EndlessError(Exception):
    """A macro that makes itself again and again."""


class UnknownNumberError(Exception):
    """A number that the file of registered numbers does not have."""


class Definition(NamedTuple):
    """A macro as it is defined at one place: its text from `start` to `end` (of an environment its second as well)."""

    macros: tuple[Macro, ...]
    end: int
    always: bool
    everywhere: bool = False


def definition(source: str, at: int, end: int, *, place: int = 0) -> Definition | None:
    """The macro that is defined at `at`; None where none is. `place` is where the source begins."""
    found = _DEFINES.match(source, at, end)
    if found is None:
        return None
    after = found.end()
    if found["let"]:
        body = found["target"] + ("" if found["target"][0] != "\\" else " ")
        return Definition((Macro(found["alias"], (), body.strip(), place + at),), after, always=True)
    if found["computed"] is not None:
        return Definition((), group(source, after, end)[2], always=True)
    arguments: tuple[str | None, ...] = ()
    odd = ""
    if found["def"]:
        pattern = re.sub(r"\s+", "", found["pattern"])
        arguments = (None,) * (len(pattern) // 2)
        if pattern != "".join(f"#{number}" for number in range(1, len(arguments) + 1)):
            odd = f"its arguments are delimited: {found['pattern'].strip()}"
        name = found["defined"]
    elif found["document"]:
        start, stop, after = group(source, after, end)
        arguments, odd = _specified(source[start:stop])
        name = found["name"]
    else:
        arguments, after = _counted(source, after, end)
        name = found["environment"] or found["name"]
        odd = "\\newcommandx names its arguments" if (found["new"] or "").endswith("commandx") else ""
    return _defined(source, found, Macro(name, arguments, "", place + at, odd), after, end)


def _defined(source: str, found: re.Match[str], macro: Macro, after: int, end: int) -> Definition:
    start, stop, after = group(source, after, end)
    body = _COMMENT.sub(r"\1", source[start:stop])
    if found["environment"]:
        begins = macro._replace(name=f"begin{{{macro.name}}}", body=body)
        start, stop, after = group(source, after, end)
        ends = macro._replace(name=f"end{{{macro.name}}}", arguments=(), body=_COMMENT.sub(r"\1", source[start:stop]))
        return Definition((begins, ends), after, always=True)
    if found["new"] == "DeclareMathOperator":
        body = f"\\operatorname{{{body}}}"
    always = not (found["new"] or "").lower().startswith("provide")
    return Definition((macro._replace(body=body),), after, always, everywhere=(found["def"] or "")[:1] in ("g", "x"))


def _counted(source: str, after: int, end: int) -> tuple[tuple[str | None, ...], int]:
    """The arguments `[2][default]` of `\\newcommand`, and where reading goes on."""
    found = _COUNT.match(source, after, end)
    if found is None:
        return (), after
    arguments: list[str | None] = [None] * int(found["count"])
    default = bracket(source, found.end(), end)
    if default and arguments:
        arguments[0] = source[default[0] : default[1]]
    return tuple(arguments), default[2] if default else found.end()


def _specified(specification: str) -> tuple[tuple[str | None, ...], str]:
    """Arguments as `\\NewDocumentCommand` has them; why they are not read, if there are any but m and O."""
    arguments: list[str | None] = []
    at = 0
    while specification[at:].strip():
        found = _SPECIFIED.match(specification, at)
        if found is None:
            return (), f"its arguments are {{{specification.strip()}}}, of which only m and O{{}} are read"
        arguments.append(found["default"])
        at = found.end()
    return tuple(arguments), ""


def bracket(source: str, start: int, end: int) -> tuple[int, int, int] | None:
    """The inside of `[...]` that begins at `start`, and where reading goes on; braces in it are kept together."""
    at = start
    while at < end and source[at].isspace():
        at += 1
    if at >= end or source[at] != "[":
        return None
    depth, first = 0, at + 1
    for place in range(first, min(end, first + _LONGEST_OPTION)):
        depth += (source[place] == "{") - (source[place] == "}")
        if source[place] == "]" and depth <= 0:
            return first, place, place + 1
    return None


@final
class Macros:
    """The macros of a text, and what each use of them stands for."""

    def __init__(self) -> None:
        """Know none."""
        self._known: dict[str, Macro] = {}
        self._numbers: dict[tuple[str, str, str], Registered] = {}
        self.endless: set[str] = set()
        self._scopes: list[dict[str, Macro | None]] = []
        self.behind: dict[Span, Macro] = {}
        self.registered: dict[Span, list[Registered]] = {}
        self.uses: Counter[str] = Counter()

    def define(self, found: Definition, *, condition: str = "", own: bool = True) -> None:
        """Take a definition; a command that the reader knows keeps its meaning. `own`: it stands in the text itself."""
        for macro in found.macros:
            kept = macro.name in known.KEPT or known.is_citation(macro.name)
            if kept or (macro.name in known.ASIDE and (macro.arguments or not own)):
                continue
            if found.always or macro.name not in self._known:
                if self._scopes and not found.everywhere:
                    self._scopes[-1].setdefault(macro.name, self._known.get(macro.name))
                self._known[macro.name] = macro._replace(condition=condition)

    def open(self) -> None:
        """Begin a group: what is defined in it ends with it."""
        self._scopes.append({})

    def close(self) -> None:
        """End the group that was begun last, if there is one."""
        for name, before in self._scopes.pop().items() if self._scopes else ():
            if before is None:
                self._known.pop(name, None)
            else:
                self._known[name] = before

    def learn_numbers(self, text: str) -> None:
        """Take the numbers of a file that `assay report` writes."""
        for found in _NUMBER.finditer(text):
            number = Registered(found["experiment"], found["key"], found["text"])
            self._numbers[found["experiment"], found["tier"], found["key"]] = number

    def get(self, name: str) -> Macro | None:
        """The macro of this name that can be used; its `odd` says why it cannot be written out."""
        if name == "assay" and self._numbers:
            return Macro(name, ("", None, None), "", -1)
        return self._known.get(name)

    def used(self, name: str) -> Macro | None:
        """The macro of this name if it can be written out."""
        found = self.get(name)
        return found if found and not found.odd and name not in self.endless else None

    def written_out(self, source: Fragment, macro: Macro, at: int, after: int, end: int) -> tuple[Fragment, int]:
        """What a macro stands for, all macros in it written out, and where reading goes on.

        The command stands from `at` to `after`; its arguments follow.

        Raises:
            EndlessError: it does not come to an end.
            UnknownNumberError: it prints a registered number that is not known.
        """
        command = source.span(at, after)
        arguments, command, _, after = _arguments(macro, command, (Fragment(""), 0), (source, after, end))
        rest, done = self._substituted(macro, arguments, command), list[Fragment]()
        for _ in range(_MOST_STEPS):
            found = self._next(rest)
            if found is None:
                return Fragment.joined((*done, rest)), after
            if len(rest.text) > _LONGEST:
                break
            place, inner = found
            command = rest.span(place.start(), place.end())
            arguments, command, stop, after = _arguments(inner, command, (rest, place.end()), (source, after, end))
            written = self._substituted(inner, arguments, command)
            done.append(rest.part(0, place.start()))
            rest = Fragment.joined((written, rest.part(stop, len(rest.text))))
        self.endless.add(macro.name)
        raise EndlessError(macro.name)

    def _next(self, text: Fragment) -> tuple[re.Match[str], Macro] | None:
        """The next use of a macro; none behind a definition, which is read first."""
        for found in _COMMAND.finditer(text.text):
            macro = self.used(found["name"]) if found["name"] else None
            if macro:
                return found, macro
            if definition(text.text, found.start(), len(text.text)):
                return None
        return None

    def _substituted(self, macro: Macro, arguments: list[Fragment], use: Span) -> Fragment:
        if macro.name == "assay":
            return self._number(arguments, use)
        self.behind.setdefault(use, macro)
        self.uses[macro.name] += 1
        parts, last = [], 0
        for found in _PARAMETER.finditer(macro.body):
            parts.append(Fragment.behind(macro.body[last : found.start()], use))
            number = int(found["number"] or 0)
            parts += [Fragment.behind("#", use)] if not number else arguments[number - 1 : number]
            last = found.end()
        return Fragment.joined((*parts, Fragment.behind(macro.body[last:], use)))

    def _number(self, arguments: list[Fragment], use: Span) -> Fragment:
        tier, experiment, key = (" ".join(one.text.split()) for one in arguments)
        number = self._numbers.get((experiment, tier, key))
        if number is None:
            raise UnknownNumberError(f"{experiment} {key}" + (f" at tier {tier}" if tier else ""))
        self.registered.setdefault(use, []).append(number)
        return Fragment.behind(number.text, use)


def _arguments(
    macro: Macro, command: Span, rest: tuple[Fragment, int], source: tuple[Fragment, int, int]
) -> tuple[list[Fragment], Span, int, int]:
    """The arguments of a macro, from `rest` or else from the source behind it; where each of the two goes on.

    The second item is the span of the command with its arguments.
    """
    found: list[Fragment] = []
    (inside, at), (outside, after, end) = rest, source
    for default in macro.arguments:
        within = bool(inside.text[at:].strip())
        text, start, stop = (inside, at, len(inside.text)) if within else (outside, after, end)
        place = bracket(text.text, start, stop) if default is not None else group(text.text, start, stop)
        if place is None:
            found.append(Fragment.behind(default or "", command))
            continue
        found.append(text.part(*place[:2]))
        command = command[0], max(command[1], text.span(start, place[2])[1])
        at, after = (place[2], after) if within else (len(inside.text), place[2])
    return found, command, at, after
