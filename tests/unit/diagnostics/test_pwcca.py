"""PWCCA: by hand in both orders of width, and its refusals."""

import numpy as np
import pytest

from assay.diagnostics.pwcca import pwcca
from assay.errors import EstimateError


def pair(p, q, n=90, seed=0):
    rng = np.random.default_rng(seed)
    donor = rng.standard_normal((n, p)) * np.linspace(0.2, 2, p)
    return donor, donor @ rng.standard_normal((p, q)) / 2 + rng.standard_normal((n, q))


@pytest.mark.parametrize(("p", "q"), [(12, 17), (17, 12), (9, 9)])
def test_by_hand_whichever_side_is_wider(p, q):
    donor, recipient = pair(p, q)
    X, Y = donor - donor.mean(axis=0), recipient - recipient.mean(axis=0)
    one, other = np.linalg.qr(X)[0], np.linalg.qr(Y)[0]
    A, rho, _ = np.linalg.svd(one.T @ other, full_matrices=False)
    variates = one @ A
    alpha = [sum(abs(float(variates[:, i] @ X[:, j])) for j in range(p)) for i in range(min(p, q))]
    assert pwcca(donor, recipient) == pytest.approx(np.dot(alpha, rho) / np.sum(alpha))


def test_large_columns_weigh_more():
    rng = np.random.default_rng(0)
    kept, lost = rng.standard_normal((300, 2)), rng.standard_normal((300, 2))
    recipient = np.hstack([kept + 0.01 * rng.standard_normal((300, 2)), rng.standard_normal((300, 2))])
    assert pwcca(np.hstack([10 * kept, lost]), recipient) > 0.85
    assert pwcca(np.hstack([kept, 10 * lost]), recipient) < 0.3


def test_no_room_is_refused():
    with pytest.raises(EstimateError, match="pwcca: ranks 12 and 17 over 29 items"):
        pwcca(*pair(12, 17, n=29))
