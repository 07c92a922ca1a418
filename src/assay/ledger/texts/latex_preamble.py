"""What stands before the document, and in the styles beside it: definitions are learned, the rest prints nothing."""

from __future__ import annotations

import re
from typing import NamedTuple

from assay.ledger.texts import latex_commands as known
from assay.ledger.texts.formula import group
from assay.ledger.texts.fragment import Fragment
from assay.ledger.texts.latex_context import Context, generated
from assay.ledger.texts.latex_macros import bracket, definition
from assay.ledger.texts.passage import Setter

_STEP = re.compile(r"%[^\r\n]*|\\(?P<name>[A-Za-z@]+)\*?|\\[\s\S]")
_PACKAGES = ("usepackage", "RequirePackage", "documentclass", "LoadClass", "LoadClassWithOptions")
PRINTED = ("title", "subtitle", "abstract", "icmltitle")
"""Commands before the document of which the argument is printed in it."""

_EDGE = re.compile(
    r"\\(?:(?P<begin>begin\s*\{document\})|(?P<end>end\s*\{document\}|endinput(?![A-Za-z@]))|[\s\S])|%[^\r\n]*"
)


class Printed(NamedTuple):
    """A stretch of a preamble that is printed in the document."""

    command: str
    text: Fragment
    start: int
    end: int


def document(source: str) -> tuple[int, int]:
    """Where the document begins and ends in a file; the whole file without `\\begin{document}`."""
    edges = [found for found in _EDGE.finditer(source) if found["begin"] or found["end"]]
    start = next((found.end() for found in edges if found["begin"]), 0)
    return start, next((found.start() for found in edges if found["end"] and found.start() >= start), len(source))


def included(context: Context, text: Fragment, name: str, after: int, end: int) -> tuple[list[str], int]:
    """The arguments of a command that reads a file, macros in them written out, and where reading goes on."""
    source = text.text
    if name == "input" and not re.compile(r"\s*\{").match(source, after, end):
        bare = re.compile(r"\s*(?:\"([^\"\r\n]*)\"|([^\s{}\\%]*))").match(source, after, end)
        return ([bare[1] or bare[2] or ""], bare.end()) if bare else ([""], after)
    found = []
    for _ in range(known.INCLUDES[name]):
        inner, stop, after = group(source, after, end)
        found.append(source[inner:stop])
        command = re.search(r"\\([A-Za-z@]+)", found[-1])
        if command:
            at = inner + command.start()
            written = context.macro(text, command[1], (at, inner + command.end()), stop, results=False)
            if written:
                found[-1] = source[inner:at] + written[0].text + source[written[1] : stop]
    return found, after


def learn(context: Context, text: Fragment, start: int, end: int, setter: Setter, *, own: bool = True) -> list[Printed]:
    """Take the definitions of a preamble and of the files it reads, and set its lines aside unless they are of a style.

    Returns what of it is printed in the document.
    """
    printed = []
    at = start
    while found := _STEP.search(text.text, at, end):
        name, at = found["name"] or "", found.end()
        defined = definition(text.text, found.start(), end, place=text.span(0, 0)[0])
        if defined:
            context.define(defined, own=own)
            at = defined.end
        elif name in known.INCLUDES and own:
            arguments, at = included(context, text, name, at, end)
            with context.file(name, arguments, text.span(found.start(), at)[0]) as inner:
                if inner is not None:
                    printed += learn(context, inner, 0, len(inner.text), setter)
        elif name in _PACKAGES:
            option = bracket(text.text, at, end)
            inside, stop, at = group(text.text, option[2] if option else at, end)
            for style in context.packages(name, text.text[inside:stop], text.span(found.start(), at)[0]):
                learn(context, style, 0, len(style.text), setter, own=False)
        elif name in PRINTED and own:
            option = bracket(text.text, at, end)
            inside, stop, at = group(text.text, option[2] if option else at, end)
            printed.append(Printed(name, text, inside, stop))
        elif own:
            at = conditional(context, text.text, name, at)
    if own:
        _set_lines(text, start, end, setter, printed)
    return printed


def conditional(context: Context, source: str, name: str, at: int) -> int:
    """Keep count of the conditionals that are open; where reading goes on."""
    if name == "newif":
        new = re.compile(r"\s*\\[A-Za-z@]+").match(source, at)
        return new.end() if new else at
    if name.startswith("if") and not re.compile(r"\s*\{").match(source, at):
        context.conditions.append(f"\\{name}")
    elif name == "fi" and context.conditions:
        context.conditions.pop()
    return at


def _set_lines(text: Fragment, start: int, end: int, setter: Setter, printed: list[Printed]) -> None:
    spans = [(one.start, one.end) for one in printed if one.text is text]
    why = generated(text.text) or "preamble"
    for line in re.finditer(r"[^\r\n]+", text.text[start:end]):
        at, stop = line.start() + start, line.end() + start
        for inner, outer in spans:
            if inner < stop and at < outer:
                text.put(setter, text.text[at : max(at, inner)], at, max(at, inner), aside=why)
                at = min(stop, outer)
        text.put(setter, text.text[at:stop], at, stop, aside=why)
        setter.end()
