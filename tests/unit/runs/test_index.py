"""The index is a function of the events alone."""

from __future__ import annotations

import json
import random
from pathlib import Path

from assay.runs.index import index_bytes, write_attributes
from assay.runs.registry import Record
from tests.unit.runs.completed_run import complete, start


def test_lines_do_not_depend_on_the_order_of_reading(tmp_path: Path) -> None:
    record = Record(tmp_path)
    for name in ("merging.b", "merging.a", "merging.a"):
        complete(record, name)
    start(record, "merging.c")
    intact, damaged = record.read_all()
    first = index_bytes(intact, damaged)
    for seed in range(5):
        random.Random(seed).shuffle(intact)
        assert index_bytes(intact, damaged) == first
    lines = [json.loads(line) for line in first.splitlines()]
    assert [line["run_id"] for line in lines] == sorted(line["run_id"] for line in lines)
    assert [line["status"] for line in lines] == ["completed"] * 3 + ["running"]
    assert lines[0]["started"] < lines[0]["ended"]
    assert lines[3]["ended"] is None
    assert all(len(line["events"]) == 2 for line in lines[:3])


def test_said_about_a_run_is_not_its_status(tmp_path: Path) -> None:
    record = Record(tmp_path)
    run_id = complete(record)
    record.register(run_id, why="the first")
    record.append("frozen", "merging", digest="ab")
    lines = {line["run_id"]: line for line in map(json.loads, index_bytes(*record.read_all()).splitlines())}
    assert (lines[run_id]["status"], lines[run_id]["standing"]) == ("completed", "registered")
    assert (lines["merging"]["status"], lines["merging"]["standing"]) == (None, "frozen")
    assert record.attempts() == (run_id,)


def test_attributes_are_written_once_and_then_the_users(tmp_path: Path) -> None:
    write_attributes(tmp_path)
    path = tmp_path / ".gitattributes"
    assert "registry/runs.jsonl -text merge=union" in path.read_text()
    path.write_text("mine\n")
    write_attributes(tmp_path)
    assert path.read_text() == "mine\n"
