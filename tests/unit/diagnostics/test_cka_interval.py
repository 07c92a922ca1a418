"""Intervals of CKA: the masked formula, its coverage, and the plain bootstrap that fails."""

import math

import numpy as np
import pytest

from assay.diagnostics.cka_interval import cka_draws, cka_interval
from assay.diagnostics.gram import gram, hsic_from_sums
from assay.errors import EstimateError, ShapeError
from assay.seeds import stream
from assay.stats.bootstrap import cluster_codes, draw_counts, percentile_estimate

P, Q, LATENT = 30, 40, 8


def latent_pair(n, seed, noise=1.0):
    """Two views of shared latent variables through fixed maps; the truth is the value at a very large n."""
    maps = np.random.default_rng(99)
    left, right = maps.standard_normal((LATENT, P)), maps.standard_normal((LATENT, Q))
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, LATENT))
    scale = noise * math.sqrt(LATENT)
    return shared @ left + scale * rng.standard_normal((n, P)), shared @ right + scale * rng.standard_normal((n, Q))


def truth(noise=1.0):
    """Population CKA from the covariances: |C_xy|^2 / (|C_xx| |C_yy|)."""
    maps = np.random.default_rng(99)
    left, right = maps.standard_normal((LATENT, P)), maps.standard_normal((LATENT, Q))
    variance = noise**2 * LATENT
    own = [np.linalg.norm(one.T @ one + variance * np.eye(one.shape[1])) for one in (left, right)]
    return np.linalg.norm(left.T @ right) ** 2 / math.prod(own)


def masked(donor, recipient, counts, of_item):
    """Unbiased CKA of the drawn items written out, entries between different copies of a cluster set to zero."""
    drawn = np.repeat(np.arange(len(counts)), counts)
    copy = np.concatenate([np.arange(count) for count in counts])
    hidden = (of_item[drawn][:, None] == of_item[drawn][None, :]) & (copy[:, None] != copy[None, :])
    K, L = (np.where(hidden, 0.0, one.zero[np.ix_(drawn, drawn)]) for one in (donor, recipient))
    terms = [hsic_from_sums(float((A * B).sum()), A.sum(axis=1), B.sum(axis=1)) for A, B in ((K, L), (K, K), (L, L))]
    return terms[0] / math.sqrt(terms[1] * terms[2])


def naive(donor, recipient, *, draws, rng):
    """Percentile interval of unbiased CKA over items drawn with replacement, copies compared with each other."""
    values = []
    for _ in range(draws):
        drawn = rng.integers(0, donor.n, donor.n)
        K, L = (one.zero + np.diag(one.diagonal) for one in (donor, recipient))
        K, L = K[np.ix_(drawn, drawn)], L[np.ix_(drawn, drawn)]
        np.fill_diagonal(K, 0)
        np.fill_diagonal(L, 0)
        terms = [
            hsic_from_sums(float((A * B).sum()), A.sum(axis=1), B.sum(axis=1)) for A, B in ((K, L), (K, K), (L, L))
        ]
        values.append(terms[0] / math.sqrt(terms[1] * terms[2]))
    return np.quantile(values, [0.025, 0.975])


def test_the_formula_equals_the_masked_gram_for_unequal_clusters():
    donor, recipient = (gram(rows) for rows in latent_pair(60, 0))
    clusters = [f"page {min(i // 3, 14)}" for i in range(60)]
    found = cka_interval(donor, recipient, clusters=clusters, draws=150, rng=stream(0, "draws"))
    codes = cluster_codes(clusters, 60)
    counts = draw_counts(codes.n_clusters, draws=150, rng=stream(0, "draws"))[:, codes.of_item].astype(int)
    assert len({row.sum() for row in counts}) > 3
    values = [masked(donor, recipient, row, codes.of_item) for row in counts]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])), abs=1e-12)


def test_nominal_coverage_where_the_plain_bootstrap_fails():
    expected = truth()
    assert 0.2 < expected < 0.8
    covered, fooled = 0, 0
    for trial in range(100):
        donor, recipient = (gram(rows) for rows in latent_pair(120, trial))
        rng = stream(trial, "coverage")
        found = cka_interval(donor, recipient, clusters=range(120), draws=300, rng=rng)
        covered += found.low <= expected <= found.high
        if trial < 20:
            low, high = naive(donor, recipient, draws=60, rng=rng)
            fooled += low <= expected <= high
    assert 0.90 <= covered / 100 <= 1
    assert fooled / 20 < 0.6


