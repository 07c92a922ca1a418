"""What a study froze before it looked, and for each confirmatory run whether the freeze came first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, final

from assay.errors import RecordError
from assay.runs.freeze import Freeze, freezes, study_of
from assay.runs.freeze_status import UNREADABLE, OrderedRun, confirmatory_runs, stands
from assay.runs.privacy import scrub
from assay.runs.registry import Record

MEANING = (
    "A freeze fixes the text of a preregistration and the confirmatory configurations. A hash proves content, not "
    "time: that the text is the one that was frozen, not when. The order is read from the commits; no date is asked."
)
"""What a freeze shows and what it does not, as every report says beside one."""
NONE = "Nothing was frozen: the study has no preregistration on record and no confirmatory run."
"""What a report says where there is neither."""
NO_RUN = "No confirmatory run yet."
"""What a report says where there is a freeze alone."""


class ReportedFreeze(NamedTuple):
    """A freeze, and how it stands now."""

    freeze: Freeze
    stands: str

    @property
    def when(self) -> str:
        """When it was made, by the clock of who made it."""
        return f"{datetime.fromisoformat(self.freeze.at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


@final
@dataclass(frozen=True)
class Preregistered:
    """Freezes of a study and its confirmatory runs with their order; ``problem`` says why they cannot be read."""

    study: str
    freezes: tuple[ReportedFreeze, ...] = ()
    runs: tuple[OrderedRun, ...] = ()
    problem: str = ""

    def __bool__(self) -> bool:
        """Whether there is anything to say."""
        return bool(self.freezes or self.runs or self.problem)

    def order(self, run_id: str) -> OrderedRun | None:
        """The verdict on a run; None when it is not confirmatory."""
        return next((run for run in self.runs if run.run_id == run_id), None)

    def document(self) -> dict[str, Any]:
        """The same for programs, in the words of ``assay freeze --status --json``."""
        made = [{**one.freeze.document(), "stands": one.stands} for one in self.freezes]
        return {"freezes": made, "order": [run._asdict() for run in self.runs], "problem": self.problem}


def read_preregistered(record: Record, repository: Path, experiments: Sequence[str]) -> Preregistered:
    """The freezes of the study that these experiments belong to, and the confirmatory runs of these experiments.

    A run whose record cannot be read is named where there are freezes: nobody can tell then that it was none.
    """
    study = study_of(experiments[0])
    try:
        known = freezes(record, study)
        made = tuple(ReportedFreeze(one, scrub(stands(one, known, repository), repository)) for one in known)
    except RecordError as error:
        return Preregistered(study, problem=scrub(str(error), repository))
    runs = tuple(
        _shown(run, record, repository)
        for run in confirmatory_runs(record, repository, study)
        if is_run_of(run.run_id, experiments) and (made or run.status != UNREADABLE)
    )
    return Preregistered(study, made, runs)


def is_run_of(run_id: str, experiments: Iterable[str]) -> bool:
    """Whether a run id is that of a run of one of these experiments."""
    return any(re.fullmatch(rf"{re.escape(name)}_[a-z]+_[0-9a-f]+(-r[0-9]+)?", run_id) for name in experiments)


def _shown(run: OrderedRun, record: Record, repository: Path) -> OrderedRun:
    """The run with what was said after its end (registered, superseded) in the place of its status."""
    standing = "" if run.status == UNREADABLE else record.standing(run.run_id)
    return run._replace(status=standing or run.status, reason=scrub(run.reason, repository))
