"""What an experiment holds while it runs: keys, tables, figures, other runs, and the size of a summary."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from assay.errors import EvidenceError, RecordError
from assay.runs.artifacts import store
from assay.runs.cells import CellStore
from assay.runs.engines import local
from assay.runs.recorder import LONGEST_WORD, SUMMARY_LIMIT, Run
from assay.runs.registry import Record
from assay.runs.results import Results, read_table
from assay.runs.values import Count
from assay.stats.estimate import Estimate
from tests.unit.runs.completed_run import complete

ROOT = Path(__file__).resolve().parents[__name__.count(".")]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """A record without runs."""
    return Record(tmp_path / "experiments")


@pytest.fixture
def run(tmp_path: Path, record: Record) -> Iterator[Run]:
    def registered(experiment: str, tier: str | None) -> Results:
        return record.results(record.registered(experiment, tier or "tiny").run_id)

    place = CellStore(tmp_path / "cells", (), tmp_path / "artifacts", ROOT, {})
    folder = tmp_path / "summary"
    with local(2) as engine:
        yield Run(None, run_id="x", folder=folder, place=place, engine=engine, upstream=registered, quiet=True)


def summary(run: Run) -> Any:
    run.save()
    return json.loads((run._folder / "summary.json").read_text())


def test_numbers_are_nested_by_their_dotted_keys(run: Run) -> None:
    run["wins.target"] = Count(14, of=20)
    run["wins.share"] = np.float64(0.7)
    run["delta"] = Estimate(0.5, 0.25, 0.75, 8)
    run["gone"] = math.nan
    run["word"] = "supported"
    run["yes"] = np.bool_(True)
    assert run["wins.share"] == 0.7
    assert summary(run) == {
        "wins": {"target": {"count": 14, "of": 20, "missing": 0}, "share": 0.7},
        "delta": {"value": 0.5, "low": 0.25, "high": 0.75, "n": 8},
        "gone": "NaN",
        "word": "supported",
        "yes": True,
    }


@pytest.mark.parametrize("key", ["a.b", "a", "a.b.c.d", "a.b.c"])
def test_a_key_is_set_once_and_never_inside_another(run: Run, key: str) -> None:
    run["a.b.c"] = 1
    with pytest.raises(RecordError, match=r"set a second time|collides with keys"):
        run[key] = 2
    run["a.b.d"] = 3
    assert summary(run) == {"a": {"b": {"c": 1, "d": 3}}}


def test_a_group_that_would_read_as_a_count_is_refused_where_it_is_set(run: Run) -> None:
    run["wins.count"] = 1
    run["wins.of"] = 2
    with pytest.raises(RecordError, match="would read as one Count or Estimate"):
        run["wins.missing"] = 0
    assert summary(run) == {"wins": {"count": 1, "of": 2}}


def test_a_whole_number_that_json_readers_refuse_is_refused(run: Run) -> None:
    run["large"] = 2**4095
    with pytest.raises(RecordError, match=r"big is a whole number of 4097 bits"):
        run["big"] = 2**4096
    assert summary(run) == {"large": 2**4095}


@pytest.mark.parametrize("rows", [[{"a": 1}], {"a": [1]}, None, pd.Series([1])])
def test_a_table_is_a_data_frame(run: Run, rows: Any) -> None:
    with pytest.raises(RecordError, match=r"table 't': a \w+ came; wanted a pandas DataFrame"):
        run.table("t", rows)


@pytest.mark.parametrize("key", ["", "a..b", "a b", ".a", "a/b", "ä", "config.seed", 3])
def test_a_malformed_key_is_refused(run: Run, key: Any) -> None:
    with pytest.raises(RecordError, match="key "):
        run[key] = 1


@pytest.mark.parametrize("value", [None, [1], {"a": 1}, np.arange(3), object(), 1j])
def test_a_value_of_another_type_is_refused_by_its_key(run: Run, value: Any) -> None:
    with pytest.raises(RecordError, match=r"wins\.target"):
        run["wins.target"] = value
    assert summary(run) == {}


def test_reading_a_number_that_is_not_set_is_an_error(run: Run) -> None:
    with pytest.raises(RecordError, match="is not set yet"):
        run["a"]


def test_a_table_keeps_its_types_and_writes_arrays_as_digests(run: Run, tmp_path: Path) -> None:
    handle = store(np.ones(2), tmp_path / "artifacts")
    frame = pd.DataFrame({"name": ["a", "b"], "value": [0.1, math.nan], "n": [1, 2], "rows": [handle, handle]})
    run.table("directions", frame)
    back = read_table(run._folder, "directions")
    assert back["rows"].tolist() == [handle.digest] * 2
    pd.testing.assert_frame_equal(back[["value", "n"]], frame[["value", "n"]])
    assert frame["rows"].iloc[0] is handle
    with pytest.raises(RecordError, match="table 'directions' is recorded a second time"):
        run.table("directions", frame)
    with pytest.raises(RecordError, match=r"table 'a\.b': a name is letters"):
        run.table("a.b", frame)


def figure() -> Figure:
    drawn = Figure(figsize=(3, 2))
    axes = drawn.subplots()
    axes.plot([1, 3, 2], label="curve")
    axes.fill_between([0, 1, 2], [0, 1, 0], [1, 2, 1], hatch="/")
    axes.legend()
    return drawn


def test_equal_figures_give_equal_bytes_without_a_date_or_a_version(run: Run) -> None:
    run.figure("first", figure())
    run.figure("second", figure())
    for kind in ("svg", "png"):
        first, second = ((run._folder / "figures" / f"{name}.{kind}").read_bytes() for name in ("first", "second"))
        assert first == second
        assert mpl.__version__.encode() not in first
        assert b"dc:date" not in first
    assert (run._folder / "figures" / "first.png").read_bytes()[16:24] == bytes(
        [0, 0, 1, 74, 0, 0, 0, 220]
    )  # 330 x 220
    with pytest.raises(RecordError, match="figure 'first' is recorded a second time"):
        run.figure("first", figure())


def test_names_that_one_folder_cannot_hold_everywhere_are_refused(run: Run) -> None:
    frame = pd.DataFrame({"n": [1]})
    run.table("pairs", frame)
    run.figure("Pairs", figure())
    with pytest.raises(RecordError, match=r"table 'PAIRS' differs from 'pairs' in capitals alone.*Choose another"):
        run.table("PAIRS", frame)
    with pytest.raises(RecordError, match="figure 'pairs' differs from 'Pairs' in capitals alone"):
        run.figure("pairs", figure())
    for name in ("CON", "nul", "Com1"):
        with pytest.raises(RecordError, match=f"table '{name}': no file can have this name on Windows"):
            run.table(name, frame)
    run["Ab"], run["ab"] = 1, 2
    run.save()
    assert summary(run) == {"Ab": 1, "ab": 2}


def files(run: Run) -> set[str]:
    return {path.relative_to(run._folder).as_posix() for path in run._folder.rglob("*") if path.is_file()}


def test_a_table_over_the_limit_is_refused_unless_it_says_so_and_before_it_is_written(run: Run) -> None:
    run["n"] = 1
    run.table("small", pd.DataFrame({"n": [1]}))
    frame = pd.DataFrame({"word": ["x" * 1000] * (SUMMARY_LIMIT // 1000 + 1)})
    with pytest.raises(
        RecordError, match=r"would have 1,00\d,\d+ bytes; allowed are 1,000,000.*or say large=True"
    ) as it:
        run.table("big", frame)
    assert "Largest: big.csv 1,002,006, tables.json " in str(it.value)
    assert files(run) == {"small.csv", "tables.json", "summary.json"}
    assert "big" not in (run._folder / "tables.json").read_text()


def test_numbers_over_the_limit_are_refused_and_the_last_that_fit_stay(run: Run) -> None:
    run["first"] = 1
    run.save()
    for place in range(30_000):
        run[f"k{place}.v"] = place / 7
    with pytest.raises(RecordError, match=r"Largest: summary\.json 1,\d+,\d+ \(summary\.json holds 30,001 numbers\)"):
        run.save()
    assert files(run) == {"summary.json"}
    assert json.loads((run._folder / "summary.json").read_text()) == {"first": 1}


def test_numbers_count_beside_tables_and_what_is_large_does_not(run: Run) -> None:
    run.table("big", pd.DataFrame({"word": ["x" * 1000] * 2000}), large=True)
    run.table("half", pd.DataFrame({"word": ["x" * 1000] * 600}))
    for place in range(45):
        run[f"word{place}"] = "y" * LONGEST_WORD
    with pytest.raises(RecordError, match=r"Largest: half\.csv 600,605, summary\.json 45\d,\d+, tables\.json"):
        run.save()


def test_a_figure_over_the_limit_is_refused_before_it_is_written(run: Run) -> None:
    run.table("almost", pd.DataFrame({"word": ["x" * 1000] * 990}))
    with pytest.raises(RecordError, match=r"figures/curve\.svg"):
        run.figure("curve", figure())
    assert files(run) == {"almost.csv", "tables.json", "summary.json"}


def test_a_very_long_word_is_refused(run: Run) -> None:
    run["word"] = "y" * LONGEST_WORD
    with pytest.raises(RecordError, match=r"run\['text'\]: a word of 2,000,000 characters came; at most 10,000") as it:
        run["text"] = "y" * 2_000_000
    assert len(str(it.value)) < 300


def test_a_large_table_that_says_so_is_written(run: Run) -> None:
    frame = pd.DataFrame({"word": ["x" * 1000] * (SUMMARY_LIMIT // 1000 + 1)})
    run.table("big", frame, large=True)
    run.table("small", frame.head(2))
    assert len(read_table(run._folder, "big")) == len(frame)


def test_upstream_runs_are_noted_once(run: Run, record: Record) -> None:
    tiny, small = (complete(record, "merging.train", tag=tag) for tag in ("tiny", "small"))
    for run_id in (tiny, small):
        record.register(run_id, why="the test")
    run.uses("merging.train")
    run.uses("merging.train", tier="tiny")
    run.uses("merging.train", tier="small")
    assert run.upstream_ids == [tiny, small]
    with pytest.raises(EvidenceError, match=r"merging\.other has no registered run"):
        run.uses("merging.other")
    assert len(run.upstream_ids) == 2


def test_progress_passes_everything_through_in_order(run: Run) -> None:
    assert list(run.progress((letter for letter in "abc"), "letters")) == ["a", "b", "c"]


def test_cells_need_at_least_one_process(run: Run) -> None:
    with pytest.raises(RecordError, match="workers=0; at least one process"):
        run.cells(figure, [1], workers=0)  # type: ignore[arg-type]
