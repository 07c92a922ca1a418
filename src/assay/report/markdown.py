"""The report of a study in Markdown, for a repository's own pages and for pull requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.ledger.citations import GENERATED
from assay.ledger.table import escape, kind_in_words
from assay.report.claims import Part, ReportedClaim
from assay.report.digits import duration, size
from assay.report.facts import facts
from assay.report.preregistered import MEANING, NO_RUN, NONE, Preregistered, ReportedFreeze
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
    lines += _frozen(study.preregistered) if study.preregistered else []
    lines += [*_runs(study), *([] if study.preregistered else [NONE, ""])]
    return "\n".join(lines)


def _unsettled(study: Study) -> list[str]:
    found = [f"- **{one.verdict}** {one.id}: {escape(one.note)}" for one in unsettled_claims(study)]
    found += [f"- **{one.state}** `{one.what}`: {escape(one.why)}" for one in attention(study)]
    return ["## What is stale, pending, failed or in doubt", "", *found, ""] if found else []


def _claim(claim: ReportedClaim) -> Iterator[str]:
    order = f", {escape(claim.kind_in_words)}" if claim.order else ""
    yield f"**{claim.id}** {claim.verdict}{order}: {''.join(map(_part, claim.parts))}"
    yield ""
    if claim.note:
        yield f"*{escape(claim.note)}*"
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
    if not study.runs:
        return ["## Runs", "", "No run is registered.", ""]
    columns = ("run", "tier", "kind", "commit", "took", "peak memory", "since the run", "why it speaks")
    lines = ["## Runs", "", _line(columns), "| --- " * len(columns) + "|"]
    for run in study.runs:
        manifest, commit = run.manifest, (run.manifest.commit or "none")[:12]
        took, memory = duration(manifest.duration_seconds), size(manifest.peak_memory_bytes)
        cells = (f"`{run.run_id}`", run.registration.tier, _kind(study, run), f"`{commit}`", took, memory)
        lines.append(_line((*cells, _since(run), escape(run.registration.why))))
    return [*lines, ""]


def _kind(study: Study, run: ReportedRun) -> str:
    found = study.preregistered.order(run.run_id)
    return kind_in_words(run.manifest.kind, found.order if found else "", "")


def _since(run: ReportedRun) -> str:
    """How a run stands to the present code and data: changes with their waiver, and waivers that are void."""
    said = ["**stale**"] if run.standing.stale else []
    said += [escape(one) for one in (run.waived, *run.changes, *run.void) if one]
    return "<br>".join(said) or "unchanged"


def _frozen(preregistered: Preregistered) -> list[str]:
    """The freezes, each confirmatory run with its order, and what a hash proves."""
    lines = ["## Freezes and order", "", escape(preregistered.problem or MEANING), ""]
    for one in preregistered.freezes:
        lines += [*_freeze(one), ""]
    if not preregistered.runs:
        return [*lines, NO_RUN, ""]
    lines += [_line(("confirmatory run", "status", "order", "freeze", "why")), "| --- " * 5 + "|"]
    lines += [
        _line((f"`{run.run_id}`", run.status, f"**{run.order}**", run.freeze or "none", escape(run.reason)))
        for run in preregistered.runs
    ]
    return [*lines, ""]


def _freeze(one: ReportedFreeze) -> Iterator[str]:
    made = one.freeze
    yield f"**Freeze {made.number}**, {escape(one.stands)}: `{made.copy}`"
    yield ""
    yield f"- SHA-256 `{made.sha256}`, made on commit `{made.commit[:12]}`"
    yield f"- frozen at {one.when}, by its maker's clock"
    if made.shared:
        yield f"- shared with other runs: {escape(', '.join(made.shared))}"
    for each in made.configurations:
        settings = ", ".join(f"{name} {value}" for name, value in facts(each.config).items())
        named = f"{each.experiment}, tier {each.tag}, version {each.version}"
        yield f"- {escape(named)}, configuration `{each.config_hash[:12]}`: {escape(settings)}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
