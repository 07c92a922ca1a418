"""Waivers: somebody's word, on record, that what changed since a run touches none of its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import RecordError
from assay.runs.intended import examine
from assay.runs.manifest import RunStatus
from assay.runs.privacy import refuse_private
from assay.runs.stale import Reason
from assay.runs.storage import digest

if TYPE_CHECKING:
    from assay.runs.registry import Record


def waive(record: Record, run_id: str, *, why: str, repository: Path) -> tuple[Reason, ...]:
    """Put on record that the changes since a run touch no number of it, and return these changes.

    The waiver holds for exactly the code, data and upstream runs that are here now; the next change voids it. It names
    the digest of the source, of the whole state, and of configuration and data where the experiment could be imported.

    Raises:
        ConfigError: the reason tells whose machine this is, or a secret.
        RecordError: no reason is given, or nothing changed since the run.
        EvidenceError: the run did not complete, or was altered.
    """
    if not why.strip():
        raise RecordError(f"waive {run_id}: no reason was given. Say in one sentence why no number changes (--why).")
    refuse_private(f"waive {run_id}", {"--why": why})
    found = examine(record, run_id, repository)
    if not found.reasons:
        raise RecordError(f"waive {run_id}: nothing changed since the run, so there is nothing to waive.")
    record.append(
        RunStatus.WAIVED,
        run_id,
        why=why.strip(),
        source=digest(dict(found.standing.modules)),
        state=found.standing.state,
        inputs=found.inputs,
        changes=[str(reason) for reason in found.reasons],
    )
    return found.reasons
