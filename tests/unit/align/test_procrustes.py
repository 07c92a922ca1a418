"""Procrustes recovers rotations, equals scipy where scipy has an answer, and names its two regimes."""

import numpy as np
import pytest

from assay.align.procrustes import fit_procrustes, undetermined


def rows(n=80, d=8, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) + 3


def rotation(d, seed=1):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


def test_a_rotated_copy_gives_the_rotation():
    turned = rows() @ rotation(8) + 5
    fitted = fit_procrustes(rows(), turned)
    np.testing.assert_allclose(fitted.matrix, rotation(8), atol=1e-8)
    np.testing.assert_allclose(fitted.apply(rows()), turned, atol=1e-8)
    assert (fitted.fit.regime, fitted.fit.rank, fitted.fit.note) == ("isometric", 8, "")
    assert len(fitted.fit.rows_digest) == 64


def test_equal_widths_agree_with_scipy():
    from scipy.linalg import orthogonal_procrustes

    donor, recipient = rows(), rows() @ rotation(8) + rows(seed=2)
    expected, _ = orthogonal_procrustes(donor - donor.mean(axis=0), recipient - recipient.mean(axis=0))
    np.testing.assert_allclose(fit_procrustes(donor, recipient).matrix, expected, atol=1e-10)


def test_the_isometric_regime_keeps_lengths_and_is_the_least_squares_optimum():
    donor = rows(d=5)
    recipient = donor @ np.random.default_rng(3).standard_normal((5, 9)) + rows(d=9, seed=4)
    fitted = fit_procrustes(donor, recipient)
    assert fitted.fit.regime == "isometric"
    lengths = np.linalg.norm(fitted.linear(donor), axis=1)
    np.testing.assert_allclose(lengths, np.linalg.norm(donor, axis=1))

    def error(matrix):
        return np.linalg.norm((donor - donor.mean(axis=0)) @ matrix - (recipient - recipient.mean(axis=0)))

    others = [fitted.matrix @ rotation(9, seed) for seed in range(20)]
    small = [
        np.linalg.qr((fitted.matrix + 0.01 * np.random.default_rng(s).standard_normal((5, 9))).T)[0].T
        for s in range(20)
    ]
    signs = [other * np.sign(np.sum(other * fitted.matrix, axis=1, keepdims=True)) for other in small]
    assert error(fitted.matrix) < min(error(other) for other in others + signs)


def test_the_projecting_regime_has_a_kernel_and_is_not_the_least_squares_optimum():
    rng = np.random.default_rng(0)
    donor = rng.standard_normal((400, 6)) * [5, 1, 1, 1, 1, 1]
    recipient = donor[:, :3] @ np.diag([0.05, 1, 1]) + 0.1 * rng.standard_normal((400, 3))
    fitted = fit_procrustes(donor, recipient)
    assert fitted.fit.regime == "projecting"
    np.testing.assert_allclose(fitted.matrix.T @ fitted.matrix, np.eye(3), atol=1e-12)
    assert np.linalg.matrix_rank(fitted.matrix) == 3
    leaving_out = np.eye(6)[:, [3, 1, 2]]
    centred = donor - donor.mean(axis=0), recipient - recipient.mean(axis=0)
    assert np.trace(fitted.matrix.T @ centred[0].T @ centred[1]) > np.trace(leaving_out.T @ centred[0].T @ centred[1])
    assert np.linalg.norm(centred[0] @ fitted.matrix - centred[1]) > np.linalg.norm(
        centred[0] @ leaving_out - centred[1]
    )


def test_padding_with_zeros_and_cropping_is_another_map():
    donor, recipient = rows(d=8), rows(d=8, seed=2)[:, :5]
    from scipy.linalg import orthogonal_procrustes

    centred = donor - donor.mean(axis=0), np.pad(recipient - recipient.mean(axis=0), ((0, 0), (0, 3)))
    padded, _ = orthogonal_procrustes(*centred)
    fitted = fit_procrustes(donor, recipient).matrix
    assert fitted.shape == (8, 5)
    np.testing.assert_allclose(padded[:, :5].T @ padded[:, :5], np.eye(5), atol=1e-10)


def test_too_few_rows_leave_directions_open_and_the_note_counts_them():
    fitted = fit_procrustes(rows(n=5), rows(n=5, seed=1))
    assert fitted.fit.note == "the rows do not determine where 4 of 8 directions go"
    np.testing.assert_allclose(fitted.matrix @ fitted.matrix.T, np.eye(8), atol=1e-10)
    assert undetermined(np.zeros(3)) == "the rows do not determine where 3 of 3 directions go"


def test_another_order_of_rows_is_another_digest():
    assert fit_procrustes(rows(), rows()).fit.rows_digest != fit_procrustes(rows()[::-1], rows()[::-1]).fit.rows_digest


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_scale_does_not_matter(scale):
    expected = fit_procrustes(rows(), rows(seed=2)).matrix
    fitted = fit_procrustes(scale * rows(), rows(seed=2))
    np.testing.assert_allclose(fitted.matrix, expected, atol=1e-9)
    assert fitted.fit.note == ""
