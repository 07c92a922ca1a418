"""The same similarities as the field's libraries on the same rows: ckatorch, rsatoolbox, scipy.

Differences that are not rounding are stated in docs/peers.md and pinned here.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import rsatoolbox
import scipy.spatial
import torch
from ckatorch.core import cka_base
from hypothesis import given
from hypothesis import strategies as st

from assay.diagnostics.cka import gram, linear_cka, unbiased_cka
from assay.diagnostics.procrustes import procrustes_similarity
from assay.diagnostics.rsa import item_distances, rsa


@st.composite
def pairs(draw):
    n, p, q = draw(st.integers(12, 60)), draw(st.integers(3, 30)), draw(st.integers(3, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    donor = rng.standard_normal((n, p))
    return donor, donor @ rng.standard_normal((p, q)) / math.sqrt(p) + rng.standard_normal((n, q)) + 1


@given(pairs())
def test_cka_of_ckatorch(pair):
    donor, recipient = (torch.from_numpy(side) for side in pair)
    grams = [gram(side) for side in pair]
    biased = cka_base(donor, recipient, kernel="linear", unbiased=False, method="fro_norm")
    assert linear_cka(*grams) == pytest.approx(float(biased), abs=1e-9)
    unbiased = cka_base(donor, recipient, kernel="linear", unbiased=True, method="fro_norm")
    assert unbiased_cka(*grams) == pytest.approx(float(unbiased), abs=1e-9)
    ignored = cka_base(donor, recipient, kernel="linear", unbiased=True, method="hsic")
    assert float(ignored) == pytest.approx(float(biased)), "its method `hsic` does not read `unbiased`"


def rdms(pair, method):
    sets = [rsatoolbox.data.Dataset(side) for side in pair]
    return [rsatoolbox.rdm.calc_rdm(one, method=method) for one in sets]


@pytest.mark.parametrize("method", ["euclidean", "correlation"])
@given(pairs())
def test_distances_of_rsatoolbox(method, pair):
    """Its `euclidean` is the squared distance over the number of columns."""
    for side, rdm in zip(pair, rdms(pair, method), strict=True):
        ours = item_distances(side, distance="sqeuclidean" if method == "euclidean" else "correlation")
        ours = ours / side.shape[1] if method == "euclidean" else ours
        np.testing.assert_allclose(ours, rdm.dissimilarities[0], atol=1e-10)


@pytest.mark.parametrize("method", ["euclidean", "correlation"])
@pytest.mark.parametrize(
    ("comparison", "theirs"), [("spearman", "spearman"), ("pearson", "corr"), ("whitened_cosine", "cosine_cov")]
)
@given(pairs())
def test_comparisons_of_rsatoolbox(method, comparison, theirs, pair):
    expected = float(rsatoolbox.rdm.compare(*rdms(pair, method), method=theirs)[0, 0])
    distance = "sqeuclidean" if method == "euclidean" else "correlation"
    assert rsa(*pair, distance=distance, comparison=comparison) == pytest.approx(expected, abs=1e-9)


@given(pairs())
def test_procrustes_of_scipy(pair):
    donor, recipient = pair
    width = max(donor.shape[1], recipient.shape[1])
    padded = [np.pad(side, ((0, 0), (0, width - side.shape[1]))) for side in pair]
    disparity = scipy.spatial.procrustes(*padded)[2]
    assert 1 - procrustes_similarity(donor, recipient) ** 2 == pytest.approx(disparity, abs=1e-9)
