"""Registered runs as an RO-Crate 1.1, profile Process Run Crate 0.5: files, what made them, from what, and when.

The crate keeps the record's own paths, so that it is also a record: `pytest claims/ --claims-root CRATE/experiments`
checks claims against it. Sources: https://w3id.org/ro/crate/1.1 and https://w3id.org/ro/wfrun/process/0.5. The document
is written here and not by a library because that would put random ids and the time of the export into it.
"""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.errors import ConfigError, EvidenceError
from assay.report.facts import facts
from assay.report.project import Project
from assay.runs.manifest import Manifest
from assay.runs.registration import registration_path
from assay.runs.registry import Record
from assay.runs.storage import file_digest, read_bytes, shown, write_durable

CRATE = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
METADATA = "ro-crate-metadata.json"
_TYPES = {".svg": "image/svg+xml", ".csv": "text/csv", ".json": "application/json", ".md": "text/markdown"}

Entity = dict[str, Any]


def write_crate(folder: Path, *, record: Record, experiments: Sequence[str], project: Project) -> list[str]:
    """Write a crate of the registered runs of these experiments into a new folder, and name its files.

    Raises:
        ConfigError: the folder is there already and not empty.
        EvidenceError: no run is registered, or one cannot be trusted.
        RecordError: a file cannot be read or written.
    """
    if is_occupied(folder):
        raise ConfigError(f"export ro-crate: {shown(folder)} is there already. Name a new folder.")
    runs = [record.registered(one.experiment, one.tier).run_id for one in record.registrations()]
    manifests = [record.results(run_id).manifest for run_id in runs]
    chosen = [manifest for manifest in manifests if manifest.experiment in experiments]
    if not chosen:
        raise EvidenceError(f"export ro-crate: no run of {', '.join(experiments)} is registered.", reason="absent")
    files = {manifest.run_id: _files(record, manifest) for manifest in chosen}
    document = crate(record, chosen, files, project)
    for path in dict.fromkeys(path for paths in files.values() for path in paths):
        write_durable(folder / _place(record, path), read_bytes(path))
    write_durable(folder / METADATA, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())
    return [METADATA, *(_place(record, path) for paths in files.values() for path in paths)]


def is_occupied(folder: Path) -> bool:
    """Whether something is there that a crate would be mixed with."""
    return folder.exists() and (folder.is_file() or any(folder.iterdir()))


def _files(record: Record, manifest: Manifest) -> list[Path]:
    """The files of a run in the record: its numbers, tables and figures, its manifest, its events, its registration."""
    summary = record.summary_folder(manifest.run_id)
    events = [event.path for event in record.events(manifest.run_id)]
    registration = registration_path(record, manifest.experiment, manifest.tag)
    return [
        *(summary / name for name in manifest.summary),
        record.manifest_path(manifest.run_id),
        *events,
        registration,
    ]


def _place(record: Record, path: Path) -> str:
    return f"experiments/{path.relative_to(record.root).as_posix()}"


def crate(record: Record, manifests: Sequence[Manifest], files: dict[str, list[Path]], project: Project) -> Entity:
    """The metadata document; equal evidence gives equal bytes."""
    graph: dict[str, Entity] = {}
    _add(graph, _descriptor(), *_root(manifests, files, record, project))
    for manifest in manifests:
        paths = files[manifest.run_id]
        _add(graph, *(_file(record, path) for path in paths), *_action(record, manifest, paths))
    context = [f"{CRATE}/context", {"sha256": "https://schema.org/sha256"}]
    return {"@context": context, "@graph": list(graph.values())}


def _add(graph: dict[str, Entity], *entities: Entity) -> None:
    for entity in entities:
        graph.setdefault(entity["@id"], entity)


def _descriptor() -> Entity:
    return {"@id": METADATA, "@type": "CreativeWork", "about": {"@id": "./"}, "conformsTo": {"@id": CRATE}}


def _root(
    manifests: Sequence[Manifest], files: dict[str, list[Path]], record: Record, project: Project
) -> Iterator[Entity]:
    licence = f"https://spdx.org/licenses/{project.licence}"
    authors = [{"@id": f"#author-{at}", **author} for at, author in enumerate(project.authors, start=1)]
    parts = dict.fromkeys(_place(record, path) for paths in files.values() for path in paths)
    names = sorted({manifest.experiment for manifest in manifests})
    yield {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{project.title}: registered runs of {', '.join(names)}",
        "description": project.description or f"Registered runs of {', '.join(names)}, with their numbers and figures.",
        "datePublished": max(manifest.ended or manifest.started for manifest in manifests),
        "license": {"@id": licence},
        "author": _references(author["@id"] for author in authors),
        "conformsTo": {"@id": PROFILE},
        "hasPart": _references(parts),
        "mentions": _references(f"#{manifest.run_id}" for manifest in manifests),
    }
    yield {"@id": licence, "@type": "CreativeWork", "name": project.licence}
    yield {"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    yield from authors


def _references(ids: Iterable[str]) -> list[dict[str, str]]:
    return [{"@id": one} for one in ids]


def _file(record: Record, path: Path) -> Entity:
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return {
        "@id": _place(record, path),
        "@type": "File",
        "name": path.name,
        "encodingFormat": kind,
        "contentSize": str(path.stat().st_size),
        "sha256": file_digest(path),
    }


def _action(record: Record, manifest: Manifest, paths: Sequence[Path]) -> Iterator[Entity]:
    """The run as an action: what it read, which code at which commit made it, and what it wrote."""
    name = f"#{manifest.run_id}"
    code = f"#{manifest.experiment}@{(manifest.commit or 'none')[:12]}"
    summary = record.summary_folder(manifest.run_id)
    settings = [
        {"@id": f"{name}/{key}", "@type": "PropertyValue", "name": key, "value": value}
        for key, value in facts(manifest.config).items()
    ]
    data = [
        {"@id": f"#sha256-{digest}", "@type": "CreativeWork", "name": key, "sha256": digest}
        for key, digest in manifest.data.items()
    ]
    upstream = [f"#{run_id}" for run_id in manifest.upstream]
    packages = [
        {"@id": f"#{package}-{version}", "@type": "SoftwareApplication", "name": package, "version": version}
        for package, version in {"Python": manifest.python, **manifest.packages}.items()
    ]
    yield {
        "@id": name,
        "@type": "CreateAction",
        "name": f"{manifest.experiment}, tier {manifest.tag}",
        "startTime": manifest.started,
        "endTime": manifest.ended,
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        "instrument": {"@id": code},
        "object": _references([*(entity["@id"] for entity in (*settings, *data)), *upstream]),
        "result": _references(_place(record, path) for path in paths if path.is_relative_to(summary)),
    }
    yield {
        "@id": code,
        "@type": "SoftwareSourceCode",
        "name": manifest.experiment,
        "version": manifest.commit or "",
        "identifier": f"sha256:{manifest.source_digest}",
        "softwareRequirements": _references(entity["@id"] for entity in packages),
    }
    yield from (*settings, *data, *packages)
