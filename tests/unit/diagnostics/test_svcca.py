"""SVCCA: by hand, its two ways to choose k, and the unit that must not matter."""

import numpy as np
import pytest

from assay.diagnostics.svcca import svcca, svcca_at_share
from assay.errors import EstimateError


def pair(n=80, p=12, q=17, seed=0):
    rng = np.random.default_rng(seed)
    donor = rng.standard_normal((n, p)) * np.linspace(0.1, 2, p)
    return donor, donor @ rng.standard_normal((p, q)) + rng.standard_normal((n, q))


def leading(rows, k):
    return np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[0][:, :k]


def test_by_hand():
    donor, recipient = pair()
    rho = np.linalg.svd(leading(donor, 5).T @ leading(recipient, 5), compute_uv=False)
    assert svcca(donor, recipient, k=5) == pytest.approx(rho.mean())
    assert svcca(donor, recipient, k=1) == pytest.approx(
        abs(float(leading(donor, 1)[:, 0] @ leading(recipient, 1)[:, 0]))
    )


def test_the_share_counts_squared_singular_values():
    donor = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 4)))[0]
    donor = np.linalg.qr(donor - donor.mean(axis=0))[0] * np.sqrt([90.0, 9, 0.9, 0.1])
    assert svcca_at_share(donor, donor, share=0.90)[1:] == (1, 1)
    assert svcca_at_share(donor, donor)[1:] == (2, 2)
    assert svcca_at_share(donor, donor, share=0.9905)[1:] == (3, 3)
    assert svcca_at_share(donor, donor, share=1.0)[1:] == (4, 4)


@pytest.mark.parametrize("unit", [1e-6, 1e-2, 1e3, 1e9])
def test_k_does_not_depend_on_the_unit(unit):
    """A share compared with a total that is no fraction turns k into 1 when the rows are large."""
    donor, recipient = pair()
    expected = svcca_at_share(donor, recipient)
    found = svcca_at_share(unit * donor, unit * recipient)
    assert found.k_donor == expected.k_donor > 5
    assert found.value == pytest.approx(expected.value)


@pytest.mark.parametrize("k", [0, 13])
def test_k_beyond_the_rank_is_refused(k):
    with pytest.raises(EstimateError, match=f"k = {k}; the rows have rank 12 and 17, so k goes from 1 to 12"):
        svcca(*pair(), k=k)


@pytest.mark.parametrize("share", [0.0, 1.1])
def test_a_share_is_a_share(share):
    with pytest.raises(EstimateError, match=f"share {share}"):
        svcca_at_share(*pair(), share=share)
