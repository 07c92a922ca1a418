"""The manifest is an allowlist: every field is there, of its type, and no other."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from assay.errors import RecordError
from assay.runs.manifest import Manifest, RunStatus, config_hash
from tests.unit.runs.completed_run import manifest_of

ALLOWED = """run_id experiment version tag kind tier config config_hash seeds data upstream commit dirty diff_digest
untracked source_digest modules python packages os cpu cores threads accelerator determinism started ended
duration_seconds peak_memory_bytes status summary"""


def test_the_fields_are_these_and_no_other() -> None:
    assert {field.name for field in fields(Manifest)} == set(ALLOWED.split())


@pytest.mark.parametrize(
    "manifest",
    [
        manifest_of(),
        manifest_of(commit=None, dirty=None, tier=None, accelerator="2 x a card"),
        manifest_of(dirty=True, diff_digest="ab", untracked=("a.py",), upstream=("x_tiny_0",), data={"text": "ab"}),
        replace(manifest_of(), status=RunStatus.FAILED, ended="2026-11-30T20:04:00+02:00", duration_seconds=1.5),
    ],
)
def test_round_trip(manifest: Manifest) -> None:
    assert Manifest.from_json(manifest.to_json(), "x") == manifest


def changed(**values: Any) -> bytes:
    return json.dumps(json.loads(manifest_of().to_json()) | values).encode()


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (changed(user="someone"), "unknown field 'user'"),
        (b'{"run_id": "x"}', "missing field 'commit'"),
        (changed(started="2026-11-30T18:00:00"), "started is '2026-11-30T18:00:00'; it is a time with its UTC offset"),
        (changed(ended="yesterday"), "ended is 'yesterday'"),
        (changed(status="registered"), "status is 'registered'"),
        (changed(status=["failed"]), "status is"),
        (changed(cores=True), "cores is True; it is a whole number"),
        (changed(summary={"a": 1}), "summary is"),
        (changed(duration_seconds="NaN"), "duration_seconds is 'NaN'"),
        (changed(seeds={"seed": "7"}), "seeds is"),
        (b"[]", "a manifest is a JSON object"),
        (b"{", "unreadable"),
    ],
)
def test_anything_else_is_refused_by_file_and_field(data: bytes, named: str) -> None:
    with pytest.raises(RecordError) as caught:
        Manifest.from_json(data, "manifests/x.json")
    assert named in str(caught.value)
    assert "manifests/x.json" in str(caught.value)


def test_the_hash_is_of_configuration_and_data() -> None:
    first = config_hash({"items": 8}, {"text": "ab"})
    assert first == config_hash({"items": 8}, {"text": "ab"})
    assert len({first, config_hash({"items": 9}, {"text": "ab"}), config_hash({"items": 8}, {"text": "ac"})}) == 3
