"""How the freezes of a study stand now, and every confirmatory run with the verdict on its order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assay.errors import RecordError
from assay.runs.freeze import CONFIRMATORY, Freeze, copy_problem, preregistration, study_of
from assay.runs.order import OrderVerdict, order_of
from assay.runs.registry import Record
from assay.runs.storage import read_bytes

UNREADABLE = "unreadable"
"""Status of a run whose manifest or events cannot be read."""


class OrderedRun(NamedTuple):
    """One confirmatory run, the verdict on its order, the freeze that counts (empty when none does), and why."""

    run_id: str
    status: str
    order: str
    freeze: str
    reason: str


def confirmatory_runs(record: Record, repository: Path, study: str | None = None) -> list[OrderedRun]:
    """Every confirmatory run, of one study if it is named; one whose record cannot be read is unprovable."""
    found = []
    for run_id in record.attempts():
        try:
            manifest = record.manifest(run_id)
            if manifest.kind != CONFIRMATORY or study not in (None, study_of(manifest.experiment)):
                continue
            status = str(record.status(run_id))
        except RecordError as error:
            if study in (None, study_of(run_id.partition("_")[0])):
                found.append(OrderedRun(run_id, UNREADABLE, OrderVerdict.UNPROVABLE, "", str(error)))
            continue
        order = order_of(manifest, repository)
        found.append(OrderedRun(run_id, status, order.verdict, order.freeze, order.reason))
    return found


def stands(one: Freeze, known: Sequence[Freeze], repository: Path) -> str:
    """Whether a freeze is in force, its copy is whole, its text is still that of the study, and who stamped it.

    ``known`` are all freezes of the study.
    """
    if problem := copy_problem(one, repository):
        return f"copy {problem} (git checkout -- {one.copy})"
    words = []
    if any(other.study == one.study and other.number > one.number for other in known):
        words.append("replaced")
    elif any(other.study == one.study and other.number == one.number and other != one for other in known):
        words.append("ambiguous: two freezes of one number")
    else:
        text = repository / preregistration(one.study)
        changed = not text.is_file() or read_bytes(text) != read_bytes(repository / one.copy)
        words.append(f"in force{', PREREGISTRATION.md changed since' if changed else ''}")
    from assay.runs.timestamp import stamp_of

    try:
        stamp = stamp_of(one, repository)
    except RecordError as error:
        return "; ".join((*words, str(error)))
    return "; ".join((*words, f"stamped {stamp.at:%Y-%m-%dT%H:%M:%SZ} by {stamp.authority}") if stamp else words)
