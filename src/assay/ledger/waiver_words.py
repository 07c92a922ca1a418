"""What is said of the waivers of a run: the same words in claims, their table and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.runs.stale import Standing, Waiver


def waived_for(run_id: str, standing: Standing) -> str:
    """The waiver that covers what changed since the run, with its reason; empty when nothing changed or none does."""
    return f"waived for {run_id}: {standing.waiver.why}" if standing.reasons and standing.waiver else ""


def void_in_words(waiver: Waiver) -> str:
    """A waiver of a run that was given for another state of code and data than the present one."""
    return f"waiver void, given {waiver.at[:10]} for another state of code and data: {waiver.why}"
