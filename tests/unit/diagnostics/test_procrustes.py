"""Procrustes: the formula, its distance by optimisation over rotations, and the compact form."""

import math

import numpy as np
import pytest

from assay.diagnostics.procrustes import compact_rows, procrustes_angle, procrustes_distance, procrustes_similarity
from assay.errors import EstimateError, ShapeError


def pair(n=80, p=12, q=17, seed=0):
    rng = np.random.default_rng(seed)
    donor = rng.standard_normal((n, p)) + 2
    return donor, donor @ rng.standard_normal((p, q)) / 3 + rng.standard_normal((n, q))


@pytest.mark.parametrize("shape", [(80, 12, 17), (20, 50, 30), (30, 10, 60)])
def test_the_formula_in_every_shape(shape):
    donor, recipient = pair(*shape)
    X, Y = donor - donor.mean(axis=0), recipient - recipient.mean(axis=0)
    nuclear = np.linalg.svd(X.T @ Y, compute_uv=False).sum()
    norms = np.linalg.norm(X), np.linalg.norm(Y)
    assert procrustes_similarity(donor, recipient) == pytest.approx(nuclear / math.prod(norms), rel=1e-12)
    assert procrustes_angle(donor, recipient) == pytest.approx(math.acos(nuclear / math.prod(norms)), rel=1e-10)
    distance = math.sqrt(norms[0] ** 2 + norms[1] ** 2 - 2 * nuclear)
    assert procrustes_distance(donor, recipient) == pytest.approx(distance, rel=1e-10)


def test_the_distance_is_that_after_the_best_rotation_of_scipy():
    from scipy.linalg import orthogonal_procrustes

    donor, recipient = (rows - rows.mean(axis=0) for rows in pair(q=12))
    best, nuclear = orthogonal_procrustes(donor, recipient)
    assert procrustes_distance(donor, recipient) == pytest.approx(np.linalg.norm(donor @ best - recipient))
    assert procrustes_similarity(donor, recipient) == pytest.approx(
        nuclear / np.linalg.norm(donor) / np.linalg.norm(recipient)
    )


def test_agrees_with_the_disparity_of_scipy():
    """scipy.spatial.procrustes scales both sides to norm 1 and gives 1 - similarity^2."""
    from scipy.spatial import procrustes

    donor, recipient = pair(q=12)
    assert 1 - procrustes_similarity(donor, recipient) ** 2 == pytest.approx(procrustes(donor, recipient)[2])


def test_distances_are_metrics():
    rng = np.random.default_rng(0)
    sides = [rng.standard_normal((30, 5)) for _ in range(3)]
    for measure in (procrustes_angle, procrustes_distance):
        assert measure(sides[0], sides[1]) == pytest.approx(measure(sides[1], sides[0]))
        assert measure(sides[0], sides[2]) <= measure(sides[0], sides[1]) + measure(sides[1], sides[2]) + 1e-12
        assert measure(sides[0], sides[0]) == pytest.approx(0, abs=1e-6)
    assert procrustes_distance(sides[0], 2 * sides[0]) == pytest.approx(
        np.linalg.norm(sides[0] - sides[0].mean(axis=0))
    )
    assert procrustes_angle(sides[0], 2 * sides[0]) == pytest.approx(0, abs=1e-6)


def test_compact_rows_keep_all_products():
    rows, _ = pair(20, 50, 3)
    compact = compact_rows(rows)
    centred = rows - rows.mean(axis=0)
    assert compact.shape == (20, 20)
    np.testing.assert_allclose(compact @ compact.T, centred @ centred.T, atol=1e-10)
    assert compact_rows(pair()[0]).shape == (80, 12)


def test_unusable_rows_are_refused():
    with pytest.raises(ShapeError, match="80 donor rows, 79 recipient"):
        procrustes_similarity(pair()[0], pair()[1][:79])
    with pytest.raises(EstimateError, match="recipient: 80 rows of width 2 do not vary"):
        procrustes_similarity(pair()[0], np.ones((80, 2)))
