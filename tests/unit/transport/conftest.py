"""Costs as they come from activations: factors shared by both models, and noise."""

import numpy as np
import pytest


def standardised(rows):
    rows = rows - rows.mean(axis=0)
    return rows / np.sqrt((rows**2).sum(axis=0))


@pytest.fixture
def factor_cost():
    """1 - correlation of two models that see the same factors: mean 1, standard deviation about 0.1."""

    def make(n, m, *, seed=0, dtype=np.float64, rows=800, factors=64, noise=0.5):
        rng = np.random.default_rng(seed)
        shared = rng.standard_normal((rows, factors)) / np.sqrt(factors)
        left, right = (
            standardised(shared @ rng.standard_normal((factors, width)) + noise * rng.standard_normal((rows, width)))
            for width in (n, m)
        )
        return (1 - left.T @ right).astype(dtype)

    return make
