"""Any executor drives cells: names, foreign executors, and what stopping leaves."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from assay.errors import ConfigError
from assay.runs.engines import Ended, ExecutorEngine, local, opened
from assay.runs.jobs import Job, Limits, address_of, encode
from tests.unit.runs import cell_functions as functions
from tests.unit.runs.test_processes import await_end, started
from tests.unit.runs.toy_repository import assay, assay_json, toy, write

ROOT = Path(__file__).resolve().parents[__name__.count(".")]


def jobs(function: Callable[..., Any], cells: Any, folder: Path) -> list[Job]:
    place = {"artifacts": str(folder), "folder": str(folder), "repository": str(ROOT)}
    return [
        Job(
            address_of(function),
            encode(cell),
            value=str(folder / f"{number}.json"),
            **place,
            imports=(str(ROOT),),
            limits=Limits(),
        )
        for number, cell in enumerate(cells)
    ]


@pytest.mark.parametrize(
    ("name", "scheduler", "words"),
    [
        ("dask", None, "--executor dask needs --scheduler ADDRESS"),
        ("local", "tcp://127.0.0.1:1", "say --executor dask with it"),
        ("dsk", None, "--executor dsk: known are local, dask, slurm-script, and MODULE:FACTORY"),
        ("no_such_module:pool", None, "No module named 'no_such_module'. Install what it needs"),
        ("concurrent.futures:Pool", None, "has no attribute 'Pool'"),
        ("builtins:dict", None, r"it made \{\}; wanted a concurrent.futures.Executor"),
    ],
)
def test_an_engine_that_cannot_be_had_is_refused(name: str, scheduler: str | None, words: str) -> None:
    with pytest.raises(ConfigError, match=words), opened(name, scheduler=scheduler, workers=1):
        pass


@pytest.mark.parametrize("name", ["local", "concurrent.futures:ThreadPoolExecutor"])
def test_a_named_engine_computes(name: str, tmp_path: Path) -> None:
    with opened(name, scheduler=None, workers=2) as engine:
        ended = list(engine.compute(jobs(functions.square, [2, 3], tmp_path), at_once=None))
    assert engine.name == name
    assert sorted((Path(one.job.value).stem, one.error) for one in ended) == [("0", None), ("1", None)]
    assert sorted(os.listdir(tmp_path)) == ["0.json", "1.json", "computed.log"]


class Reluctant(Executor):
    """An executor that gives up every call."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_a_call_that_an_executor_gives_up_is_a_failure_of_its_cell(tmp_path: Path) -> None:
    engine = ExecutorEngine(Reluctant(), name="reluctant")
    (ended,) = engine.compute(jobs(functions.square, [2], tmp_path), at_once=1)
    assert str(ended.error) == "the executor gave it up"


@pytest.mark.parametrize("elsewhere", [False, True])
def test_stopping_ends_what_runs_and_starts_nothing_more(elsewhere: bool, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        engine = ExecutorEngine(pool, name="threads", elsewhere=elsewhere)
        computing = engine.compute(
            [*jobs(functions.constant, [0], tmp_path), *jobs(functions.sleeps, [1.0, 600.0, 600.0], tmp_path)[1:]],
            at_once=2,
        )
        assert isinstance(next(computing), Ended)
        child = started(tmp_path)
        computing.close()
        await_end(child)
    assert sorted(os.listdir(tmp_path)) == ["0.json", "started.log"]


def test_local_processes_are_as_many_as_asked(tmp_path: Path) -> None:
    with local(3) as engine:
        assert isinstance(engine, ExecutorEngine)
        assert not engine.elsewhere
        assert [one.error for one in engine.compute(jobs(functions.constant, range(4), tmp_path), at_once=3)] == [
            None
        ] * 4


POOL = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

def pool():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
"""


def test_a_pool_of_ones_own_drives_a_run(tmp_path: Path) -> None:
    root = write(toy(tmp_path), {"my_cluster.py": POOL})
    pooled = assay_json(root, "run", "toy.sums", "--tier", "tiny", "--executor", "my_cluster:pool")
    assert pooled["numbers"] == assay_json(root, "run", "toy.sums", "--tier", "tiny")["numbers"]
    (root / "die").touch()
    done = assay(root, "run", "toy.sums", "--tier", "tiny", "--set", "cells=3", "--executor", "my_cluster:pool")
    assert done.returncode == 1
    assert "1 of 3 cells of draw failed:" in done.stderr
    assert "its process died without a word (exit code 9)" in done.stderr
    assert "The other 2 are kept" in done.stderr


def test_limits_are_options_of_the_command(tmp_path: Path) -> None:
    root = toy(tmp_path)
    slow = ("run", "toy.sums", "--tier", "tiny", "--set", "pause=60.0")
    done = assay(root, *slow, "--cell-time-limit", "1")
    assert done.returncode == 1
    assert "Draw(seed=7, place=0, pause=60.0): ended: it ran longer than its time limit of 1 s." in done.stderr
    assert assay(root, *slow, "--cell-time-limit", "0").returncode == 2
    assert "more than its memory limit of 2 MB" in assay(root, *slow, "--cell-memory-limit", "2").stderr
