"""Maps for retrieval equal the textbook formulas, and choose their penalty on held-out clusters."""

import numpy as np
import pytest

from assay.diagnostics.retrieval_maps import PENALTIES, DonorRows, fit_procrustes, fit_ridge
from assay.errors import EstimateError


def problem(n=60, p=8, q=6, noise=0.5, seed=0, decay=0.0):
    rng = np.random.default_rng(seed)
    donor = rng.standard_normal((n + 20, p)) / np.arange(1, p + 1) ** decay
    recipient = donor @ rng.standard_normal((p, q)) + noise * rng.standard_normal((n + 20, q))
    donor, recipient = donor - donor[:n].mean(axis=0), recipient - recipient[:n].mean(axis=0)
    folds = [np.arange(start, n, 5) for start in range(5)]
    return DonorRows(donor[:n], donor[n:], folds), recipient[:n], recipient[n:]


def textbook(X, Y, new, penalty):
    """Ridge prediction X_new X' (X X' + penalty mean I)^-1 Y with the mean eigenvalue of X' X."""
    mean = np.trace(X.T @ X) / X.shape[1]
    return new @ X.T @ np.linalg.solve(X @ X.T + penalty * mean * np.eye(len(X)), Y)


@pytest.mark.parametrize("width", [40, 200])
def test_ridge_is_the_textbook_ridge_of_the_best_penalty_in_both_forms(width):
    donor, recipient, _ = problem(p=width, noise=2.0, decay=1.0)
    errors = dict.fromkeys(PENALTIES, 0.0)
    for fold in donor.folds:
        rest, targets = np.delete(donor.fit, fold, axis=0), np.delete(recipient, fold, axis=0)
        for penalty in PENALTIES:
            predicted = textbook(rest, targets, donor.fit[fold], penalty)
            errors[penalty] += float(((predicted - recipient[fold]) ** 2).sum())
    fitted = fit_ridge(donor, recipient)
    assert fitted.penalty == min(errors, key=errors.__getitem__)
    assert PENALTIES[0] < fitted.penalty < PENALTIES[-1]
    expected = textbook(donor.fit, recipient, donor.test, fitted.penalty)
    np.testing.assert_allclose(fitted.mapped, expected, atol=1e-8)
    assert fitted.note == ("" if width == 40 else "60 fit items, fewer than the width 200")


def test_noise_wants_a_large_penalty_and_exact_data_none():
    donor, _, _ = problem()
    noise = np.random.default_rng(1).standard_normal((60, 6))
    assert fit_ridge(donor, noise).penalty >= 1
    exact, recipient, test = problem(noise=0.0)
    fitted = fit_ridge(exact, recipient)
    assert fitted.penalty == PENALTIES[0]
    assert "at the end of its grid" in fitted.note
    np.testing.assert_allclose(fitted.mapped, test, atol=1e-4)


def test_procrustes_recovers_a_rotation_and_agrees_with_scipy():
    from scipy.linalg import orthogonal_procrustes

    donor, _, _ = problem()
    rotation = np.linalg.qr(np.random.default_rng(2).standard_normal((8, 8)))[0]
    np.testing.assert_allclose(fit_procrustes(donor, donor.fit @ rotation).mapped, donor.test @ rotation, atol=1e-10)
    noisy = donor.fit @ rotation + 0.3 * np.random.default_rng(3).standard_normal((60, 8))
    peer, _ = orthogonal_procrustes(donor.fit, noisy)
    np.testing.assert_allclose(fit_procrustes(donor, noisy).mapped, donor.test @ peer, atol=1e-10)


@pytest.mark.parametrize(("p", "q"), [(8, 6), (6, 8), (200, 150)])
def test_procrustes_between_different_widths_is_an_isometry_on_what_was_seen(p, q):
    donor, recipient, _ = problem(p=p, q=q)
    seen = DonorRows(donor.fit, donor.fit, donor.folds)
    mapped = fit_procrustes(seen, recipient).mapped
    assert mapped.shape == (60, q)
    assert np.linalg.norm(mapped) <= np.linalg.norm(donor.fit) * (1 + 1e-12)
    values = np.linalg.svd(donor.fit.T @ recipient, compute_uv=False)
    assert (mapped * recipient).sum() == pytest.approx(values.sum())


def test_no_variation_is_refused():
    donor, recipient, _ = problem()
    constant = DonorRows(np.zeros((60, 8)), donor.test, donor.folds)
    with pytest.raises(EstimateError, match="48 donor rows of width 8 do not vary"):
        fit_ridge(constant, recipient)
    with pytest.raises(EstimateError, match="no covariance at all"):
        fit_procrustes(constant, recipient)
