"""The report of a study in Markdown, for a repository's own pages and for pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.ledger.table import escape
from assay.ledger.text import GENERATED
from assay.report.claims import Part, ReportedClaim
from assay.report.digits import duration, size
from assay.report.study import ReportedRun, Study
from assay.report.summary import attention, evidence_in_words, unsettled_claims, verdict_in_words


def figure_path(run: ReportedRun, file: str) -> str:
    """Where a report keeps the file of a figure, relative to itself."""
    return f"figures/{run.name}/{file}"


def markdown(study: Study, figures: Iterable[tuple[ReportedRun, str, str]]) -> str:
    """The report; ``figures`` are run, file name and alternative text of each figure, which stand before the claims."""
    lines = [f"{GENERATED}: assay report {study.name}; do not edit -->", "", f"# {escape(study.name)}", ""]
    lines += [escape(study.question), ""] if study.question else []
    lines += [f"**{escape(verdict_in_words(study))}** {escape(evidence_in_words(study))}", ""]
    lines += _unsettled(study)
    for run, file, alt in figures:
        lines += [f"![{escape(alt)}]({figure_path(run, file)})", ""]
    for section, claims in study.sections.items():
        lines += [f"## {escape(section) or 'Claims'}", ""]
        lines += [line for claim in claims for line in _claim(claim)]
    lines += _runs(study)
    return "\n".join(lines)


def _unsettled(study: Study) -> list[str]:
    found = [f"- **{one.verdict}** {one.id}: {escape(one.note)}" for one in unsettled_claims(study)]
    found += [f"- **{one.state}** `{one.what}`: {escape(one.why)}" for one in attention(study)]
    return ["## What is stale, pending or failed", "", *found, ""] if found else []


def _claim(claim: ReportedClaim) -> Iterator[str]:
    yield f"**{claim.id}** {claim.verdict}: {''.join(map(_part, claim.parts))}"
    yield ""
    if claim.numbers:
        yield "| printed | registered | key |"
        yield "| --- | --- | --- |"
        for number in claim.numbers:
            differs = "" if number.holds else " **differs**"
            yield f"| {escape(number.printed.text)} | {escape(number.closer or '-')}{differs} | `{number.key}` |"
        yield ""


def _part(part: Part) -> str:
    if part.constant:
        return f"*{escape(part.text)}*"
    return f"**{escape(part.text)}**" if part.key else escape(part.text)


def _runs(study: Study) -> list[str]:
    lines = ["## Runs", "", "| run | tier | kind | commit | took | peak memory | why it speaks |", "| --- " * 7 + "|"]
    for run in study.runs:
        manifest, commit = run.manifest, (run.manifest.commit or "none")[:12]
        took, memory = duration(manifest.duration_seconds), size(manifest.peak_memory_bytes)
        cells = (f"`{run.run_id}`", run.registration.tier, manifest.kind, f"`{commit}`", took, memory)
        lines.append(f"| {' | '.join((*cells, escape(run.registration.why)))} |")
    return [*lines, ""] if study.runs else ["## Runs", "", "No run is registered.", ""]
