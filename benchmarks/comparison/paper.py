"""The small paper that every tool reads: twelve sentences with a number each, and what the analysis measured.

Seven numbers are right. Three are wrong: a digit, the count of a share, an exponent. One was not finite, and one was
never measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, final

MEASURED: Final = {
    "sentences": 1012,
    "accuracy": 0.87412,
    "baseline": 0.72949,
    "wins": 13,
    "directions": 20,
    "gain": 0.14268,
    "gain_low": 0.11823,
    "gain_high": 0.16931,
    "p": 0.000118,
    "welsh": math.nan,
    "hours": 3.5702,
    "seeds": 5,
    "margin": -0.0397,
}
"""Unrounded numbers as the analysis leaves them; `perplexity`, which the paper prints, is not among them."""


@final
@dataclass(frozen=True, slots=True)
class Printed:
    """A number of the paper: its sentence with `{}` in its place, the number as printed, and the keys it comes from.

    `truth` is "right", "wrong" (another number was measured), "not finite" or "missing" (nothing was measured).
    `tex` is the number in LaTeX where that differs from `plain`, and `half` half a unit of its last printed digit.
    """

    name: str
    sentence: str
    plain: str
    keys: tuple[str, ...]
    truth: str
    form: str
    half: float
    tex: str = ""

    @property
    def in_latex(self) -> str:
        """The sentence as LaTeX."""
        return self.sentence.format(self.tex or self.plain)

    @property
    def in_words(self) -> str:
        """The sentence as plain text, and as Markdown."""
        return self.sentence.format(self.plain)


PAPER: Final = (
    Printed("P1", "We compare {} sentences of twelve help books.", "1,012", ("sentences",), "right", "thousands", 0.5),
    Printed(
        "P2",
        "The method reaches an accuracy of {} on them.",
        "87.4%",
        ("accuracy",),
        "right",
        "percent of a share",
        0.0005,
        r"87.4\,\%",
    ),
    Printed("P3", "The baseline reaches a share of {} on them.", "0.731", ("baseline",), "wrong", "decimal", 0.0005),
    Printed(
        "P4", "The method wins in {} directions of all.", "14/20", ("wins", "directions"), "wrong", "count of all", 0.0
    ),
    Printed("P5", "The mean gain of the method is {} in all.", "+0.143", ("gain",), "right", "signed decimal", 0.0005),
    Printed(
        "P6",
        "The interval of this mean gain is {} in all.",
        "[0.118, 0.169]",
        ("gain_low", "gain_high"),
        "right",
        "interval",
        0.0005,
    ),
    Printed(
        "P7",
        "A gain like this comes by chance with p = {} only.",
        "1.2 × 10^-3",
        ("p",),
        "wrong",
        "power of ten",
        5e-5,
        r"$1.2\times10^{-3}$",
    ),
    Printed("P8", "The loss of the method on Welsh is {} nats.", "2.31", ("welsh",), "not finite", "decimal", 0.005),
    Printed("P9", "The perplexity of the method is {} in all.", "9.87", ("perplexity",), "missing", "decimal", 0.005),
    Printed("P10", "One run of the method takes {} hours in all.", "3.6", ("hours",), "right", "decimal", 0.05),
    Printed("P11", "Each run of the method is repeated with {} seeds.", "5", ("seeds",), "right", "integer", 0.5),
    Printed(
        "P12",
        "The smallest margin over all books is {} in all.",
        "-0.04",
        ("margin",),
        "right",
        "negative",
        0.005,
        "$-0.04$",
    ),
)

MEASURED_AGAIN: Final = MEASURED | {"accuracy": 0.88012}
"""What a later run measures."""

RUN_AGAIN: Final = "a new run measures an accuracy of 0.88012; the paper still prints 87.4%"

NEW: Final = Printed("new", "The best margin over all books is {} in all.", "0.66", (), "missing", "decimal", 0.005)
"""A sentence that somebody adds later, with a number that nobody declared."""

EDITS: Final = {
    "two digits trade places: 87.4% becomes 84.7%": {"P2": "84.7%"},
    "two right numbers trade places: 5 hours, 3.6 seeds": {"P10": "5", "P11": "3.6"},
    "a sentence with a number is added: a best margin of 0.66": {"new": "0.66"},
}
"""Later edits of the paper alone: what changed, and the numbers it then prints, by sentence."""


def edited(changes: dict[str, str]) -> tuple[Printed, ...]:
    """The paper after such an edit."""
    paper = (*PAPER, NEW) if NEW.name in changes else PAPER
    return tuple(
        replace(one, plain=changes[one.name], tex=changes[one.name].replace("%", r"\,\%"))
        if one.name in changes
        else one
        for one in paper
    )


def latex(paper: Sequence[Printed], *, cited: bool = False) -> str:
    """The paper in LaTeX, a sentence a line; `cited` with the ids of claims, which are not printed."""
    cite = [f"\\claimref{{{one.name}}}" if cited and one.name != NEW.name else "" for one in paper]
    head = ["\\documentclass{article}", "\\newcommand{\\claimref}[1]{}"] if cited else ["\\documentclass{article}"]
    lines = [one.in_latex + citation for one, citation in zip(paper, cite, strict=True)]
    return "\n".join([*head, "\\begin{document}", "\\section{Results}", *lines, "\\end{document}", ""])


def words(paper: Sequence[Printed]) -> str:
    """The paper in Markdown for tools that read no LaTeX: a heading, then a sentence a paragraph."""
    return "\n\n".join(["# Results", *(one.in_words for one in paper), ""])
