"""RSA: by scipy's own statistics, whitening by the full matrix, and rows without a distance."""

import math

import numpy as np
import pytest

from assay.diagnostics.cka import gram, linear_cka
from assay.diagnostics.rsa import item_distances, rsa
from assay.errors import EstimateError


def pair(n=25, p=12, q=17, seed=0):
    rng = np.random.default_rng(seed)
    donor = rng.standard_normal((n, p))
    return donor, donor @ rng.standard_normal((p, q)) / 3 + rng.standard_normal((n, q))


@pytest.mark.parametrize("distance", ["correlation", "cosine", "euclidean", "sqeuclidean"])
def test_spearman_and_pearson_of_the_distances(distance):
    from scipy.stats import pearsonr, spearmanr

    donor, recipient = pair()
    distances = [item_distances(side, distance=distance) for side in (donor, recipient)]
    assert rsa(donor, recipient, distance=distance) == pytest.approx(spearmanr(*distances).statistic)
    found = rsa(donor, recipient, distance=distance, comparison="pearson")
    assert found == pytest.approx(pearsonr(*distances).statistic)


def test_distances_by_hand():
    rows = np.array([[0.0, 1, 2], [0, 2, 1], [3, 0, 0]])
    by_hand = [math.dist(rows[i], rows[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert item_distances(rows).tolist() == pytest.approx(by_hand)
    assert item_distances(rows, distance="correlation")[0] == pytest.approx(1 - np.corrcoef(rows[0], rows[1])[0, 1])


@pytest.mark.parametrize("distance", ["sqeuclidean", "correlation"])
def test_whitening_equals_the_full_covariance_of_pairs(distance):
    donor, recipient = pair(n=9)
    first, second = np.triu_indices(9, 1)
    contrasts = np.eye(9)[first] - np.eye(9)[second]
    inverse = np.linalg.inv((contrasts @ contrasts.T) ** 2)
    x, y = (item_distances(side, distance=distance) for side in (donor, recipient))
    expected = x @ inverse @ y / math.sqrt((x @ inverse @ x) * (y @ inverse @ y))
    assert rsa(donor, recipient, distance=distance, comparison="whitened_cosine") == pytest.approx(expected)


def test_whitened_squared_distances_are_linear_cka():
    donor, recipient = pair(n=40)
    found = rsa(donor, recipient, distance="sqeuclidean", comparison="whitened_cosine")
    assert found == pytest.approx(linear_cka(gram(donor), gram(recipient)), abs=1e-10)


def test_rows_without_a_distance_are_named():
    donor, recipient = pair()
    flat = donor.copy()
    flat[4] = 0.3
    with pytest.raises(EstimateError, match="row 4 is constant over its columns"):
        rsa(flat, recipient, distance="correlation")
    flat[7] = 0.0
    with pytest.raises(EstimateError, match="row 7 is zero"):
        rsa(flat, recipient, distance="cosine")
    assert math.isfinite(rsa(flat, recipient))


def test_equal_distances_and_few_items_are_refused():
    with pytest.raises(EstimateError, match="all 10 euclidean distances of the donor are equal"):
        rsa(np.eye(5), pair(n=5)[1])
    with pytest.raises(EstimateError, match="3 rows; at least 4"):
        rsa(*pair(n=3))
