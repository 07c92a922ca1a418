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
        (-MATRIX, EstimateError, "must be finite and at least 0"),
        (MATRIX * np.nan, EstimateError, "entries from nan"),
        (np.ones((2, 3), dtype=int), ShapeError, "matrix of floats"),
        (np.zeros(3), ShapeError, r"shape \(3,\)"),
        (MATRIX[:, :2], ShapeError, "column marginal"),
        (MATRIX[:, ::-1] * np.array([1, 1.01, 0.99]), ConvergenceError, r"5.00e-03|tolerance 1e-06"),
    ],
)
def test_couplings_that_are_none(matrix, error, message):
    with pytest.raises(error, match=message):
        Coupling(matrix, ROW, COLUMN)


def test_applied_is_a_weighted_mean():
    phi = Coupling(MATRIX, ROW, COLUMN).barycentric()
    np.testing.assert_allclose(phi.applied(np.array([1.0, 2.0, 3.0])), [2.0, 2.0])
    assert phi.applied(np.ones((3, 2, 2))).shape == (2, 2, 2)
    with pytest.raises(ShapeError, match="reads 3 neurons"):
        phi.applied(np.ones(2))


def test_concentration():
    assert BarycentricMap(np.eye(5)).concentration == 1.0
    assert Coupling.independent(3, 8).barycentric().concentration == pytest.approx(1 / 8)


def test_a_column_that_nobody_reads_has_no_coupling():
    with pytest.raises(EstimateError, match=r"weight 0.0 at column 1"):
        BarycentricMap(np.array([[1.0, 0.0]])).coupling()
