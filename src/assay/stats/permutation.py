"""P values from shuffles."""

from __future__ import annotations

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import EstimateError


def permutation_p(observed: float, shuffled: Float[NDArray, " draw"]) -> float:
    """One-sided p = (1 + #{shuffled >= observed - tolerance}) / (1 + draws), tolerance 1e-12 relative; never 0.

    The observed pairing counts as one of the shuffles.

    Raises:
        EstimateError: no shuffles, or a value that is not finite.

    Source: Phipson and Smyth 2010 (arXiv 1603.05766).
    """
    draws = np.asarray(shuffled, dtype=np.float64)
    if draws.ndim != 1 or draws.size == 0:
        raise EstimateError(f"permutation_p: shuffled values of shape {draws.shape}; a list of at least one is needed.")
    if not (np.isfinite(observed) and np.isfinite(draws).all()):
        n_bad = int((~np.isfinite(draws)).sum())
        raise EstimateError(
            f"permutation_p: observed {observed}, {n_bad} of {draws.size} shuffled values are not finite."
        )
    tolerance = 1e-12 * abs(observed)
    return float((1 + int((draws >= observed - tolerance).sum())) / (1 + draws.size))
