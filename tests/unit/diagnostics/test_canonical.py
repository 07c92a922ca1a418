"""Canonical correlations by their definition, and ranks that leave no room."""

import numpy as np
import pytest

from assay.diagnostics.canonical import item_basis, mean_cca
from assay.errors import EstimateError


def test_the_first_correlation_is_the_best_that_any_pair_of_combinations_has():
    rng = np.random.default_rng(0)
    shared = rng.standard_normal(200)
    donor = np.column_stack([shared + 0.1 * rng.standard_normal(200), rng.standard_normal((200, 2))])
    recipient = np.column_stack([rng.standard_normal(200), shared + 0.1 * rng.standard_normal(200)])
    X, Y = donor - donor.mean(axis=0), recipient - recipient.mean(axis=0)
    product = np.linalg.solve(X.T @ X, X.T @ Y) @ np.linalg.solve(Y.T @ Y, Y.T @ X)
    squares = np.sort(np.linalg.eigvals(product).real)[::-1][:2]
    assert mean_cca(donor, recipient) == pytest.approx(np.sqrt(squares).mean())


def test_bases_stop_at_the_rank():
    rows = np.random.default_rng(0).standard_normal((30, 4))
    found = item_basis(np.hstack([rows, rows[:, :2], np.zeros((30, 1))]))
    assert found.vectors.shape == (30, 4)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(4), atol=1e-12)


def test_spaces_that_must_intersect_are_refused():
    rng = np.random.default_rng(0)
    donor, recipient = rng.standard_normal((20, 12)), rng.standard_normal((20, 8))
    with pytest.raises(EstimateError, match="ranks 12 and 8 over 20 items"):
        mean_cca(donor, recipient)
    assert mean_cca(donor, recipient[:, :7]) < 1
