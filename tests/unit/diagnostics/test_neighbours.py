"""Mutual neighbours: by hand, at chance, and with ties that an order of items must not decide."""

import numpy as np
import pytest

from assay.diagnostics.neighbours import mutual_neighbours, neighbours_chance
from assay.errors import EstimateError


def pair(n=60, p=6, seed=0):
    rng = np.random.default_rng(seed)
    donor = rng.standard_normal((n, p)) + 3
    return donor, donor + 0.7 * rng.standard_normal((n, p))


def by_hand(donor, recipient, k, closeness):
    sets = []
    for side in (donor, recipient):
        rows = side if closeness == "inner_product" else side - side.mean(axis=0)
        near = []
        for i, row in enumerate(rows):
            if closeness == "euclidean":
                score = [-np.linalg.norm(row - other) for other in rows]
            elif closeness == "inner_product":
                score = [row @ other for other in rows]
            else:
                score = [row @ other / np.linalg.norm(row) / np.linalg.norm(other) for other in rows]
            near.append(set([j for j in np.argsort(score)[::-1] if j != i][:k]))
        sets.append(near)
    return np.mean([len(one & other) / k for one, other in zip(*sets, strict=True)])


@pytest.mark.parametrize("closeness", ["centred_cosine", "euclidean", "inner_product"])
@pytest.mark.parametrize("k", [1, 10, 58])
def test_by_hand(closeness, k):
    found = mutual_neighbours(*pair(), k=k, closeness=closeness)
    assert found == pytest.approx(by_hand(*pair(), k, closeness))


def test_equal_rows_stay_alike_under_rotation_and_in_any_order():
    """Half of the items are copies: taking the first of equals would give 0.9 on a rotation of itself."""
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.standard_normal((15, 8)), 4, axis=0)
    turned = rows @ np.linalg.qr(rng.standard_normal((8, 8)))[0]
    for closeness in ("centred_cosine", "euclidean"):
        for k in (2, 5, 10):
            assert mutual_neighbours(rows, turned, k=k, closeness=closeness) == pytest.approx(1)
    noisy = turned + rng.standard_normal(turned.shape)
    order = rng.permutation(60)
    assert mutual_neighbours(rows[order], noisy[order], k=5) == pytest.approx(mutual_neighbours(rows, noisy, k=5))


def test_ties_share_the_places_that_are_left():
    """Four corners of a square: the two nearest are tied, so each is a neighbour by one half for k = 1."""
    square = np.array([[0.0, 0], [0, 1], [1, 1], [1, 0]])
    line = np.array([[0.0, 0], [0, 1], [0, 10], [0, 11]])
    assert mutual_neighbours(square, square, k=1, closeness="euclidean") == 1
    assert mutual_neighbours(square, line, k=1, closeness="euclidean") == 0.5


def test_chance():
    assert neighbours_chance(1012) == pytest.approx(10 / 1011)
    rng = np.random.default_rng(0)
    found = [mutual_neighbours(rng.standard_normal((60, 4)), rng.standard_normal((60, 4)), k=6) for _ in range(60)]
    assert np.mean(found) == pytest.approx(neighbours_chance(60, k=6), abs=0.01)


def test_unusable_input_is_refused():
    donor, recipient = pair()
    for k in (0, 59):
        with pytest.raises(EstimateError, match=f"k = {k} of 60 items"):
            mutual_neighbours(donor, recipient, k=k)
    centred = donor - donor.mean(axis=0)
    symmetric = np.vstack([centred, -centred, np.zeros((1, 6))])
    with pytest.raises(EstimateError, match="item 120 is equal to the mean of all"):
        mutual_neighbours(symmetric, symmetric)
