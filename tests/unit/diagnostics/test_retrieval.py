"""Retrieval: matched views find their items, shams find chance, and no cluster is on both sides of the split."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.diagnostics.retrieval import (
    Retrieval,
    retrieval,
    retrieval_split,
    retrieval_view,
    shuffled_retrieval,
)
from assay.diagnostics.retrieval_maps import fit_ridge
from assay.errors import EstimateError, ShapeError
from assay.seeds import stream

N = 400
CLUSTERS = [f"page {i // 4}" for i in range(N)]


def views(noise=0.3, n=N, clusters=CLUSTERS, widths=(30, 20)):
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((n, 12))
    split = retrieval_split(clusters, rng=stream(0, "split"))
    made = [shared @ rng.standard_normal((12, w)) + 5 + noise * rng.standard_normal((n, w)) for w in widths]
    return [retrieval_view(rows, split) for rows in made]


@given(st.lists(st.integers(0, 40), min_size=60, max_size=150), st.integers(0, 99))
@settings(deadline=None, max_examples=30)
def test_the_split_keeps_clusters_whole(clusters, seed):
    try:
        split = retrieval_split(clusters, rng=stream(seed, "split"))
    except EstimateError:
        assert len(set(clusters)) < 25
        return
    of = np.array(clusters)
    assert sorted([*split.fit, *split.test]) == list(range(len(clusters)))
    assert not set(of[split.fit]) & set(of[split.test])
    assert len(split.fit) <= len(clusters) / 2
    folds = [set(of[split.fit][fold]) for fold in split.folds]
    assert sorted(place for fold in split.folds for place in fold) == list(range(len(split.fit)))
    assert sum(len(fold) for fold in folds) == len(set.union(*folds))
    assert split.test_clusters == tuple(of[split.test])


@pytest.mark.parametrize("map_kind", ["ridge", "procrustes"])
def test_matched_views_find_their_items_both_ways(map_kind):
    one, other = views()
    for donor, recipient in ((one, other), (other, one)):
        found = retrieval(donor, recipient, map_kind=map_kind)
        assert found.nearest.rate > 0.9 if map_kind == "ridge" else found.nearest.rate > 0.3
        assert found.csls.kind == "csls"
        assert (found.nearest.n_test, found.nearest.chance) == (200, 1 / 200)


@pytest.mark.parametrize("map_kind", ["ridge", "procrustes"])
def test_the_sham_is_at_chance(map_kind):
    one, other = views()
    hits = [shuffled_retrieval(one, other, rng=stream(i, "sham"), map_kind=map_kind).nearest.hits for i in range(20)]
    assert np.mean(hits) < 4
    assert retrieval(one, other, map_kind=map_kind).nearest.hits > 15 * np.mean(hits)


def test_unrelated_views_are_at_chance():
    one, other = views(noise=1e4)
    assert retrieval(one, other).nearest.hits <= 5


def test_scores_by_hand():
    """Cosine and CSLS of the 200 test items, written out."""
    one, other = views(noise=2.0)
    found = retrieval(one, other)
    mapped = fit_ridge(one.donor, other.donor.fit).mapped
    target = other.donor.test
    cosine = (mapped / np.linalg.norm(mapped, axis=1)[:, None]) @ (target / np.linalg.norm(target, axis=1)[:, None]).T
    np.testing.assert_array_equal(found.nearest.found, cosine.argmax(axis=1) == np.arange(200))
    queries = np.array([np.sort(row)[-10:].mean() for row in cosine])
    targets = np.array([np.sort(column)[-10:].mean() for column in cosine.T])
    csls = 2 * cosine - queries[:, None] - targets[None, :]
    np.testing.assert_array_equal(found.csls.found, csls.argmax(axis=1) == np.arange(200))
    assert 0 < found.nearest.hits < 200


def test_test_rows_do_not_influence_the_map():
    """Centring and fit use fit rows alone: moving a test row changes no other test item's own score."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((N, 30))
    split = retrieval_split(CLUSTERS, rng=stream(0, "split"))
    moved = rows.copy()
    moved[split.test[0]] += 1e6
    before, after = retrieval_view(rows, split), retrieval_view(moved, split)
    np.testing.assert_array_equal(before.donor.fit, after.donor.fit)
    np.testing.assert_array_equal(before.donor.test[1:], after.donor.test[1:])


def test_ties_are_not_found():
    """Equal rows in the pool would let argmax find the first of them for nothing."""
    one, other = views()
    rows = np.zeros((N, 20))
    rows[other.split.fit] = other.donor.fit
    equal = retrieval_view(rows, other.split)
    assert retrieval(one, equal).nearest.hits == 0
    assert retrieval(one, equal).csls.hits == 0


def test_interval_over_test_clusters():
    one, other = views(noise=2.0)
    found = retrieval(one, other).nearest
    estimate = found.interval(draws=500, rng=stream(0, "interval"))
    assert estimate.value == pytest.approx(found.rate)
    assert estimate.low < found.rate < estimate.high
    assert (estimate.n, estimate.reason) == (200, "")
    few = Retrieval(np.ones(36, dtype=bool), tuple(i % 9 for i in range(36)), "nearest")
    with pytest.raises(EstimateError, match="9 clusters"):
        few.interval(draws=100, rng=stream(0, "x"))


def test_the_regime_is_noted():
    one, _ = views(widths=(300, 20))
    assert "fewer than the width 300" in retrieval(one, one).nearest.note


def test_unusable_input_is_refused():
    one, other = views()
    split = one.split
    with pytest.raises(EstimateError, match="3 fit clusters for 5 folds"):
        retrieval_split([i % 6 for i in range(60)], rng=stream(0, "x"))
    with pytest.raises(EstimateError, match="10 test items"):
        retrieval_split(list(range(20)), rng=stream(0, "x"))
    with pytest.raises(EstimateError, match=r"fit_share 1\.5"):
        retrieval_split(CLUSTERS, rng=stream(0, "x"), fit_share=1.5)
    with pytest.raises(ShapeError, match=r"shape \(399, 2\), the split has 400 items"):
        retrieval_view(np.zeros((399, 2)), split)
    with pytest.raises(EstimateError, match="row 7 holds NaN"):
        retrieval_view(np.where(np.arange(N)[:, None] == 7, np.nan, 1.0), split)
    elsewhere = retrieval_view(np.ones((N, 2)), retrieval_split(CLUSTERS, rng=stream(1, "split")))
    with pytest.raises(ShapeError, match="different splits"):
        retrieval(one, elsewhere)
    constant = retrieval_view(np.ones((N, 2)), split)
    with pytest.raises(EstimateError, match="do not vary"):
        retrieval(constant, other)
