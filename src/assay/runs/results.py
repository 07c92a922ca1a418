"""Results of a completed run by key, each byte checked against its digest before it is believed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import EvidenceError, RecordError
from assay.runs.manifest import Manifest, RunStatus
from assay.runs.storage import NON_FINITE, digest, file_digest, parse_json, read_bytes, shown, temporaries
from assay.runs.tables import TYPES_FILE, parse_table, read_table, write_table
from assay.runs.values import Count, Value, decode, flatten

if TYPE_CHECKING:
    import pandas as pd

    from assay.runs.registry import Record

__all__ = ["Results", "open_results", "read_table", "summary_digests", "unverified_values", "write_table"]

SUMMARY_FILE = "summary.json"


def summary_digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a summary by its path within it; temporary files are not among them."""
    leftovers = set(temporaries(folder))
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path not in leftovers]
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in files}


class Results:
    """Numbers and tables of one completed run. Whatever it gives was on disk as the manifest says, or it raises."""

    def __init__(self, manifest: Manifest, folder: Path, values: Mapping[str, Value], types: Mapping[str, Any]) -> None:
        self.manifest = manifest
        self.run_id = manifest.run_id
        self._folder = folder
        self._values = dict(values)
        self._types = dict(types)

    def __repr__(self) -> str:
        return f"Results({self.run_id!r}, {len(self._values)} values, {len(self._types)} tables)"

    def keys(self) -> tuple[str, ...]:
        """Dotted keys of all values, sorted."""
        return tuple(sorted(self._values))

    def value(self, key: str) -> Value:
        """The value under ``key``, unrounded.

        Parts of a count and of an interval have keys of their own (``wins.count``, ``wins.of``, ``wins.missing``,
        ``wins.share``; ``effect.value``, ``effect.low``, ``effect.high``, ``effect.n``), and ``config.<field>`` reads
        the run's configuration. Values that are not finite are given as they are.

        Raises:
            EvidenceError: the run has no such key (reason "absent").
        """
        if key in self._values:
            return self._values[key]
        whole, _, part = key.rpartition(".")
        parent = self._values.get(whole)
        if parent is not None and not isinstance(parent, bool | int | float | str):
            names = ("count", "of", "missing", "share") if isinstance(parent, Count) else ("value", "low", "high", "n")
            if part in names:
                found: Value = getattr(parent, part)
                return found
        if key.startswith("config."):
            return decode(self.config(key.removeprefix("config.")), key)
        raise EvidenceError(f"{self.run_id} has no value {key!r}.{_nearest(key, self.keys())}", reason="absent")

    def config(self, path: str) -> Any:
        """Field of the run's resolved configuration by dotted path, as JSON holds it; non-finite floats as floats."""
        node: Any = self.manifest.config
        for part in path.split("."):
            if isinstance(node, list) and part.isdigit() and int(part) < len(node):
                node = node[int(part)]
            elif isinstance(node, Mapping) and part in node:
                node = node[part]
            else:
                known = tuple(node) if isinstance(node, Mapping) else ()
                raise EvidenceError(
                    f"{self.run_id}: its configuration has no field {path!r}.{_nearest(part, known)}", reason="absent"
                )
        return float(node) if isinstance(node, str) and node in NON_FINITE else node

    def tables(self) -> tuple[str, ...]:
        """Names of all tables, sorted."""
        return tuple(sorted(self._types))

    def table(self, name: str) -> pd.DataFrame:
        """The table ``name`` with the types and values that were recorded.

        Raises:
            EvidenceError: no such table ("absent"), or its file was changed ("altered") or cannot be read.
        """
        if name not in self._types:
            raise EvidenceError(f"{self.run_id} has no table {name!r}.{_nearest(name, self.tables())}", reason="absent")
        data = _verified(self.manifest, self._folder, f"{name}.csv")
        try:
            return parse_table(data, self._types[name], shown(self._folder / f"{name}.csv"))
        except RecordError as cause:
            raise EvidenceError(str(cause), reason="unreadable") from cause

    def column_types(self, name: str) -> dict[str, str]:
        """Declared type (int64, float64, bool or string) of each column of the table ``name``, in order.

        Raises:
            EvidenceError: no such table (reason "absent").
        """
        if name not in self._types:
            raise EvidenceError(f"{self.run_id} has no table {name!r}.{_nearest(name, self.tables())}", reason="absent")
        return dict(self._types[name]["columns"])

    def file(self, name: str) -> Path:
        """A file of the summary by its path within it, such as ``figures/cka.svg``, checked against its digest."""
        _verified(self.manifest, self._folder, name)
        return self._folder / name


