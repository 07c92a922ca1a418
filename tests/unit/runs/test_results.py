"""What is read was on disk as the manifest says, or the reader is told which file is not."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import EvidenceError
from assay.runs.registry import Record
from assay.runs.results import Results, summary_digests
from assay.runs.values import Count
from assay.stats.estimate import Estimate
from tests.unit.runs.completed_run import complete, folder_in_memory

NUMBERS = {
    "wins.target": Count(14, 20, 1),
    "effect": Estimate(0.0123, -0.01, 0.03, 20),
    "nothing": Estimate(math.nan, math.nan, math.nan, 0, reason="no items"),
    "infinite": math.inf,
    "missing": math.nan,
    "H2": "supported",
    "a.b.c": 3,
}
CONFIG = {"sesoi": 0.25, "layers": [{"width": 8}, {"width": 16}], "ceiling": "Infinity", "name": "x"}
FRAME = pd.DataFrame({"pair": ["a", ""], "delta": [0.1, math.nan], "n": [1, 2], "ok": [True, False]})


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record(tmp_path / "experiments")


@pytest.fixture
def results(record: Record) -> Results:
    return record.results(complete(record, numbers=NUMBERS, tables={"directions": FRAME}, config=CONFIG))


def reason(record: Record, run_id: str) -> tuple[str, str]:
    with pytest.raises(EvidenceError) as caught:
        record.results(run_id)
    return caught.value.reason, str(caught.value)


def test_values_by_key(results: Results) -> None:
    assert results.keys() == tuple(sorted(NUMBERS))
    assert results.value("wins.target") == Count(14, 20, 1)
    assert results.value("effect") == NUMBERS["effect"]
    assert results.value("infinite") == math.inf
    assert math.isnan(results.value("missing"))  # type: ignore[arg-type]
    assert results.value("H2") == "supported"
    assert results.value("a.b.c") == 3


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("wins.target.count", 14),
        ("wins.target.of", 20),
        ("wins.target.missing", 1),
        ("wins.target.share", 0.7),
        ("effect.value", 0.0123),
        ("effect.low", -0.01),
        ("effect.high", 0.03),
        ("effect.n", 20),
        ("config.sesoi", 0.25),
        ("config.layers.1.width", 16),
        ("config.ceiling", math.inf),
    ],
)
def test_parts_and_configuration_have_keys(results: Results, key: str, value: object) -> None:
    assert results.value(key) == value
    assert type(results.value(key)) is type(value)


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("wins.targt", "Did you mean wins.target?"),
        ("targte", "Did you mean wins.target?"),
        ("H2.low", "H2"),
        ("effect.count", "effect"),
        ("wins.target.low", "wins.target"),
        ("config.sesoy", "Did you mean sesoi?"),
        ("config.layers.2", "no field 'layers.2'"),
        ("", "It has"),
    ],
)
def test_a_key_that_is_not_there_is_absent(results: Results, key: str, hint: str) -> None:
    with pytest.raises(EvidenceError) as caught:
        results.value(key)
    assert caught.value.reason == "absent"
    assert hint in str(caught.value)


def test_tables(results: Results) -> None:
    assert results.tables() == ("directions",)
    pd.testing.assert_frame_equal(results.table("directions"), FRAME)
    with pytest.raises(EvidenceError, match="Did you mean directions") as caught:
        results.table("direction")
    assert caught.value.reason == "absent"


def test_files(results: Results) -> None:
    assert results.file("directions.csv").is_file()
    with pytest.raises(EvidenceError, match="its manifest lacks it"):
        results.file("../../registry/runs.jsonl")


@pytest.mark.parametrize("name", ["summary.json", "directions.csv", "tables.json"])
def test_an_edited_summary_is_altered(record: Record, results: Results, name: str) -> None:
    path = record.summary_folder(results.run_id) / name
    path.write_bytes(path.read_bytes().replace(b"2", b"3"))
    found, message = reason(record, results.run_id)
    assert found == "altered"
    assert f"{name} was altered after the run" in message
    path.unlink()
    found, message = reason(record, results.run_id)
    assert found == "absent"
    assert f"{name} is gone" in message


def test_a_table_that_changes_after_opening_is_seen(record: Record, results: Results) -> None:
    path = record.summary_folder(results.run_id) / "directions.csv"
    path.write_bytes(path.read_bytes().replace(b"0.1", b"0.2"))
    with pytest.raises(EvidenceError) as caught:
        results.table("directions")
    assert caught.value.reason == "altered"


def test_an_edited_manifest_is_altered_even_when_it_fits_the_summary(record: Record, results: Results) -> None:
    folder = record.summary_folder(results.run_id)
    path = record.manifest_path(results.run_id)
    before = summary_digests(folder)
    (folder / "summary.json").write_text('{"H2": "supported"}\n')
    after = summary_digests(folder)
    path.write_text(path.read_text().replace(before["summary.json"], after["summary.json"]))
    found, message = reason(record, results.run_id)
    assert found == "altered"
    assert f"manifests/{results.run_id}.json was altered" in message
    path.unlink()
    assert reason(record, results.run_id)[0] == "absent"


def test_an_unknown_run_is_absent_and_its_neighbour_named(record: Record, results: Results) -> None:
    found, message = reason(record, results.run_id + "-r2")
    assert found == "absent"
    assert f"Did you mean {results.run_id}?" in message


@pytest.mark.parametrize("event", ["failed", "interrupted", "running", "planned"])
def test_runs_that_did_not_complete_are_unfinished(record: Record, results: Results, event: str) -> None:
    record.append(event, results.run_id)
    assert reason(record, results.run_id)[0] == "unfinished"


def test_the_reason_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(EvidenceError("x is gone", reason="absent")))  # noqa: S301 - as xdist and pools do
    assert (str(error), error.reason) == ("x is gone", "absent")


@settings(max_examples=25)
@given(st.floats())
def test_every_float_comes_back_to_the_bit(number: float) -> None:
    with folder_in_memory() as folder:
        record = Record(folder)
        back = record.results(complete(record, numbers={"x": number})).value("x")
    assert isinstance(back, float)
    assert repr(back) == repr(number)
