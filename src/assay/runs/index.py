"""The index: one line a run, computed from the events alone, so that it can be thrown away and made again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from assay.runs.events import Event, run_of
from assay.runs.manifest import STAGES, RunStatus
from assay.runs.storage import canonical_json, write_durable

_ATTRIBUTES = """\
# Digests are over bytes, so line ends stay as they are; the index of two branches is united, then made again.
registry/** -text
manifests/** -text
summaries/** -text
registered/** -text
registry/runs.jsonl -text merge=union
"""


def write_attributes(root: Path) -> None:
    """Tell git, once, how to keep a record: no conversion of line ends, and a union merge of the index."""
    path = root / ".gitattributes"
    if not path.exists():
        write_durable(path, _ATTRIBUTES.encode())


def index_bytes(intact: Iterable[Event], damaged: Iterable[Path]) -> bytes:
    """Lines of canonical JSON sorted by run id; a run with a damaged event is listed as unreadable."""
    runs: dict[str, list[Event]] = {}
    for event in intact:
        runs.setdefault(event.run_id, []).append(event)
    broken: dict[str, list[str]] = {}
    for path in damaged:
        broken.setdefault(run_of(path), []).append(path.name)
    lines = [canonical_json(_line(run, runs.get(run, []), broken.get(run, []))) for run in sorted(runs | broken)]
    return "".join(f"{line}\n" for line in lines).encode()


def _line(run_id: str, events: list[Event], damaged: list[str]) -> dict[str, Any]:
    events = sorted(events, key=lambda event: event.order)
    stages = [event for event in events if event.event in STAGES]
    said = [event.event for event in events if event.event not in (*STAGES, RunStatus.WAIVED)]
    ends = [event for event in stages if event.event not in (RunStatus.PLANNED, RunStatus.RUNNING)]
    return {
        "run_id": run_id,
        "status": "unreadable" if damaged else stages[-1].event if stages else None,
        "standing": said[-1] if said else None,
        "started": next((event.at for event in stages if event.event is RunStatus.RUNNING), None),
        "ended": ends[-1].at if ends else None,
        "events": [event.path.name for event in events],
        "damaged": sorted(damaged),
    }
