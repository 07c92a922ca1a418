"""Cell functions of the tests, in a module that a new process imports quickly. Calls leave a line in computed.log."""

from __future__ import annotations

import enum
import math
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.runs.artifacts import ArtifactArray
from assay.runs.values import Count
from assay.stats.estimate import Estimate


class Side(enum.StrEnum):
    LEFT = "left"


@dataclass(frozen=True)
class Cell:
    place: int
    name: str = "a"
    side: Side = Side.LEFT


@dataclass(frozen=True)
class Nested:
    donor: Cell
    layers: tuple[int, ...] = (1, 2)


@dataclass
class Thawed:
    place: int


@dataclass(frozen=True)
class WithArray:
    rows: ArtifactArray
    inner: tuple[Side, ...] = field(default=(Side.LEFT,))


def called(cell: Any) -> None:
    with open("computed.log", "a") as log:
        log.write(f"{cell!r}\n")


def calls() -> list[str]:
    """What was called since the last look, in the current folder."""
    log = Path("computed.log")
    lines = log.read_text().split("\n")[:-1] if log.exists() else []
    log.unlink(missing_ok=True)
    return sorted(lines)


def square(cell: Any) -> dict[str, Any]:
    called(cell)
    return {"square": cell * cell}


def constant(cell: Any) -> dict[str, Any]:
    return {"value": 1.5}


def of_all_kinds(cell: int) -> dict[str, Any]:
    import numpy as np

    return {
        "float": np.float32(0.1),
        "nan": math.nan,
        "word": "NaN of course",
        "flag": np.bool_(cell == 1),
        "whole": np.int64(cell),
        "count": Count(1, 2),
        "estimate": Estimate(0.5, 0.1, 0.9, 7),
        "rows": np.arange(6, dtype=np.float32).reshape(2, 3) * cell,
    }


def fails_on_two(cell: int) -> dict[str, Any]:
    called(cell)
    if cell == 2:
        raise ValueError("two is too much")
    return {"value": cell}


def unfit(cell: str) -> Any:
    return {"list": {"bad": [1]}, "number": 3, "key": {"1": 2, 1: 3}, "clash": {"cell": 1}}[cell]


def environment(name: str) -> dict[str, Any]:
    return {"value": os.environ.get(name, "unset")}


def ends(how: str) -> dict[str, Any]:
    """One way of ending badly."""
    called(how)
    if how == "exit 9":
        os._exit(9)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "sys.exit":
        sys.exit("no more")
    if how == "raise":
        raise KeyError("where")
    return {"value": how}


def leaves_a_thread(seconds: float) -> dict[str, Any]:
    threading.Thread(target=time.sleep, args=(seconds,)).start()
    return {"value": "there"}


def sleeps(seconds: float) -> dict[str, Any]:
    """Note the process number, then sleep."""
    with open("started.log", "a") as log:
        log.write(f"{os.getpid()}\n")
    time.sleep(seconds)
    return {"value": seconds}


def starts_a_process(seconds: float) -> dict[str, Any]:
    """Note the number of a process of its own, then wait for it."""
    import subprocess

    with subprocess.Popen(["sleep", str(seconds)]) as sleeper, open("started.log", "a") as log:
        log.write(f"{sleeper.pid}\n")
        log.flush()
    return {"value": seconds}


def holds(megabytes: int) -> dict[str, Any]:
    block = bytearray(b"x" * (megabytes * 1_000_000))
    time.sleep(0.5)
    return {"bytes": len(block)}
