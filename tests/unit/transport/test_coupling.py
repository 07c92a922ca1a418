"""A coupling is not a map, and a map is not a coupling."""

import numpy as np
import pytest

from assay.errors import ConvergenceError, EstimateError, ShapeError
from assay.transport.coupling import BarycentricMap, Coupling

MATRIX = np.array([[0.2, 0.1, 0.2], [0.1, 0.3, 0.1]])
ROW, COLUMN = MATRIX.sum(axis=1), MATRIX.sum(axis=0)


def test_conversion_there_and_back():
    coupling = Coupling(MATRIX, ROW, COLUMN)
    phi = coupling.barycentric()
    np.testing.assert_allclose(phi.matrix, MATRIX / ROW[:, None])
    back = phi.coupling(ROW)
    np.testing.assert_allclose(back.matrix, MATRIX)
    np.testing.assert_allclose(back.column_marginal, COLUMN)


def test_reversed_map_is_scaled_by_the_other_width():
    """The map to the donor is not the transpose of the map to the recipient, but n_donor / n_recipient times it."""
    coupling = Coupling.independent(4, 10)
    there, back = coupling.barycentric().matrix, coupling.reversed.barycentric().matrix
    np.testing.assert_allclose(back.T, there * 10 / 4)


def test_one_is_refused_for_the_other():
    with pytest.raises(EstimateError, match=r"row 0 sums to 0.5, not to 1.*coupling.barycentric"):
        BarycentricMap(MATRIX)
    with pytest.raises(ConvergenceError, match="L1 marginal errors"):
        Coupling(MATRIX / ROW[:, None], ROW, COLUMN)


@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (-MATRIX, EstimateError, "^Coupling: entries from -0.3 to -0.1; all must be finite and at least 0"),
        (MATRIX + np.array([np.inf, 0, 0]), EstimateError, "entries from 0.1 to inf"),
        (MATRIX * np.nan, EstimateError, "entries from nan"),
        (np.ones((2, 3), dtype=int), ShapeError, "matrix of floats"),
        (np.zeros(3), ShapeError, r"shape \(3,\)"),
        (np.zeros((2, 0)), ShapeError, r"shape \(2, 0\) of float64"),
        (MATRIX.tolist(), ShapeError, r"shape \(2, 3\) of list"),
        (MATRIX[:, :2], ShapeError, "^Coupling: the column marginal"),
        (MATRIX[:1], ShapeError, "^Coupling: the row marginal"),
        (MATRIX[:, ::-1] * np.array([1, 1.01, 0.99]), ConvergenceError, r"5.00e-03|tolerance 1e-06"),
    ],
)
def test_couplings_that_are_none(matrix, error, message):
    with pytest.raises(error, match=message):
        Coupling(matrix, ROW, COLUMN)


def test_marginals_are_kept_in_float64_and_uniform_unless_given():
    half = np.full(2, 0.5, dtype=np.float32)
    coupling = Coupling(np.eye(2) / 2, half, half, tolerance=0.0)
    assert coupling.row_marginal.dtype == coupling.column_marginal.dtype == np.float64
    np.testing.assert_array_equal(Coupling(np.eye(2) / 2, None, None).column_marginal, half)
    assert (coupling.reversed.tolerance, Coupling.independent(2, 2).tolerance) == (0.0, 1e-6)


def test_sums_of_many_small_numbers_are_taken_in_float64():
    """20,000 equal numbers summed one after the other in float32 miss 1 by about 1e-4."""
    many = np.full((2, 20_000), 1 / 40_000, dtype=np.float32)
    for matrix in (many, np.ascontiguousarray(many.T)):
        rows, columns = (np.full(size, 1 / size) for size in matrix.shape)
        assert Coupling(matrix, rows, columns).barycentric().matrix.dtype == np.float64
    BarycentricMap(np.ascontiguousarray(2 * many.T).T)


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_the_worst_row_is_looked_at(factor):
    with pytest.raises(EstimateError, match=f"^BarycentricMap: row 1 sums to {factor}"):
        BarycentricMap(np.array([[0.5, 0.5], [0.0, factor], [1.0, 0.0]]))


def test_applied_is_a_weighted_mean():
    phi = Coupling(MATRIX, ROW, COLUMN).barycentric()
    np.testing.assert_allclose(phi.applied(np.array([1.0, 2.0, 3.0])), [2.0, 2.0])
    assert phi.applied(np.ones((3, 2, 2))).shape == (2, 2, 2)
    with pytest.raises(ShapeError, match="reads 3 neurons"):
        phi.applied(np.ones(2))


def test_maps_that_are_none():
    with pytest.raises(EstimateError, match=r"^BarycentricMap: entries from -1 to 2"):
        BarycentricMap(np.array([[-1.0, 2.0]]))
    with pytest.raises(ShapeError, match=r"^BarycentricMap\.coupling: the row marginal has shape \(3,\)"):
        BarycentricMap(np.eye(2)).coupling(np.full(3, 1 / 3))


def test_concentration():
    assert BarycentricMap(np.eye(5)).concentration == 1.0
    assert Coupling.independent(3, 8).barycentric().concentration == pytest.approx(1 / 8)


def test_a_column_that_nobody_reads_has_no_coupling():
    with pytest.raises(EstimateError, match=r"weight 0.0 at column 1"):
        BarycentricMap(np.array([[1.0, 0.0]])).coupling()
