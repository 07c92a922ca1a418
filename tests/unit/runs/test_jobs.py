"""A cell and a job as JSON: what comes back is what went, and what could not come back is refused."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from assay.errors import RecordError
from assay.runs.artifacts import ArtifactArray
from assay.runs.jobs import Job, Limits, address_of, decode, encode, found
from tests.unit.runs.cell_functions import Cell, Nested, Side, WithArray, square


class Pair(NamedTuple):
    donor: str
    recipient: str


class Odd(tuple[int, ...]):
    pass


@dataclass(frozen=True, slots=True)
class Derived:
    place: int
    double: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "double", self.place * 2)


class Outer:
    @dataclass(frozen=True)
    class Inner:
        place: float


@pytest.mark.parametrize(
    "cell",
    [
        None,
        True,
        3,
        -0.0,
        0.1,
        1e300,
        math.inf,
        -math.inf,
        "words, \n é",
        "NaN",
        (1, (2.0, "a"), ()),
        Side.LEFT,
        Cell(1),
        Nested(Cell(1, "b"), layers=()),
        Pair("a", "b"),
        Derived(4),
        Outer.Inner(0.5),
        WithArray(ArtifactArray("a" * 64, (2, 3), "float32", "somewhere")),
    ],
    ids=repr,
)
def test_a_cell_comes_back_as_it_went(cell: Any) -> None:
    again = decode(json.loads(json.dumps(encode(cell), allow_nan=False)))
    assert again == cell
    assert type(again) is type(cell)
    assert repr(again) == repr(cell)


def test_nan_and_a_float_of_numpy_come_back_as_python_floats() -> None:
    assert math.isnan(decode(encode(math.nan)))
    assert [type(decode(encode(value))) for value in (np.float64(0.1),)] == [float]


def test_a_type_that_no_new_process_can_make_is_refused() -> None:
    @dataclass(frozen=True)
    class Local:
        place: int

    for cell in (Local(1), Odd((1, 2))):
        with pytest.raises(RecordError, match=r"cannot be made by a new process\. Define the type at the top level"):
            encode(cell)
    with pytest.raises(RecordError, match="cannot be sent to a process of its own"):
        encode([1])


def test_a_job_is_one_line() -> None:
    job = Job(
        "m:f", encode(Cell(1)), "v", "a", "f", "r", ("x", "y"), Limits(1.5, None), ("m",), "3.11", {"numpy": "2"}, "w"
    )
    assert "\n" not in job.to_json()
    assert Job.from_json(job.to_json()) == job
    assert found(address_of(square)) is square


def test_limits_are_positive_numbers_and_can_be_replaced() -> None:
    assert Limits(1, 2.5).checked() == (1, 2.5)
    assert Limits(1, 2).replaced_by(Limits(None, 3)) == (1, 3)
    for limit in (0, -1, math.nan, math.inf, True, "1"):
        with pytest.raises(RecordError, match=r"memory_limit_mb=.*wanted a positive number"):
            Limits(None, limit).checked()  # type: ignore[arg-type]
