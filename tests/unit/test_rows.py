"""Rows are checked once and centred exactly, also far from zero."""

import numpy as np
import pytest

from assay.errors import EstimateError, ShapeError
from assay.rows import centred_rows, checked_rows, paired_rows


def test_rows_are_centred_in_float64_and_the_input_is_left_alone():
    rows = (np.random.default_rng(0).standard_normal((50, 4)) + 1000).astype(np.float32)
    before = rows.copy()
    found = centred_rows(rows, what="test")
    assert found.rows.dtype == np.float64
    np.testing.assert_allclose(found.rows.mean(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(found.rows + found.mean, before, rtol=1e-14)
    np.testing.assert_array_equal(rows, before)


@pytest.mark.parametrize("n", [3, 100, 5000])
def test_constant_columns_are_exactly_zero(n):
    """Naive sums of 0.1 leave a remainder that would count as variation."""
    rows = np.full((n, 2), 0.1)
    rows[:, 0] = np.linspace(0, 1e-3, n)
    found = centred_rows(rows, what="test").rows
    assert not found[:, 1].any()
    assert found[:, 0].any()
    with pytest.raises(EstimateError, match=f"{n} rows of width 1 do not vary"):
        centred_rows(rows[:, 1:], what="test")


def test_small_columns_beside_large_ones_stay():
    rows = np.random.default_rng(0).standard_normal((30, 2)) * [1e-12, 1e12]
    assert centred_rows(rows, what="test").rows.any(axis=0).all()


def test_pairs_keep_their_means():
    rng = np.random.default_rng(0)
    found = paired_rows(rng.standard_normal((9, 2)) + 1, rng.standard_normal((9, 3)), what="test")
    assert [part.shape for part in found] == [(9, 2), (9, 3), (2,), (3,)]
    assert found.donor_mean == pytest.approx(np.ones(2), abs=1.5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: checked_rows(np.zeros(3), what="fit"), ShapeError, r"fit: rows of shape \(3,\)"),
        (lambda: checked_rows(np.zeros((3, 0)), what="fit"), ShapeError, r"\(3, 0\)"),
        (lambda: checked_rows(np.array([[0.0], [np.nan]]), what="fit"), EstimateError, "row 1 holds NaN"),
        (lambda: centred_rows(np.eye(3), what="fit", fewest=4), EstimateError, "3 rows; at least 4"),
        (lambda: paired_rows(np.eye(3), np.eye(4), what="fit"), ShapeError, "3 donor rows, 4 recipient rows"),
        (lambda: paired_rows(np.eye(3), np.ones((3, 1)), what="fit"), EstimateError, "fit, recipient: 3 rows"),
    ],
)
def test_unusable_rows_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
