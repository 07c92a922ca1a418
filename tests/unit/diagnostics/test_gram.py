"""Grams: what they hold, what they refuse, and what float32 storage costs."""

from itertools import permutations

import numpy as np
import pytest

from assay.diagnostics.gram import gram, hsic
from assay.errors import EstimateError, ShapeError


def rows(n=40, width=7, seed=0):
    return np.random.default_rng(seed).standard_normal((n, width))


def test_parts_of_the_centred_products():
    given = rows()
    centred = given - given.mean(axis=0)
    products = centred @ centred.T
    one = gram(given)
    np.testing.assert_allclose(one.zero + np.diag(one.diagonal), products, atol=1e-12)
    assert not one.zero.diagonal().any()
    np.testing.assert_allclose(one.row_sums, one.zero.sum(axis=1), atol=1e-12)
    assert one.norm == pytest.approx(np.linalg.norm(products))
    assert one.trace == pytest.approx(np.trace(products))
    assert one.self_hsic == pytest.approx(hsic(one, one), rel=1e-12)
    assert (one.n, one.flaw) == (40, "")


def test_hsic_is_the_mean_over_all_quadruples():
    """HSIC1 is a U-statistic: the mean over ordered quadruples of distinct items of K_ij (L_ij + L_kl - 2 L_ik)."""
    one, other = gram(rows(7, 3)), gram(rows(7, 2, seed=1))
    K, L = one.zero, other.zero
    terms = [K[i, j] * (L[i, j] + L[k, m] - 2 * L[i, k]) for i, j, k, m in permutations(range(7), 4)]
    assert hsic(one, other) == pytest.approx(np.mean(terms), rel=1e-12)


def test_a_large_offset_in_float32_is_harmless():
    given = rows(width=30)
    shifted = gram((given + 1000).astype(np.float32))
    np.testing.assert_allclose(shifted.zero, gram(given).zero, atol=1e-2)
    assert shifted.flaw == ""


def test_rows_are_not_changed():
    given = rows()
    before = given.copy()
    gram(given)
    np.testing.assert_array_equal(given, before)


def test_shuffling_equals_the_gram_of_shuffled_rows():
    given = rows()
    order = np.random.default_rng(1).permutation(40)
    shuffled, direct = gram(given).shuffled(order), gram(given[order])
    np.testing.assert_allclose(shuffled.zero, direct.zero, atol=1e-12)
    np.testing.assert_allclose(shuffled.row_sums, direct.row_sums, atol=1e-10)
    with pytest.raises(ShapeError, match="permutation of 40 items"):
        gram(given).shuffled(np.zeros(40, dtype=int))


def test_constant_rows_have_a_flaw_and_not_rounding_noise():
    constant = gram(np.full((30, 5), 0.1) * np.arange(1, 6))
    assert constant.norm == 0
    assert "not positive, over 30 items" in constant.flaw


def test_float32_storage_halves_memory():
    exact, stored = gram(rows()), gram(rows(), storage="float32")
    assert stored.zero.nbytes * 2 == exact.zero.nbytes
    assert np.abs(stored.zero - exact.zero).max() <= 6e-8 * np.abs(exact.zero).max()
    assert stored.self_hsic == exact.self_hsic


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (np.zeros(5), ShapeError, r"shape \(5,\)"),
        (np.zeros((5, 0)), ShapeError, r"shape \(5, 0\)"),
        (np.zeros((3, 2)), EstimateError, "3 rows; unbiased HSIC needs at least 4"),
        (np.where(np.arange(8)[:, None] == 5, np.nan, 1.0), EstimateError, r"row 5 holds NaN or infinity \(1 of 8"),
        (np.where(np.arange(8)[:, None] > 5, -np.inf, 1.0), EstimateError, r"row 6 holds NaN or infinity \(2 of 8"),
        (rows() * 1e200, EstimateError, "leave the range of float64"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_unusable_rows_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        gram(given)


def test_different_items_are_refused():
    with pytest.raises(ShapeError, match="40 donor items, 39 recipient items"):
        hsic(gram(rows()), gram(rows(39)))
