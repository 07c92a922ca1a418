"""The verdict on one claim: its numbers against the registered run, its body, its kind, and the texts that cite it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.errors import ClaimError, EvidenceError
from assay.ledger.citations import Citation, disagreement
from assay.ledger.claim import Claim, Kind, Verdict
from assay.ledger.evidence import Evidence, OpenedRun
from assay.ledger.footing import Footing
from assay.ledger.numeral import NotANumberError, exact, is_truth
from assay.ledger.printed import Form, Printed, matches, parse, shown
from assay.ledger.sentence import Binding


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why a claim does not hold: labelled lines, and the brace that it concerns."""

    verdict: Verdict
    lines: tuple[tuple[str, str], ...]
    note: str
    binding: int | None = None


@dataclass(slots=True)
class Judgement:
    """Everything that is said of one claim after its test.

    ``order`` is the verdict on the order of freeze and runs, ``doubt`` why it cannot be proven.
    """

    claim: Claim
    verdict: Verdict
    kind: str = ""
    tier: str = ""
    runs: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    note: str = ""
    registered: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()
    order: str = ""
    doubt: str = ""
    problems: list[Problem] = field(default_factory=list)
    main: OpenedRun | None = None
    corrections: dict[int, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether the claim makes the session fail, strictness aside."""
        return self.verdict in (Verdict.FAILS, Verdict.UNVERIFIED)


def pending(claim: Claim) -> Judgement:
    """A claim without evidence yet: never counted as holding."""
    return Judgement(claim, Verdict.PENDING, kind=Kind.PENDING, note=claim.mark.pending)


def without_evidence(why: str) -> Problem:
    """A problem that leaves a claim without evidence, in words."""
    return Problem(Verdict.UNVERIFIED, (("evidence", why),), why)


def unverified(claim: Claim, why: str) -> Judgement:
    """A claim whose test did not run to its end: nothing is skipped."""
    problem = without_evidence(why)
    return Judgement(claim, Verdict.UNVERIFIED, kind=claim.mark.kind or "", note=why, problems=[problem])


def judge(
    claim: Claim,
    evidence: Evidence,
    *,
    raised: BaseException | None = None,
    others: Sequence[Problem] = (),
    citations: Sequence[Citation] = (),
    names: Iterable[str] = (),
) -> Judgement:
    """Give the verdict on a claim whose test has run; `raised` is what its body raised, None when it returned.

    `others` are problems that the test met and did not raise, such as those of its subtests.
    """
    judgement = Judgement(claim, Verdict.HOLDS)
    refused = tuple(evidence.refused)  # before the braces ask
    _open(judgement, evidence)
    if others or raised is not None:
        _add(judgement, [*others, *([] if raised is None else [problem_of(raised)])])
    _numbers(judgement, evidence, stopped=bool(others) or raised is not None)
    if refused:
        _swallowed(judgement, refused)
    if not evidence.reads and not claim.mark.theorem and not judgement.problems:
        why = "the claim reads nothing from any run: bind a number to a key, or read evidence in its body"
        judgement.problems.append(without_evidence(why))
    for citation in citations:
        if found := disagreement(citation, claim.sentence.display, names=names):
            text = f"{found.place} {found.message}"
            judgement.problems.append(Problem(Verdict.FAILS, (("the text", text),), text))
    footing = evidence.footing()
    _provenance(judgement, evidence, footing)
    _order(judgement, evidence, footing)
    _conclude(judgement, footing)
    return judgement


def _open(judgement: Judgement, evidence: Evidence) -> None:
    """Open the registered run, and compare the kind that the claim says with the run's."""
    mark = judgement.claim.mark
    if mark.theorem and not judgement.claim.sentence.numbers and not evidence.reads:
        return  # carried by its proof, whatever run the file is about
    try:
        judgement.main = evidence.main()
    except EvidenceError as error:
        judgement.problems.append(_unverified(error))
        return
    if mark.kind not in (None, Kind.THEOREM):
        kind = judgement.main.manifest.kind if judgement.main else "of no registered run"
        if kind != mark.kind:
            why = f"the claim calls itself {mark.kind}, its run is {kind}"
            judgement.problems.append(Problem(Verdict.FAILS, (("kind", why),), why))


def _unverified(error: EvidenceError, binding: int | None = None, printed: str = "") -> Problem:
    lines = ((("printed", printed),) if printed else ()) + (("evidence", f"{error.reason}: {error}"),)
    return Problem(Verdict.UNVERIFIED, lines, f"{error.reason}: {error}", binding)


def problem_of(raised: BaseException, where: str = "the test") -> Problem:
    """What something that was raised says of a claim: evidence that is missing, or a failure."""
    if isinstance(raised, EvidenceError):
        return _unverified(raised)
    if isinstance(raised, ClaimError):
        return Problem(Verdict.FAILS, (("claim", str(raised)),), str(raised))
    asserted = isinstance(raised, AssertionError)
    said = "an assertion fails" if asserted else f"{where} raised {type(raised).__name__}"
    return Problem(Verdict.FAILS, (), said)


def _add(judgement: Judgement, problems: Iterable[Problem]) -> None:
    """Add problems; one that is said already is not said again."""
    for problem in problems:
        if all(problem.note not in earlier.note for earlier in judgement.problems):
            judgement.problems.append(problem)


def _swallowed(judgement: Judgement, refused: Iterable[EvidenceError]) -> None:
    """Evidence that the test asked for and did not get counts against the claim, whatever the test made of it."""
    for error in refused:
        if all(str(error).removesuffix(".") not in problem.note for problem in judgement.problems):
            found = _unverified(error)
            went_on = ("", "the body caught this error and went on without what it asked for")
            judgement.problems.append(replace(found, lines=(*found.lines, went_on)))


def _numbers(judgement: Judgement, evidence: Evidence, *, stopped: bool) -> None:
    """Compare each bound number; without a run nothing more can be said than that."""
    claim, main = judgement.claim, judgement.main
    if main is None and claim.run is not None:
        return
    registered, ties = [], []
    for at, binding in enumerate(claim.sentence.bindings):
        if binding.printed is None:
            continue
        if main and binding.key in evidence.bound and main.has(binding.key):
            why = f"evidence.bind({binding.key}=...) hides a key of {main.run_id}: choose another name"
            judgement.problems.append(Problem(Verdict.FAILS, (("claim", why),), why, at))
            continue
        try:
            value = evidence.read(binding.key)
        except EvidenceError as error:
            if not (stopped and error.reason == "absent" and "." not in binding.key):  # its bind was never reached
                judgement.problems.append(_unverified(error, at, binding.text))
            continue
        except ClaimError as error:
            if all(str(error) != problem.note for problem in judgement.problems):  # once, for whichever brace
                judgement.problems.append(Problem(Verdict.FAILS, (("claim", str(error)),), str(error), at))
            continue
        seen = _compare(judgement, at, binding, value)
        registered.append(seen)
        if seen.endswith(_TIE):
            ties.append(f"{binding.key} prints {binding.text}, registered {shown(value)}")
    judgement.registered, judgement.ties = tuple(registered), tuple(ties)


_TIE = " (tie)"


def _compare(judgement: Judgement, at: int, binding: Binding, value: Any) -> str:
    """Add a problem if the number does not match; return the registered value in the printed form."""
    printed: Printed | None = binding.printed
    if printed is None:
        return binding.text
    match = matches(printed, value)
    if match.holds:
        return match.registered_as_printed + (_TIE if match.tie else "")
    main = judgement.main
    origin = f"{main.manifest.experiment} -> {binding.key}" if main else binding.key
    seen = _signed(printed, match.registered_as_printed) + _unrounded(match.registered_as_printed, value)
    lines = [("printed", binding.text), ("registered", f"{seen}   {origin}")]
    if match.why and match.why != "the registered value does not round to the printed one":
        lines.append(("why", match.why))
    verdict = Verdict.FAILS if match.finite else Verdict.UNVERIFIED
    note = f"printed {binding.text}, registered {seen}"
    judgement.problems.append(Problem(verdict, tuple(lines), note, at))
    if match.finite and _keeps_form(printed, match.registered_as_printed, value):
        judgement.corrections[at] = match.registered_as_printed
    return match.registered_as_printed


def _signed(printed: Printed, text: str) -> str:
    """A positive number with its sign, where the printed one is negative: the sign is what differs."""
    alone = len(printed.numerals) == 1 and not printed.literals[0] and printed.numerals[0].sign == "-"
    return f"+{text}" if alone and re.fullmatch(r"[\d.,]*[1-9].*", text) else text


def _unrounded(text: str, value: Any) -> str:
    """The registered value in full, in parentheses, where its printed form hides digits."""
    full = shown(value)
    if is_truth(value) or full == text:
        return ""
    try:
        return "" if parse(text).numerals[0].value == exact(value) else f" ({full})"
    except (ClaimError, NotANumberError, IndexError):
        return f" ({full})"


def _keeps_form(printed: Printed, text: str, value: Any) -> bool:
    """Whether the registered value can be printed in the same form; a relation cannot, a sign may turn."""
    try:
        other = parse(text)
    except ClaimError:
        return False
    plain = (Form.INTEGER, Form.DECIMAL, Form.SIGNED, Form.THOUSANDS)
    same = other.form is printed.form or (other.form in plain and printed.form in plain)
    return same and printed.form is not Form.RELATION and matches(other, value).holds


def _provenance(judgement: Judgement, evidence: Evidence, footing: Footing) -> None:
    claim = judgement.claim
    judgement.runs, judgement.generators, judgement.tier = footing.runs, footing.experiments, footing.tier
    derived = [f"{name} (derived)" for name in evidence.bound]
    constants = [f"= {binding.text}" for binding in claim.sentence.bindings if binding.printed is None]
    judgement.keys = (*evidence.reads, *derived, *constants)
    judgement.kind = footing.kind or (claim.mark.kind or "")
    if claim.mark.theorem:
        judgement.kind = Kind.THEOREM
        judgement.generators = (claim.mark.theorem, *judgement.generators)


def _order(judgement: Judgement, evidence: Evidence, footing: Footing) -> None:
    """Say whether the freeze came before each confirmatory run; a claim that calls itself so reads no other run."""
    if judgement.claim.mark.kind is Kind.CONFIRMATORY and judgement.main is not None:
        others = [run for run in evidence.opened.values() if run.manifest.kind != Kind.CONFIRMATORY]
        for run in others if judgement.main not in others else ():
            why = f"the claim calls itself confirmatory, {run.run_id}, which it reads, is {run.manifest.kind}"
            judgement.problems.append(Problem(Verdict.FAILS, (("kind", why),), why))
    judgement.order, judgement.doubt = footing.order, footing.doubt
    for why in footing.violated:
        lines = (("order", f"violated: {why}"),)
        judgement.problems.append(Problem(Verdict.FAILS, lines, f"order violated: {why}"))


def _conclude(judgement: Judgement, footing: Footing) -> None:
    """The worst problem gives the verdict; without one, changed sources make it stale."""
    if judgement.problems:
        worsen(judgement)
    elif footing.stale:
        judgement.verdict, judgement.note = Verdict.STALE, footing.stale
    else:
        judgement.note = footing.waived


def worsen(judgement: Judgement, *more: Problem) -> None:
    """The verdict by the worst of the problems, those included that came up after it was given."""
    _add(judgement, more)
    fails = any(problem.verdict is Verdict.FAILS for problem in judgement.problems)
    judgement.verdict = Verdict.FAILS if fails else Verdict.UNVERIFIED
    judgement.note = "; ".join(dict.fromkeys(problem.note for problem in judgement.problems))
