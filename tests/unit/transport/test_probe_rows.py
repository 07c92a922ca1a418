"""Rows meet by id: T13 (a row that is not finite) and T14 (a row that one side lacks) of transport.md."""

import numpy as np
import pytest

from assay.errors import EstimateError, ShapeError
from assay.transport.cost import correlation_cost
from assay.transport.probe_rows import ProbeRows, aligned_rows
from assay.transport.sinkhorn import entropic_plan

IDS = tuple(f"text {number}" for number in range(40))


def rows(ids=IDS, width=6, seed=0):
    values = np.random.default_rng(seed).standard_normal((len(IDS), width))
    return ProbeRows(tuple(ids), values[[IDS.index(name) for name in ids]])


def test_t14_a_dropped_row_does_not_misalign():
    short = aligned_rows(rows(), rows([name for name in IDS if name != "text 3"], 7, 1), min_rows=10)
    both = [name for name in IDS if name != "text 3"]
    right = aligned_rows(rows(both), rows(both[::-1], 7, 1), min_rows=10)
    assert short.left_out == ("text 3",)
    assert (len(short.ids), short.digest) == (39, right.digest)
    plans = [
        entropic_plan(correlation_cost(one.recipient, one.donor).matrix, epsilon=0.05).matrix for one in (short, right)
    ]
    np.testing.assert_array_equal(*plans)


def test_t13_the_row_is_named():
    values = rows().values.copy()
    values[5, 2] = np.nan
    with pytest.raises(EstimateError, match=r"row 'text 5' holds NaN or infinity \(1 of 40"):
        ProbeRows(IDS, values)


def test_too_few_common_rows():
    with pytest.raises(EstimateError, match="20 rows in common, 20 on one side only; at least 30"):
        aligned_rows(rows(), rows(IDS[:20]), min_rows=30)


def test_as_many_common_rows_as_asked_for():
    both = aligned_rows(ProbeRows(("b", "a"), np.eye(2)), ProbeRows(("a", "c", "b"), np.eye(3)), min_rows=2)
    assert (both.ids, both.left_out) == (("a", "b"), ("c",))
    np.testing.assert_array_equal(both.recipient, [[0, 1], [1, 0]])
    np.testing.assert_array_equal(both.donor, [[1, 0, 0], [0, 0, 1]])
    assert both.digest == "7e18f737311b2dc3b2f269dd78396b0351f14fb66efa879f768cb23181883c78"


def test_ids_name_one_row_each():
    with pytest.raises(ShapeError, match="'a' comes more than once"):
        ProbeRows(("b", "a", "a"), np.zeros((3, 3)))
    with pytest.raises(ShapeError, match="1 ids for values of shape"):
        ProbeRows(("a",), np.zeros((2, 3)))
