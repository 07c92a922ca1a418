"""Two runs side by side: what counts as different, and when a rerun reproduces a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from assay.runs.compare import Change, Outcome, close, diff, judge, relative, same
from assay.runs.registry import Record
from assay.runs.results import Results
from assay.runs.values import Count
from assay.stats.estimate import Estimate
from tests.unit.runs.completed_run import complete, folder_in_memory

MANIFEST: dict[str, Any] = {
    "config": {"seed": 1, "text": {"items": 8}},
    "modules": {"experiments.a.b": "0" * 64},
    "packages": {"numpy": "2.0"},
    "cpu": "x",
}
VALUES: dict[str, Any] = {
    "a": 0.5,
    "n": 3,
    "wins": Count(14, 20),
    "gone": math.nan,
    "word": "supported",
    "effect": Estimate(0.1, 0.05, 0.15, 8),
}
TABLE = pd.DataFrame({"name": ["x", "y"], "value": [1.0, math.nan]})


def rounds_to(form: str, value: Any) -> bool:
    number = value.value if isinstance(value, Estimate) else value
    return Decimal(repr(number)).quantize(Decimal(form)) == Decimal(form)


Given = Callable[..., Results]
Judged = Callable[..., Outcome]


@pytest.fixture(scope="module")
def given() -> Iterator[Given]:
    """Makes runs that completed with these values, table and fields of the manifest, and reads their results."""
    with folder_in_memory() as folder:
        record = Record(folder / "experiments")

        def results(values: Mapping[str, Any] = VALUES, table: pd.DataFrame = TABLE, **manifest: Any) -> Results:
            fields = MANIFEST | manifest
            return record.results(complete(record, numbers=values, tables={"rows": table}, **fields))

        yield results


@pytest.fixture(scope="module")
def outcome(given: Given) -> Judged:
    """Judges a rerun that differs from the run in some values, the table, or fields of the manifest."""
    old = given()

    def judged(
        changes: Mapping[str, Any],
        printed: Mapping[str, tuple[str, ...]] | None = None,
        *,
        table: pd.DataFrame = TABLE,
        manifest: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Outcome:
        new = given({**VALUES, **changes}, table, **(manifest or {}))
        return judge(old, new, printed=printed or {}, holds=rounds_to, **options)

    return judged


def test_equal_runs_have_no_difference(given: Given, outcome: Judged) -> None:
    found = diff(given(), given())
    assert (found.numbers, found.configuration, found.source, found.environment) == ((), (), (), ())
    assert (found.compared, found.largest) == (5 + 4 + 4, 0.0)
    assert outcome({}).reproduced
    assert outcome({}).identical


def test_every_kind_of_difference_is_named(given: Given) -> None:
    changed = TABLE.assign(value=[1.0, 2.0])
    new = given(
        {**VALUES, "a": 0.25, "extra": 1, "wins": Count(13, 20)},
        changed,
        config={"seed": 2, "text": {"items": 8}},
        packages={"numpy": "2.1"},
        modules={"experiments.a.b": "0" * 64, "experiments.a.c": "2" * 64},
    )
    found = diff(given(), new)
    assert found.numbers[:2] == (Change("a", 0.5, 0.25), Change("wins", Count(14, 20), Count(13, 20)))
    assert {change.where for change in found.numbers[2:]} == {"rows[1].value", "extra"}
    assert found.configuration == (Change("seed", 1, 2),)
    assert found.source == (Change("experiments.a.c", None, "2" * 64),)
    assert found.environment == (Change("package numpy", "2.0", "2.1"),)
    assert found.largest == 0.5


@pytest.mark.parametrize(
    ("changes", "reproduced"),
    [
        ({"a": 0.5 * (1 + 9e-5)}, True),
        ({"a": 0.5 * (1 + 1.2e-4)}, False),
        ({"a": math.nan}, False),
        ({"gone": 1.0}, False),
        ({"n": 4}, False),
        ({"n": 3.0}, True),
        ({"wins": Count(14, 21)}, False),
        ({"wins": Count(14, 20, 1)}, False),
        ({"word": "not supported"}, False),
        ({"effect": Estimate(0.1, 0.05, 0.16, 8)}, False),
        ({"effect": Estimate(0.1000001, 0.05, 0.15, 8)}, True),
        ({"new": 1}, False),
    ],
)
def test_floats_have_a_tolerance_and_nothing_else_has(
    changes: Mapping[str, Any], reproduced: bool, outcome: Judged
) -> None:
    found = outcome(changes)
    assert found.reproduced is reproduced
    assert reproduced or [change.where.split(".")[0] for change in found.drifted] == list(changes)


def test_a_printed_number_is_held_at_its_printed_precision_alone(outcome: Judged) -> None:
    assert outcome({"a": 0.5049}, {"a": ("0.50",)}).reproduced
    assert not outcome({"a": 0.5049}).reproduced
    strict = outcome({"a": 0.5049}, {"a": ("0.50", "0.500")})
    assert strict.drifted == (Change("a", "printed 0.500", 0.5049),)
    assert strict.printed == 1
    moved = {"effect": Estimate(0.1049, 0.05, 0.15, 8)}
    assert outcome(moved, {"effect": ("0.10",)}).reproduced
    assert outcome(moved, {"effect.value": ("0.10",)}).reproduced
    assert not outcome(moved, {"effect.low": ("0.05",)}).reproduced
    assert outcome({}, {"config.seed": ("1",)}).printed == 0


def test_what_a_claim_prints_of_another_run_is_no_measure(outcome: Judged) -> None:
    found = outcome({"a": 0.7}, {"a": ("0.7",)})
    assert found.drifted == (Change("a", 0.5, 0.7),)
    assert found.printed == 0
    assert outcome({"a": 0.7}, {"a": ("0.7", "0.5")}).drifted == (Change("a", "printed 0.5", 0.7),)


def test_table_cells_are_compared_and_lost_rows_drift(outcome: Judged) -> None:
    assert not outcome({}, table=TABLE.assign(value=[1.001, math.nan])).reproduced
    assert outcome({}, table=TABLE.assign(value=[1.001, math.nan]), tolerance=0.01).reproduced
    lost = outcome({}, table=TABLE.head(1))
    assert {change.where for change in lost.drifted} == {"rows[1].name", "rows[1].value"}


def test_an_outcome_names_versions_and_code_that_differ(outcome: Judged) -> None:
    found = outcome({"a": 0.500001}, manifest={"cpu": "y", "modules": {}})
    assert found.environment == (Change("cpu", "x", "y"),)
    assert found.source == (Change("experiments.a.b", "0" * 64, None),)
    assert not found.identical


@pytest.mark.parametrize(
    ("recorded", "now", "options", "near"),
    [
        (1e-12, 1e-10, {}, False),
        (1e-17, -3e-17, {}, False),
        (1e-300, 1e-300 * (1 + 9e-5), {}, True),
        (1e-300, 1e-300 * (1 + 2e-4), {}, False),
        (1e-12, 1e-10, {"absolute": 1e-9}, True),
        (1.0, 1.0 + 2e-4, {"absolute": 1e-9}, False),
        (0.0, 1e-9, {}, True),
        (-0.0, -1e-9, {}, True),
        (0.0, 1.1e-9, {}, False),
        (0.0, 1.1e-9, {"absolute": 1e-8}, True),
        (1e-12, 0.0, {}, False),
    ],
)
def test_what_is_near_is_relative_unless_exactly_0_was_recorded(
    recorded: float, now: float, options: Mapping[str, float], near: bool, given: Given
) -> None:
    assert close(recorded, now, tolerance=1e-4, **options) is near
    old, new = given({"p": recorded}), given({"p": now})
    assert judge(old, new, printed={}, holds=rounds_to, **options).reproduced is near


def test_a_relative_difference_is_one_beside_a_p_value_and_none_beside_an_exact_0() -> None:
    assert relative(1e-12, 1e-10) == pytest.approx(0.99)
    assert relative(0.0, 1e-12) == relative(0.0, 0.0) == 0.0
    assert relative(0.0, 1e-3) == relative(1e-3, 0.0) == 1.0
    assert relative(2.0, 1.0) == 0.5
    assert relative(Count(1, 2), Count(2, 2)) == 0.5
    assert math.isnan(relative("a", "b"))
    assert not close(math.inf, 1.0, tolerance=1e-4)
    assert close(math.inf, math.inf, tolerance=0.0)
    assert same(math.nan, math.nan)
    assert not same(True, 1)
