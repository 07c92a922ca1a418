"""Problems that cannot be solved are refused before anything is computed."""

import numpy as np
import pytest

from assay.errors import EstimateError, ShapeError
from assay.transport.problem import checked_problem, checked_tolerance


def check(cost, **given):
    return checked_problem(
        cost, **{"epsilon": 0.1, "row_marginal": None, "column_marginal": None, "caller": "solve"} | given
    )


def test_marginals_are_uniform_unless_given():
    problem = check(np.zeros((2, 4)))
    np.testing.assert_array_equal(problem.row, [0.5, 0.5])
    np.testing.assert_array_equal(problem.column, [0.25] * 4)


@pytest.mark.parametrize(
    ("given", "kind"), [("int64", "float64"), ("float64", "float64"), ("float32", "float32"), ("float16", "float32")]
)
def test_integer_costs_do_not_make_integer_plans(given, kind):
    assert check(np.ones((2, 2), dtype=given)).cost.dtype == kind


def test_a_problem_is_what_was_given():
    row, column = np.array([0.2, 0.8], dtype=np.float32), [0.5, 0.25, 0.25]
    problem = check([[1, 2, 3], [4, 5, 6]], epsilon=0, row_marginal=row, column_marginal=column)
    np.testing.assert_array_equal(problem.cost, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(problem.row, row)
    np.testing.assert_array_equal(problem.column, column)
    assert (problem.row.dtype, problem.epsilon, type(problem.epsilon)) == (np.float64, 0.0, float)
    assert check(np.ones((3, 2)).T).cost.flags.c_contiguous
    assert check(np.ones((1, 1), dtype=np.uint8)).cost.dtype == np.float64


@pytest.mark.parametrize("side", ["row", "column"])
def test_marginals_may_miss_a_sum_of_1_by_a_millionth(side):
    for off in (-9e-7, 9e-7):
        given = {f"{side}_marginal": np.array([0.5, 0.5 + off])}
        assert getattr(check(np.zeros((2, 2)), **given), side).sum() == pytest.approx(1 + off, abs=1e-12)
    for off in (-2e-6, 2e-6):
        with pytest.raises(EstimateError, match=f"^solve: the {side} marginal sums to {1 + off:.6f}"):
            check(np.zeros((2, 2)), **{f"{side}_marginal": np.array([0.5, 0.5 + off])})


def test_tolerance_by_type():
    found = [checked_tolerance(None, np.dtype(kind), caller="test") for kind in ("float32", "float64")]
    assert (*found, checked_tolerance(0.5, np.dtype("float64"), caller="test")) == (1e-4, 1e-8, 0.5)
    for wrong in (0.0, -1.0, 1.0, 2.0, float("nan")):
        with pytest.raises(EstimateError, match=r"^test: tolerance .*; a share of the mass, in \(0, 1\)"):
            checked_tolerance(wrong, np.dtype("float64"), caller="test")


@pytest.mark.parametrize(
    ("cost", "given", "error", "message"),
    [
        (np.zeros(3), {}, ShapeError, r"solve: a cost of shape \(3,\)"),
        (np.zeros((0, 3)), {}, ShapeError, "both at least 1"),
        (np.zeros((2, 2), dtype=complex), {}, ShapeError, "complex128; real numbers"),
        (np.array([[0.0, 1], [np.nan, 1]]), {}, EstimateError, "1 of 4 costs are not finite, .* recipient 1, donor 0"),
        (np.array([[0.0, np.inf], [0, -np.inf]]), {}, EstimateError, "2 of 4 costs"),
        (np.array([[0.0, np.inf]]), {}, EstimateError, "1 of 2 costs"),
        (np.array([[0.0, -np.inf]]), {}, EstimateError, "1 of 2 costs"),
        (np.zeros((2, 2)), {"epsilon": -1.0}, EstimateError, "epsilon -1"),
        (np.zeros((2, 2)), {"epsilon": float("nan")}, EstimateError, "epsilon nan"),
        (np.zeros((2, 2)), {"epsilon": float("inf")}, EstimateError, "epsilon inf"),
        (np.zeros((2, 2), dtype=bool), {}, ShapeError, "^solve: a cost of type bool; real numbers"),
        (np.zeros((2, 2)), {"column_marginal": np.array([0.6, 0.6, -0.2])[1:]}, EstimateError, "-0.2 at column 1"),
        (np.zeros((2, 2)), {"row_marginal": np.array([1.0, np.inf])}, EstimateError, "^solve: weight inf at row 1"),
        (np.zeros((2, 2)), {"row_marginal": np.ones(3) / 3}, ShapeError, r"row marginal has shape \(3,\); \(2,\)"),
        (np.zeros((2, 2)), {"column_marginal": np.array([0.0, 1])}, EstimateError, "weight 0.0 at column 0"),
        (np.zeros((2, 2)), {"column_marginal": np.array([1, np.nan])}, EstimateError, "weight nan at column 1"),
        (np.zeros((2, 2)), {"row_marginal": np.ones(2)}, EstimateError, "row marginal sums to 2, not to 1"),
    ],
)
def test_refused(cost, given, error, message):
    with pytest.raises(error, match=message):
        check(cost, **given)
