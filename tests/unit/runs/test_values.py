"""Values survive the way to JSON and back; what is no value is refused by the name of its key."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import RecordError
from assay.runs.storage import NON_FINITE, canonical_json
from assay.runs.values import Count, Value, check_key, count, decode, encode, flatten, nest
from assay.stats.estimate import Estimate

WORDS = st.text().filter(lambda text: text not in NON_FINITE)
COUNTS = st.integers(0, 50).flatmap(
    lambda of: st.builds(Count, count=st.integers(0, of), of=st.just(of), missing=st.integers(0, 9))
)
ESTIMATES = st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False), st.floats(allow_nan=False)).map(
    lambda three: Estimate(sorted(three)[1], min(three), max(three), 12)
)
VALUES = st.booleans() | st.integers() | st.floats() | WORDS | COUNTS | ESTIMATES


def same(left: object, right: object) -> bool:
    """Equal in value, type and sign of zero, with NaN equal to itself."""
    return type(left) is type(right) and repr(left) == repr(right)


@given(VALUES)
def test_a_value_comes_back(value: Value) -> None:
    assert same(decode(json.loads(canonical_json(encode(value)))), value)


KEYS = st.lists(st.sampled_from(["a", "b-1", "C_2", "low", "count"]), min_size=1, max_size=3).map(".".join)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_nested_summaries_come_back(values: dict[str, Value]) -> None:
    try:
        tree = nest(values)
    except RecordError as refused:
        assert "Choose another name" in str(refused)  # noqa: PT017 - one key lies inside another
        assert any(left != right and right.startswith(f"{left}.") for left in values for right in values)
        return
    back = flatten(json.loads(canonical_json(tree)))
    assert back.keys() == values.keys()
    assert all(same(back[key], values[key]) for key in values)


def test_an_estimate_without_a_value_keeps_its_reason() -> None:
    missing = Estimate(math.nan, math.nan, math.nan, 3, reason="three items")
    assert encode(missing) == {"value": "NaN", "low": "NaN", "high": "NaN", "n": 3, "reason": "three items"}
    assert same(decode(encode(missing)), missing)


@pytest.mark.parametrize(
    ("given_value", "written"),
    [
        (np.float32(0.1), 0.10000000149011612),
        (np.float64(0.1), 0.1),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.float64("nan"), "NaN"),
        (Count(np.int64(14), 20), {"count": 14, "of": 20, "missing": 0}),
    ],
)
def test_numpy_scalars_become_plain(given_value: object, written: object) -> None:
    assert same(encode(given_value), written)


@pytest.mark.parametrize(
    "value", [None, [1], {"a": 1}, np.zeros(1), 1 + 2j, b"a", pd.Timestamp("2026-01-01"), object()]
)
def test_other_types_are_refused_by_key(value: object) -> None:
    with pytest.raises(RecordError, match=r"wins\.target: a .* came"):
        encode(value, "wins.target")


@pytest.mark.parametrize("word", NON_FINITE)
def test_a_word_that_stands_for_a_float_is_refused(word: str) -> None:
    with pytest.raises(RecordError, match="stands for a float"):
        encode(word)


@pytest.mark.parametrize("key", ["", "a..b", ".a", "a b", "ä", "a.", 3, "config.seed", "config"])
def test_bad_keys_are_refused(key: object) -> None:
    with pytest.raises(RecordError, match="a result is named by"):
        check_key(key)


@pytest.mark.parametrize("keys", [["a", "a.b"], ["a.b", "a"], ["a.b.c", "a.b"]])
def test_a_key_inside_a_value_is_refused(keys: list[str]) -> None:
    with pytest.raises(RecordError, match="Choose another name"):
        nest(dict.fromkeys(keys, 1))


def test_a_group_that_reads_as_a_count_is_refused() -> None:
    with pytest.raises(RecordError, match="would read as one Count"):
        nest({"a.count": 1, "a.of": 2, "a.missing": 0})


def test_count_has_a_share_and_bounds() -> None:
    assert Count(14, 20).share == 0.7
    assert math.isnan(Count(0, 0).share)
    assert str(Count(14, 20)) == "14/20"
    assert str(Count(14, 19, 1)) == "14/19 (1 missing)"
    for wrong in ((21, 20, 0), (-1, 20, 0), (1, 20, -1)):
        with pytest.raises(RecordError, match="0 <= count <= of"):
            Count(*wrong)
    with pytest.raises(RecordError, match="whole number"):
        Count(1.5, 2)  # type: ignore[arg-type]


def test_count_of_masks() -> None:
    effect = pd.Series([-1.0, 2.0, -3.0])
    assert count(effect < 0, rows=effect) == Count(2, 3)
    assert count(np.array([True, False]), rows=np.array([0.5, 2.5])) == Count(1, 2)
    assert count([], rows=[]) == Count(0, 0)
    solved = pd.Series([True, False, True])
    assert count(solved, rows=solved) == Count(2, 3)


@pytest.mark.parametrize(
    "mask",
    [
        pd.Series([1.0, math.nan, -1.0]) < 0,
        np.array([1.0, math.nan, -1.0]) < 0,
        [value < 0 for value in (1.0, math.nan, -1.0)],
    ],
    ids=["pandas", "numpy", "list"],
)
def test_a_mask_alone_hides_rows_without_an_answer_and_is_refused(mask: Any) -> None:
    for options in ({}, {"missing": "exclude"}):
        with pytest.raises(RecordError, match=r"count: of which rows\? .*rows=rows\.effect"):
            count(mask, **options)


def test_rows_without_an_answer_are_refused_unless_their_rule_is_said() -> None:
    effect = pd.Series([-1.0, math.nan, 3.0])
    with pytest.raises(RecordError, match="1 of 3 rows have no answer"):
        count(effect < 0, rows=effect)
    assert count(effect < 0, rows=effect, missing="exclude") == Count(1, 2, 1)
    assert count(effect < 0, rows=effect, missing="against") == Count(1, 3, 1)
    gaps = pd.array([True, None], dtype="boolean")
    assert count(gaps, rows=gaps, missing="exclude") == Count(1, 1, 1)


@pytest.mark.parametrize("gap", [np.float32("nan"), np.float64("nan"), pd.NA, pd.NaT, None])
def test_every_kind_of_gap_is_a_row_without_an_answer(gap: Any) -> None:
    assert count([True, False], rows=[1, gap], missing="exclude") == Count(1, 1, 1)


def test_a_comparison_of_several_columns_gives_them_all() -> None:
    frame = pd.DataFrame({"low": [1.0, math.nan, 0.5], "high": [2.0, 3.0, math.nan], "name": ["a", "b", "c"]})
    mask = frame.low < frame.high
    with pytest.raises(RecordError, match="2 of 3 rows have no answer"):
        count(mask, rows=frame[["low", "high"]])
    assert count(mask, rows=frame, missing="exclude") == Count(1, 1, 2)
    assert count(mask, rows=frame[["low", "high"]].to_numpy(), missing="against") == Count(1, 3, 2)


@pytest.mark.parametrize(
    ("mask", "options", "named"),
    [
        ([1, 0], {"rows": [1, 0]}, "entries are booleans"),
        ([True], {"rows": [1.0, 2.0]}, "Give equally many"),
        ([True], {"rows": [1], "missing": "zero"}, "known are 'refuse'"),
    ],
)
def test_count_refuses(mask: Any, options: dict[str, Any], named: str) -> None:
    with pytest.raises(RecordError, match=named):
        count(mask, **options)