def test_the_interval_is_about_the_value_when_clusters_depend_strongly():
    """Counting pairs within a drawn cluster w * w times moves the whole interval up, off the value."""
    places = []
    for trial in range(12):
        rng = np.random.default_rng(trial)
        base = [np.repeat(rng.standard_normal((60, width)), 4, axis=0) for width in (P, Q)]
        donor, recipient = (gram(one + 0.5 * rng.standard_normal(one.shape)) for one in base)
        clusters = [i // 4 for i in range(240)]
        found = cka_interval(donor, recipient, clusters=clusters, draws=300, rng=stream(trial, "place"))
        places.append((found.value - found.low) / (found.high - found.low))
    assert 0.3 < np.mean(places) < 0.7


def test_unrelated_rows_have_an_interval_around_zero():
    rng = np.random.default_rng(0)
    donor, recipient = gram(rng.standard_normal((200, 300))), gram(rng.standard_normal((200, 300)))
    found = cka_interval(donor, recipient, clusters=range(200), draws=500, rng=stream(0, "draws"))
    assert found.low < 0 < found.high
    low, _ = naive(donor, recipient, draws=40, rng=stream(0, "naive"))
    assert low > 0.4


def test_a_sham_can_be_subtracted_draw_by_draw():
    donor, recipient = (gram(rows) for rows in latent_pair(120, 1))
    clusters = [i // 2 for i in range(120)]
    order = stream(0, "sham").permutation(120)
    matched, sham = (
        cka_draws(donor, side, clusters=clusters, draws=400, rng=stream(0, "contrast"))
        for side in (recipient, recipient.shuffled(order))
    )
    alone = cka_interval(donor, recipient, clusters=clusters, draws=400, rng=stream(0, "contrast"))
    assert percentile_estimate(matched.value, matched.drawn, n=120) == alone
    assert percentile_estimate(sham.value, sham.drawn, n=120).low < 0.05
    assert percentile_estimate(matched.value - sham.value, matched.drawn - sham.drawn, n=120).low > 0.2


def test_equal_generators_resample_other_pairs_alike():
    rows = latent_pair(80, 2)
    donor, recipient = (gram(side) for side in rows)
    turned = gram(rows[1][:, ::-1])
    first, second = (
        cka_draws(donor, side, clusters=range(80), draws=150, rng=stream(0, "pairs")) for side in (recipient, turned)
    )
    assert first.drawn == pytest.approx(second.drawn)
    other = cka_draws(donor, recipient, clusters=range(80), draws=150, rng=stream(1, "pairs"))
    assert first.drawn != pytest.approx(other.drawn)


def test_equal_views_have_an_interval_without_width():
    donor = gram(latent_pair(60, 0)[0])
    found = cka_interval(donor, donor, clusters=range(60), draws=100, rng=stream(0, "draws"))
    assert (found.value, found.low, found.high) == pytest.approx((1, 1, 1))


def test_no_variation_is_told_and_not_clamped():
    donor, constant = gram(latent_pair(40, 0)[0]), gram(np.ones((40, 3)))
    found = cka_interval(donor, constant, clusters=range(40), draws=100, rng=stream(0, "draws"))
    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert "recipient: the unbiased self term is 0, not positive, over 40 items" in found.reason
    assert "100 of 100 resamples" in found.reason


def test_few_clusters():
    donor, recipient = (gram(rows) for rows in latent_pair(60, 0))
    options = {"draws": 100, "rng": stream(0, "draws")}
    assert "12 clusters" in cka_interval(donor, recipient, clusters=[i % 12 for i in range(60)], **options).reason
    with pytest.raises(EstimateError, match="9 clusters; an interval needs 10"):
        cka_interval(donor, recipient, clusters=[i % 9 for i in range(60)], **options)


def test_items_must_agree():
    donor, other = gram(latent_pair(60, 0)[0]), gram(latent_pair(50, 0)[0])
    options = {"draws": 100, "rng": stream(0, "draws")}
    with pytest.raises(ShapeError, match="60 donor items, 50 recipient"):
        cka_interval(donor, other, clusters=range(60), **options)
    with pytest.raises(ShapeError, match="60 donor items, 50 recipient"):
        cka_draws(donor, other, clusters=range(60), **options)
    with pytest.raises(EstimateError, match="59 cluster names for 60 items"):
        cka_interval(donor, donor, clusters=range(59), **options)
