"""The two CCA maps: one is a regression of reduced rank, the other swaps coordinates and does not shrink."""

import numpy as np
import pytest

from assay.align.cca import fit_cca, fit_cca_swap
from assay.align.procrustes import fit_procrustes
from assay.align.ridge import fit_ridge
from assay.errors import EstimateError


def problem(n=300, p=8, q=6, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    donor = rng.standard_normal((n, p)) * np.linspace(0.3, 3, p)
    return donor, donor[:, :4] @ rng.standard_normal((4, q)) + noise * rng.standard_normal((n, q))


@pytest.mark.parametrize("share", [1e-6, 1e-3, 0.1])
def test_all_components_are_ridge_regression_exactly(share):
    donor, recipient = problem()
    fitted = fit_cca(donor, recipient, threshold=-1.0, share=share)
    np.testing.assert_allclose(fitted.matrix, fit_ridge(donor, recipient, penalty=share).matrix, atol=1e-9)


def test_the_rank_is_the_number_of_correlations_above_the_threshold():
    donor, recipient = problem()
    fitted = fit_cca(donor, recipient)
    assert fitted.fit.rank == np.linalg.matrix_rank(fitted.matrix, tol=1e-8) == 4
    assert fit_cca(donor, recipient, threshold=0.98).fit.rank in (1, 2, 3)
    assert fit_ridge(donor, recipient).fit.rank == 6


def test_the_swap_is_procrustes_between_white_sides_and_keeps_variance():
    rng = np.random.default_rng(1)
    white = np.linalg.qr(rng.standard_normal((200, 5)) - 0.0)[0]
    white = np.linalg.qr(white - white.mean(axis=0))[0]
    turned = white @ np.linalg.qr(rng.standard_normal((5, 5)))[0] + 0.02 * rng.standard_normal((200, 5))
    turned = np.linalg.qr(turned - turned.mean(axis=0))[0]
    np.testing.assert_allclose(fit_cca_swap(white, turned).matrix, fit_procrustes(white, turned).matrix, atol=1e-9)
    donor, recipient = problem(noise=3.0)
    kept = fit_cca_swap(donor, recipient).apply(donor).var(axis=0).sum() / recipient.var(axis=0).sum()
    shrunk = fit_cca(donor, recipient, threshold=-1.0).apply(donor).var(axis=0).sum() / recipient.var(axis=0).sum()
    assert kept == pytest.approx(1, abs=0.02)
    assert shrunk < 0.9


def test_no_correlation_is_refused_rather_than_mapped_to_zero():
    rng = np.random.default_rng(0)
    with pytest.raises(EstimateError, match=r"no canonical correlation is above 0\.3 \(the largest is 0\."):
        fit_cca(rng.standard_normal((900, 4)), rng.standard_normal((900, 4)))
    with pytest.raises(EstimateError, match="share 0"):
        fit_cca_swap(*problem(), share=0.0)


def test_directions_that_nothing_determines_are_counted():
    rng = np.random.default_rng(0)
    donor = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 6))
    assert "3 of 6 directions" in fit_cca_swap(donor, rng.standard_normal((40, 6))).fit.note