def _nearest(key: str, known: tuple[str, ...]) -> str:
    import difflib

    near = difflib.get_close_matches(key, known, n=3, cutoff=0.5)
    near = near or [name for name in known if difflib.get_close_matches(key, [name.rpartition(".")[2]])][:3]
    if near:
        return f" Did you mean {', '.join(near)}?"
    return f" It has {', '.join(sorted(known)[:8]) or 'none'}{', ...' if len(known) > 8 else ''}."


def _verified(manifest: Manifest, folder: Path, name: str) -> bytes:
    path = folder / name
    if name not in manifest.summary:
        raise EvidenceError(f"{shown(path)} is not part of {manifest.run_id}: its manifest lacks it.", reason="absent")
    if not path.is_file():
        raise EvidenceError(
            f"{shown(path)} is gone, the manifest of {manifest.run_id} lists it. Restore it from version control.",
            reason="absent",
        )
    try:
        data = read_bytes(path)
    except RecordError as cause:
        raise EvidenceError(str(cause), reason="unreadable") from cause
    if digest(data) != manifest.summary[name]:
        raise EvidenceError(
            f"{shown(path)} was altered after the run: SHA-256 {digest(data)[:12]}..., recorded is "
            f"{manifest.summary[name][:12]}.... Restore it (git checkout -- {shown(path)}), or run again.",
            reason="altered",
        )
    return data


def open_results(record: Record, run_id: str) -> Results:
    """Results of a completed run; its manifest is checked against its completed event, its files against the manifest.

    Raises:
        EvidenceError: with reason absent, unfinished, altered or unreadable.
    """
    try:
        manifest = _trusted_manifest(record, run_id)
    except RecordError as cause:
        raise EvidenceError(str(cause), reason="unreadable") from cause
    folder = record.summary_folder(run_id)
    content = {name: _verified(manifest, folder, name) for name in manifest.summary}
    try:
        parsed = {
            name: parse_json(content[name], shown(folder / name))
            for name in (SUMMARY_FILE, TYPES_FILE)
            if name in content
        }
        values = flatten(parsed.get(SUMMARY_FILE, {}))
    except RecordError as cause:
        raise EvidenceError(str(cause), reason="unreadable") from cause
    return Results(manifest, folder, values, parsed.get(TYPES_FILE, {}))


def _trusted_manifest(record: Record, run_id: str) -> Manifest:
    if not record.events(run_id):
        known = _nearest(run_id, record.attempts())
        raise EvidenceError(f"run {run_id!r} is not in {shown(record.root)}.{known}", reason="absent")
    status = record.status(run_id)
    if status is not RunStatus.COMPLETED:
        raise EvidenceError(
            f"{run_id} is {status}; the numbers of a run that did not complete are no evidence. Run it again.",
            reason="unfinished",
        )
    path = record.manifest_path(run_id)
    if not path.is_file():
        raise EvidenceError(f"{shown(path)} is gone. Restore it from version control.", reason="absent")
    data = read_bytes(path)
    completed = [event for event in record.events(run_id) if event.event is RunStatus.COMPLETED]
    if completed[-1].payload.get("manifest") != digest(data):
        raise EvidenceError(
            f"{shown(path)} was altered after the run: its completed event records another digest. "
            f"Restore it (git checkout -- {shown(path)}), or run again.",
            reason="altered",
        )
    manifest = Manifest.from_json(data, shown(path))
    if manifest.run_id != run_id or manifest.status is not RunStatus.COMPLETED:
        raise EvidenceError(f"{shown(path)} is of {manifest.run_id}, {manifest.status}. Restore it.", reason="altered")
    return manifest


def unverified_values(record: Record, run_id: str) -> dict[str, Value]:
    """Numbers of a run in whatever state, to look at; never evidence. Empty when it wrote none."""
    path = record.summary_folder(run_id) / SUMMARY_FILE
    if not path.is_file():
        return {}
    return flatten(parse_json(read_bytes(path), shown(path)))
