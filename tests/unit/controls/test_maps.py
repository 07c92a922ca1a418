"""The Haar sham is orthonormal, uniform, seeded, and blind to the rows."""

import numpy as np
import pytest

from assay.controls.maps import fit_haar_sham, haar_matrix
from assay.errors import ShapeError
from assay.seeds import stream


@pytest.mark.parametrize(("p", "q", "regime"), [(7, 7, "isometric"), (5, 9, "isometric"), (9, 5, "projecting")])
def test_orthonormal_to_rounding_and_named(p, q, regime):
    rng = np.random.default_rng(0)
    donor, recipient = rng.standard_normal((30, p)) + 1, rng.standard_normal((30, q)) - 1
    sham = fit_haar_sham(donor, recipient, rng=stream(0, "sham"))
    gram = sham.matrix @ sham.matrix.T if p <= q else sham.matrix.T @ sham.matrix
    np.testing.assert_allclose(gram, np.eye(min(p, q)), atol=1e-12)
    assert sham.fit.regime == regime
    again = fit_haar_sham(-3 * donor, recipient[::-1], rng=stream(0, "sham"))
    np.testing.assert_array_equal(sham.matrix, again.matrix)
    assert not np.array_equal(sham.matrix, fit_haar_sham(donor, recipient, rng=stream(1, "sham")).matrix)


def test_uniform_only_with_the_signs():
    """Entry (0, 0) of a uniform rotation is symmetric about 0; plain QR gives it one sign."""
    rng = stream(0, "draws")
    with_signs = [haar_matrix(3, 3, rng=rng)[0, 0] for _ in range(2000)]
    plain = [np.linalg.qr(rng.standard_normal((3, 3)))[0][0, 0] for _ in range(2000)]
    assert abs(np.mean(with_signs)) < 4 / np.sqrt(3 * 2000)
    assert np.mean(np.square(with_signs)) == pytest.approx(1 / 3, abs=0.03)
    assert abs(np.mean(plain)) > 0.2


def test_no_width_is_refused():
    with pytest.raises(ShapeError, match="widths 0 and 3"):
        haar_matrix(0, 3, rng=stream(0, "x"))
