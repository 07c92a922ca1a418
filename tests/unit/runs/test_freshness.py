"""What counts as seen: data by anybody, a seed in its own study, and in another one only on data that both used."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import RecordError
from assay.runs.freshness import Use, fresh, reused, uses_on_disk
from assay.runs.registry import Record
from tests.unit.runs.completed_run import complete, manifest_of, start

ITEMS, WEIGHTS, OTHER = "1" * 64, "2" * 64, "3" * 64
PLANNED = manifest_of(
    "lab.coin", kind="confirmatory", seeds={"seed": 90, "draw_seed": 0}, data={"items": ITEMS, "weights": WEIGHTS}
)


def use(experiment: str, seeds: dict[str, int], data: dict[str, str], kind: str = "exploratory") -> Use:
    return Use(run_id="peek", experiment=experiment, kind=kind, commit=None, seeds=seeds, data=data)


@pytest.mark.parametrize(
    ("seen", "shared", "said"),
    [
        (use("lab.coin", {"seed": 90}, {}), (), "seed = 90 was used by the exploratory run peek (as seed)"),
        (use("lab.other", {"n": 90}, {}, "pilot"), (), "seed = 90 was used by the pilot run peek (as n)"),
        (use("field.coin", {"seed": 90}, {}), (), ""),
        (use("field.coin", {"seed": 90}, {"x": OTHER}), (), ""),
        (
            use("field.coin", {"seed": 1}, {"mine": ITEMS}),
            (),
            "data 'items' was used by the exploratory run peek (as 'mine', SHA-256 111111111111...)",
        ),
        (use("field.coin", {"seed": 1}, {"mine": ITEMS}), ("items",), ""),
        (use("field.coin", {"seed": 1}, {"w": WEIGHTS}), ("weights",), ""),
        (
            use("field.coin", {"n": 90}, {"w": WEIGHTS}),
            ("weights",),
            "seed = 90 was used by the exploratory run peek (as n, on the same data 'weights')",
        ),
        (use("field.coin", {"n": 90}, {"w": WEIGHTS}), ("weights", "seed"), ""),
        (use("labs.coin", {"seed": 90}, {}), (), ""),
    ],
)
def test_what_was_seen_is_told_with_run_seed_and_data(seen: Use, shared: tuple[str, ...], said: str) -> None:
    assert reused(PLANNED, shared, [use("far.off", {"seed": 90}, {"x": OTHER}), seen]) == said


def test_names_are_shared_by_pattern() -> None:
    assert fresh(["items 1", "items 2", "weights"], ["items *"]) == ["weights"]


def test_runs_of_other_studies_count_unless_they_are_confirmatory(tmp_path: Path) -> None:
    record = Record(tmp_path / "experiments")
    runs = {
        (experiment, kind): complete(record, experiment, kind=kind, config={"kind": kind})
        for experiment in ("lab.coin", "field.coin")
        for kind in ("exploratory", "pilot", "confirmatory")
    }
    assert {one.run_id for one in uses_on_disk(record, "lab")} == set(runs.values()) - {
        runs["field.coin", "confirmatory"]
    }


def test_a_run_of_another_study_whose_manifest_is_gone_is_an_error_and_no_run_less(tmp_path: Path) -> None:
    record = Record(tmp_path / "experiments")
    run_id = complete(record, "field.coin")
    record.manifest_path(run_id).unlink()
    with pytest.raises(RecordError, match=rf"run {run_id}: its manifest .* is missing and its events are there"):
        uses_on_disk(record, "lab")


def test_a_run_that_was_killed_as_it_started_is_told_apart(tmp_path: Path) -> None:
    record = Record(tmp_path / "experiments")
    run_id = start(record, "field.coin").run_id
    record.manifest_path(run_id).unlink()
    with pytest.raises(RecordError, match=r"killed as it started, it used nothing: remove \S+\.json$") as said:
        uses_on_disk(record, "lab")
    later = complete(record, "field.coin")
    assert later == f"{run_id}-r2"
    (record.root.parent / str(said.value).rpartition(" ")[2]).unlink()
    assert [event.event for event in record.events(later)] == ["running", "completed"]
    record.manifest_path(later).unlink()
    for path in record.event_folder.glob("*-field.coin_*"):
        path.unlink()
    assert uses_on_disk(record, "lab") == []
    done = complete(record, "field.coin")
    record.manifest_path(done).unlink()
    with pytest.raises(RecordError) as caught:
        uses_on_disk(record, "lab")
    assert "killed" not in str(caught.value)
