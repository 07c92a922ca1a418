"""The sentence of a claim: numbers stand in braces with the key of the result, and no number is loose.

    {wins.target: 14/20}      a result of the registered run, or a value bound by `evidence.bind`
    {config.sesoi: 0.25}      a field of the run's configuration
    {= 0.25}                  a constant of the protocol
    {{ and }}                 literal braces

A word that starts with a letter is a name, digits included (L0, SmolLM2-135M, FLORES-200, P@1); everything else with a
digit is a number and must stand in braces. So is a count or a percent that runs into a word, `yellow302/1000`: no name
looks so. Names with a space, and those that look so after all, are declared (ini option `claims_names`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from assay.errors import ClaimError
from assay.ledger.printed import Printed, parse

_BRACE = re.compile(r"\{(?:([^{}]*)\}|\{)?|\}\}?")
_KEY = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
# Decimal digits of any script, superscripts and subscripts, vulgar fractions, roman numerals, circled digits.
_DIGITS = r"\d\u00b2\u00b3\u00b9\u2070-\u2079\u2080-\u2089\u00bc-\u00be\u2150-\u218b\u2460-\u249b"
_ANY_DIGIT = re.compile(f"[{_DIGITS}]")
STUCK = r"(?<!\w)[^\W\d_](?:[\w.@-]*?[^\W\d_])?(?=[0-9]+(?:/[0-9]+(?![\w/]|[.,-]\w)|(?:\.[0-9]+)?%))"
"""A word into which a count (`yellow302/1000`) or a percent (`yellow30%`) runs, up to that number."""
_TOKEN = re.compile(
    rf"{STUCK}|(?P<name>(?![{_DIGITS}])[^\W_]\w*(?:[-.@]\w+)*)"
    rf"|(?P<number>[-+\u2212]?\.?[{_DIGITS}](?:[^\W_]|[{_DIGITS}.,/]|(?<=[eE])[-+])*%?)"
)
_SIGN_BEFORE = re.compile("(?:(?:^|[\\s(\\[])[-+\u2212]|(?:\u00b1|\\+-|\\+/-)\\s*)$")
_PERCENT_AFTER = re.compile(r"(?:\s|~|\\,)*\\?[%\u2030]|(?:\s|[-~*_]|\\,)+per\s*cent(?![^\W_])", re.IGNORECASE)
_GLUED = re.compile("[-+\u2212\u00b1]\\s*\\{|\\}(?:_|[^\\w{])*(?:[%\u2030]|per\\s*cent)", re.IGNORECASE)
_BOUND = "\0"  # stands for a brace where numbers are looked for
_NAMED = "\1"  # stands for a declared name


class Source(StrEnum):
    """Where the value behind a brace comes from."""

    RESULT = "result"
    CONFIG = "config"
    CONSTANT = "constant"


class Fault(NamedTuple):
    """Something wrong in a sentence, the offset in the docstring where it stands, and what to write instead."""

    offset: int
    message: str
    advice: str = ""

    def at(self, place: str = "") -> str:
        """The message with a place in it, and the advice behind."""
        return f"{self.message}{place}" + (f": {self.advice}" if self.advice else "")


class Binding(NamedTuple):
    """One brace: the key, the text printed in it, and the span of that text in the docstring."""

    key: str
    text: str
    source: Source
    printed: Printed | None
    start: int
    end: int


class Sentence(NamedTuple):
    """A checked sentence: as written with braces, as displayed without, and its bindings in order."""

    written: str
    display: str
    bindings: tuple[Binding, ...]

    @property
    def numbers(self) -> tuple[Binding, ...]:
        """Bindings that are compared: every one but the constants."""
        return tuple(binding for binding in self.bindings if binding.printed is not None)


class SentenceError(ClaimError):
    """Everything that is wrong with one sentence."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(fault.at() for fault in faults))
        self.faults = tuple(faults)


