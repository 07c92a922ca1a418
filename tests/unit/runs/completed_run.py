"""Runs as the recorder leaves them, made directly: manifest, summary and events of one attempt."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.runs.manifest import Manifest, RunStatus, config_hash
from assay.runs.results import summary_digests
from assay.runs.storage import digest, readable_json, write_durable
from assay.runs.tables import write_table
from assay.runs.values import nest

if TYPE_CHECKING:
    from assay.runs.registry import Record

NUMBERS: dict[str, Any] = {"wins.target": 14, "effect.median": 0.0123, "supported": True}


@contextlib.contextmanager
def folder_in_memory() -> Iterator[Path]:
    """A folder where syncing takes no time, for tests of many files that are not about the disk."""
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


def manifest_of(experiment: str = "merging.transport", *, tag: str = "tiny", **fields: Any) -> Manifest:
    """A manifest with every field filled; ``fields`` replace some."""
    config = fields.pop("config", {"items": 8, "sesoi": 0.25})
    named = config_hash(config, {})
    given: dict[str, Any] = {
        "run_id": f"{experiment}_{tag}_{named[:12]}",
        "experiment": experiment,
        "version": 1,
        "tag": tag,
        "kind": "exploratory",
        "tier": tag,
        "config": config,
        "config_hash": named,
        "seeds": {"seed": 7},
        "data": {},
        "upstream": (),
        "commit": "1a2b3c4" + "0" * 33,
        "dirty": False,
        "diff_digest": None,
        "untracked": (),
        "source_digest": digest({}),
        "modules": {},
        "python": "3.11.7",
        "packages": {"numpy": "2.4.6"},
        "os": "Linux",
        "cpu": "a processor",
        "cores": 2,
        "threads": 1,
        "accelerator": None,
        "determinism": {"hash_randomization": True},
        "started": "2026-11-30T18:00:00+00:00",
        "summary": {},
    }
    return Manifest(**given | fields)


def start(record: Record, experiment: str = "merging.transport", **fields: Any) -> Manifest:
    """A run that has begun: its next attempt, its manifest and its running event."""
    manifest = manifest_of(experiment, **fields)
    manifest = replace(manifest, run_id=record.next_attempt(manifest.run_id))
    record.write_manifest(manifest)
    record.append(RunStatus.RUNNING, manifest.run_id)
    return manifest


def complete(
    record: Record,
    experiment: str = "merging.transport",
    *,
    numbers: Mapping[str, Any] | None = None,
    tables: Mapping[str, Any] | None = None,
    **fields: Any,
) -> str:
    """A run from its start to its completed event; returns its id."""
    manifest = start(record, experiment, **fields)
    folder = record.summary_folder(manifest.run_id)
    write_durable(folder / "summary.json", readable_json(nest(NUMBERS if numbers is None else numbers)))
    for name, frame in (tables or {}).items():
        write_table(folder, name, frame)
    ended = replace(
        manifest,
        ended="2026-11-30T18:04:00+00:00",
        duration_seconds=240.0,
        peak_memory_bytes=1_000_000,
        status=RunStatus.COMPLETED,
        summary=summary_digests(folder),
    )
    path = record.write_manifest(ended)
    record.append(RunStatus.COMPLETED, manifest.run_id, manifest=digest(path.read_bytes()))
    return manifest.run_id
