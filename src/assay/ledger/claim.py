"""A claim: a sentence, its kind, and the verdict that the evidence gives it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from assay.errors import ClaimError
from assay.ledger.sentence import Sentence

_ID = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)*")
_OPTIONS = ("section", "pending", "theorem", "kind")


class Kind(StrEnum):
    """What stands behind a claim: the kind of its run, a proof, or nothing yet."""

    PILOT = "pilot"
    EXPLORATORY = "exploratory"
    CONFIRMATORY = "confirmatory"
    THEOREM = "theorem"
    PENDING = "pending"


class Verdict(StrEnum):
    """What the evidence says of a claim, worst first."""

    FAILS = "FAILS"
    UNVERIFIED = "UNVERIFIED"
    STALE = "STALE"
    PENDING = "PENDING"
    HOLDS = "HOLDS"

    @property
    def meaning(self) -> str:
        """One line for a reader of the table."""
        return _MEANING[self]


_MEANING = {
    Verdict.FAILS: "a printed number, a cited sentence or an assertion disagrees with the registered run",
    Verdict.UNVERIFIED: "evidence is absent, unfinished, altered, superseded, unreadable or not finite",
    Verdict.STALE: "everything matches, but source, configuration or data changed since the run",
    Verdict.PENDING: "no evidence is claimed yet, for the reason given",
    Verdict.HOLDS: "every printed number is what the registered run says, at the printed precision",
}


class ClaimMark(NamedTuple):
    """What `@pytest.mark.claim(...)` says."""

    id: str
    section: str = ""
    pending: str = ""
    theorem: str = ""
    kind: Kind | None = None


class RunMark(NamedTuple):
    """What `@pytest.mark.registered(...)` says: the experiment whose registered run the claim reads."""

    experiment: str
    tier: str | None = None


class Claim(NamedTuple):
    """A checked claim and where it stands; `path` is relative to the repository."""

    mark: ClaimMark
    sentence: Sentence
    run: RunMark | None
    path: str
    line: int
    qualname: str

    @property
    def id(self) -> str:
        """The name under which texts cite the claim."""
        return self.mark.id


def claim_mark(args: Sequence[Any], kwargs: Mapping[str, Any]) -> ClaimMark:
    """Check the arguments of a claim marker; ClaimError says which one is wrong."""
    if len(args) != 1 or not isinstance(args[0], str) or not _ID.fullmatch(args[0]):
        came = ", ".join(map(repr, args)) or "nothing"
        raise ClaimError(f'a claim has one id of letters A to Z and digits, as in pytest.mark.claim("M7"); {came} came')
    if unknown := sorted(set(kwargs) - set(_OPTIONS)):
        raise ClaimError(f"claim {args[0]}: unknown {', '.join(unknown)}; known are {', '.join(_OPTIONS)}")
    words = {name: value for name, value in kwargs.items() if value is not None}
    for name, value in words.items():
        if not isinstance(value, str) or not value.strip():
            raise ClaimError(f"claim {args[0]}: {name}={value!r} must be a text that is not empty")
    if "kind" in words:
        words["kind"] = _kind(args[0], words["kind"])
    if "pending" in words and "theorem" in words:
        raise ClaimError(f"claim {args[0]}: pending and theorem exclude each other")
    if words.get("kind") is Kind.THEOREM and "theorem" not in words:
        raise ClaimError(f'claim {args[0]}: a theorem names what carries it: theorem="tests/...::test_..."')
    return ClaimMark(args[0], **words)


def _kind(claim: str, word: str) -> Kind:
    try:
        return Kind(word)
    except ValueError:
        raise ClaimError(f"claim {claim}: kind={word!r} is not one of {', '.join(Kind)}") from None


def run_mark(args: Sequence[Any], kwargs: Mapping[str, Any]) -> RunMark:
    """Check the arguments of a `registered` marker; ClaimError says which one is wrong."""
    tier = kwargs.get("tier")
    example = 'pytest.mark.registered("merging.transport", tier="open")'
    if others := sorted(set(kwargs) - {"tier"}):
        raise ClaimError(f"registered takes no {', '.join(others)}; it is written {example}")
    if len(args) != 1 or not isinstance(args[0], str) or not args[0]:
        raise ClaimError(f"registered names one experiment, as in {example}")
    if tier is not None and not isinstance(tier, str):
        raise ClaimError(f"registered({args[0]!r}): tier={tier!r} must be a text")
    return RunMark(args[0], tier)


def natural(claim_id: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts M2 before M10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", claim_id)
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts)