def read_sentence(written: str, *, names: Iterable[str] = ()) -> Sentence:
    """Read a docstring as the sentence of a claim; SentenceError lists all that is wrong with it."""
    faults: list[Fault] = []
    bindings: list[Binding] = []
    shown: list[str] = []
    outside: list[str] = []
    last = 0
    for found in _BRACE.finditer(written):
        between = written[last : found.start()]
        last = found.end()
        inside = found[1]
        text = found[0][0]
        if inside is None and len(found[0]) == 1:
            side = "opened and not closed" if text == "{" else "closed and not opened"
            faults.append(Fault(found.start(), f"unbalanced brace: {side}; a literal brace is doubled"))
        elif inside is not None:
            try:
                bindings.append(binding := _binding(inside, found.start(1)))
                text = binding.text
            except ClaimError as error:
                faults.append(Fault(found.start(), str(error)))
        shown += (between, text)
        outside.append(between)
    outside.append(written[last:])
    shown.append(outside[-1])
    display = " ".join("".join(shown).split())
    if not display:
        faults.append(Fault(0, "the sentence is empty"))
    if _ANY_DIGIT.search("".join(outside)):
        faults += _loose(written, names)
    if _GLUED.search(written):
        faults += [fault for binding in bindings for fault in _glued(binding, written)]
    if faults:
        raise SentenceError(sorted(faults))
    return Sentence(written, display, tuple(bindings))


def _binding(inside: str, start: int) -> Binding:
    stripped = inside.strip()
    if stripped.startswith("="):
        constant = " ".join(stripped[1:].split())
        if not constant:
            raise ClaimError("{=} holds no constant: write {= 0.25}")
        first = start + inside.index("=") + 1
        return Binding("", constant, Source.CONSTANT, None, first, start + len(inside))
    key, colon, text = inside.partition(":")
    name = key.strip()
    if not colon:
        raise ClaimError(
            f"{{{stripped}}} prints nothing: write {{key: printed}}, {{= constant}}, or double a literal brace"
        )
    if not name:
        raise ClaimError(f"{{{stripped}}} has an empty key: write {{key: printed}}, or {{= constant}}")
    if not _KEY.fullmatch(name):
        raise ClaimError(f"{name!r} is not a key: letters, digits, _ and - in parts joined by points")
    try:
        printed = parse(text)
    except ClaimError as error:
        raise ClaimError(f"{{{' '.join(stripped.split())}}}: {error}") from None
    source = Source.CONFIG if name.startswith("config.") else Source.RESULT
    lead = len(text) - len(text.lstrip())
    first = start + len(key) + 1 + lead
    return Binding(name, printed.text, source, printed, first, first + len(text.strip()))


def loose_numbers(text: str, *, names: Iterable[str] = ()) -> list[Fault]:
    """Numbers of a text without braces, each with its offset; digits inside a word are names."""
    return [
        Fault(found.start("number"), found["number"].rstrip(".,/"))
        for found in _TOKEN.finditer(_without_names(text, names))
        if found["number"]
    ]


def _without_names(text: str, names: Iterable[str]) -> str:
    for name in names:
        pattern = r"\s+".join(re.escape(word) for word in name.split())
        text = re.sub(rf"(?<!\w){pattern}(?!\w)", lambda found: _NAMED * len(found[0]), text)
    return text


def _loose(written: str, names: Iterable[str]) -> list[Fault]:
    """Numbers outside the braces, and words with digits that touch a closing brace."""
    masked = _BRACE.sub(lambda found: (" " if found[1] is None else _BOUND) * len(found[0]), written)
    masked = _without_names(masked, names)
    faults = []
    for found in _TOKEN.finditer(masked):
        glued = masked[found.start() - 1 : found.start()] == _BOUND and _ANY_DIGIT.search(found[0])
        if found["number"] or glued:
            number = found[0].rstrip(".,/")
            advice = "" if glued else f"write {{key: {number}}}, or {{= {number}}} for a constant of the protocol"
            faults.append(Fault(found.start(), f"unbound number {number}", advice))
    return faults


def _glued(binding: Binding, written: str) -> list[Fault]:
    """A sign or percent outside the braces changes what is displayed and not what is compared."""
    if binding.source is Source.CONSTANT:
        return []
    faults = []
    brace = f"{{{binding.key}: {binding.text}}}"
    opening = written.rindex("{", 0, binding.start)
    closing = written.index("}", binding.end)
    if _SIGN_BEFORE.search(written, 0, opening):
        faults.append(Fault(opening - 1, f"the sign before {brace} belongs inside the braces"))
    if _PERCENT_AFTER.match(written, closing + 1):
        faults.append(Fault(closing + 1, f"the percent after {brace} belongs inside the braces, as %"))
    return faults
