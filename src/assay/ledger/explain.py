"""What a failing claim says: printed, registered, run, and the texts that print the number as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from assay.ledger.citations import Citation
from assay.ledger.claim import Verdict
from assay.ledger.evidence import OpenedRun
from assay.ledger.judge import Judgement


def explain(judgement: Judgement, *, line_of: Callable[[int | None], int], citations: Sequence[Citation] = ()) -> str:
    """The whole explanation, uncut; `line_of` gives the line of the sentence's n-th brace, or of the sentence."""
    claim = judgement.claim
    places = [line_of(problem.binding) for problem in judgement.problems if problem.binding is not None]
    first = places[0] if places else line_of(None)
    lines = [f"{claim.id}  {judgement.verdict}  {claim.path}:{first}"]
    for problem in judgement.problems:
        at = line_of(problem.binding) if problem.binding is not None else first
        for label, text in problem.lines:
            here = f"   ({claim.path}:{at})" if label == "printed" and at != first else ""
            lines.append(_row(label, text + here))
    if judgement.verdict is Verdict.STALE:
        lines.append(_row("stale", judgement.note))
    if judgement.doubt:
        lines.append(_row("order", f"{judgement.order}: {judgement.doubt}"))
    if judgement.main is not None:
        lines.append(_row("run", describe(judgement.main)))
    for problem in judgement.problems:
        if problem.binding is not None and problem.verdict is Verdict.FAILS:
            text = claim.sentence.bindings[problem.binding].text
            lines += [
                _row("the text", f"{citation.place_of(text)} prints {text} as well")
                for citation in citations
                if citation.prints(text)
            ]
    if judgement.verdict is Verdict.FAILS:
        accept = f"correct the sentence, or --claims-accept {claim.id} writes the registered numbers"
        other = "correct the claim, or the text that cites it"
        if any(label == "order" for problem in judgement.problems for label, _ in problem.lines):
            other = "report it as exploratory, or freeze seeds and data that no run has seen, and run these"
        lines.append(_row("what to do", accept if judgement.corrections else other))
    return "\n".join(lines)


def describe(run: OpenedRun) -> str:
    """One line on a run: id, when it completed, and on which commit."""
    manifest = run.manifest
    when = (
        f"completed {datetime.fromisoformat(manifest.ended).astimezone(UTC):%Y-%m-%dT%H:%MZ}" if manifest.ended else ""
    )
    state = "dirty" if manifest.dirty else "clean"
    commit = f"commit {manifest.commit[:7]} ({state})" if manifest.commit else "no commit"
    return ", ".join(part for part in (run.run_id, when, commit) if part)


def _row(label: str, text: str) -> str:
    return f"    {label:<12}{text}"
