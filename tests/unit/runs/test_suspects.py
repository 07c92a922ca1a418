"""Of two manifests, what differs is suspected in the order in which it moves numbers."""

from __future__ import annotations

from assay.runs.suspects import suspects
from tests.unit.runs.completed_run import manifest_of


def test_each_difference_is_named_the_likeliest_first() -> None:
    recorded = manifest_of(data={"file a.yaml": "1" * 64})
    rerun = manifest_of(
        data={"file a.yaml": "2" * 64},
        python="3.12.1",
        packages={"numpy": "2.4.7"},
        os="Darwin",
        cpu="another",
        threads=2,
        cores=8,
        accelerator="1 x GPU",
        determinism={"hash_randomization": False},
    )
    assert suspects(recorded, rerun, code=["experiments.a changed: function f changed"]) == (
        ("data", "file a.yaml changed"),
        ("code", "experiments.a changed: function f changed"),
        ("versions", "Python 3.11.7 -> 3.12.1, numpy 2.4.6 -> 2.4.7"),
        ("operating system", "os Linux -> Darwin"),
        ("accelerator", "accelerator None -> 1 x GPU"),
        ("CPU", "cpu a processor -> another"),
        ("threads", "threads 1 -> 2, cores 2 -> 8"),
        ("determinism", "hash_randomization True -> False"),
    )


def test_where_nothing_differs_the_experiment_is_suspected() -> None:
    (only,) = suspects(manifest_of(), manifest_of(), code=[])
    assert only.source == "the experiment"
    assert "without a seed" in only.detail
