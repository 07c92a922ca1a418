"""Affine maps: apply, linear part, composition, inverse, and what does not fit."""

import numpy as np
import pytest

from assay.align.affine import AffineMap, Fit, matrix_rank
from assay.errors import EstimateError, ShapeError

RNG = np.random.default_rng(0)


def drawn(d_donor, d_recipient):
    return AffineMap(
        RNG.standard_normal((d_donor, d_recipient)), RNG.standard_normal(d_donor), RNG.standard_normal(d_recipient)
    )


def test_apply_is_the_formula_and_linear_leaves_the_means_out():
    made, rows = drawn(4, 3), RNG.standard_normal((6, 4))
    by_hand = np.array([[sum((row - made.donor_mean) * column) for column in made.matrix.T] for row in rows])
    np.testing.assert_allclose(made.apply(rows), by_hand + made.recipient_mean)
    np.testing.assert_allclose(made.linear(rows[:1] - rows[1:2]), made.apply(rows[:1]) - made.apply(rows[1:2]))
    assert (made.d_donor, made.d_recipient, made.n_parameters) == (4, 3, 12 + 4 + 3)


def test_composition_is_one_map_after_the_other_and_associative():
    one, two, three, rows = drawn(4, 3), drawn(3, 5), drawn(5, 2), RNG.standard_normal((6, 4))
    np.testing.assert_allclose(one.then(two).apply(rows), two.apply(one.apply(rows)))
    left, right = one.then(two).then(three), one.then(two.then(three))
    np.testing.assert_allclose(left.apply(rows), right.apply(rows))
    assert one.then(two).fit == Fit("given then given", 0, 3)


def test_the_inverse_goes_back_both_ways():
    made, rows = drawn(4, 4), RNG.standard_normal((6, 4))
    back = made.inverse()
    np.testing.assert_allclose(back.apply(made.apply(rows)), rows, atol=1e-9)
    np.testing.assert_allclose(made.apply(back.apply(rows)), rows, atol=1e-9)


def test_a_map_is_its_own():
    """Neither the arrays it was made from nor its own can change it."""
    matrix = np.eye(2)
    made = AffineMap(matrix, np.zeros(2), np.zeros(2))
    matrix[0, 0] = 5
    assert made.matrix[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        made.matrix[0, 0] = 5


def test_r_squared_is_one_for_exact_rows_zero_for_the_mean_and_may_be_negative():
    rows = RNG.standard_normal((20, 3))
    same = AffineMap(np.eye(3), np.zeros(3), np.zeros(3))
    mean = AffineMap(np.zeros((3, 3)), np.zeros(3), rows.mean(axis=0))
    assert same.r_squared(rows, rows) == 1
    assert mean.r_squared(rows, rows) == pytest.approx(0)
    assert same.r_squared(rows, -rows) < 0


def test_rank():
    assert matrix_rank(np.outer([1.0, 2], [3.0, 4])) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: AffineMap(np.eye(3), np.zeros(2), np.zeros(3)), ShapeError, r"donor mean \(2,\)"),
        (lambda: AffineMap(np.eye(3) * np.nan, np.zeros(3), np.zeros(3)), EstimateError, "NaN"),
        (lambda: drawn(4, 3).apply(np.zeros((2, 3))), ShapeError, "width 3, the map takes 4"),
        (lambda: drawn(4, 3).apply(np.full((2, 4), np.nan)), EstimateError, "row 0 holds NaN"),
        (lambda: drawn(4, 3).then(drawn(4, 3)), ShapeError, "gives rows of width 3, the second takes 4"),
        (lambda: drawn(4, 3).inverse(), ShapeError, "from width 4 to 3"),
        (lambda: AffineMap(np.ones((2, 2)), np.zeros(2), np.zeros(2)).inverse(), EstimateError, "condition number"),
        (lambda: drawn(4, 3).r_squared(np.zeros((2, 4)), np.zeros((2, 4))), ShapeError, "come out of the map"),
        (lambda: drawn(4, 3).r_squared(np.zeros((2, 4)), np.zeros((2, 3))), EstimateError, "do not vary"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
