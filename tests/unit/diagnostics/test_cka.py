"""CKA: invariances, values on unrelated rows, the closed form of its shuffled mean, grids and shams."""

import dataclasses
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.diagnostics.cka import (
    gram,
    layer_grid,
    linear_cka,
    shuffled_cka,
    shuffled_expectation,
    unbiased_cka,
)
from assay.errors import EstimateError, ShapeError
from assay.seeds import stream
from assay.stats.permutation import permutation_p

MEASURES = [linear_cka, unbiased_cka]


def correlated(n=80, p=12, q=17, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    donor = rng.standard_normal((n, p)) * np.linspace(0.5, 2, p)
    return donor, donor @ rng.standard_normal((p, q)) / math.sqrt(p) + noise * rng.standard_normal((n, q))


def orthogonal(width, seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((width, width)))[0]


@pytest.mark.parametrize("measure", MEASURES)
@settings(deadline=None, max_examples=15)
@given(n=st.integers(20, 200), p=st.integers(2, 60), q=st.integers(2, 60), seed=st.integers(0, 10**6))
def test_invariances(measure, n, p, q, seed):
    donor, recipient = correlated(n, p, q, seed)
    rng = np.random.default_rng(seed + 1)
    value = measure(gram(donor), gram(recipient))
    order = rng.permutation(n)
    same = {
        "symmetric": measure(gram(recipient), gram(donor)),
        "joint order of items": measure(gram(donor[order]), gram(recipient[order])),
        "rotation": measure(gram(donor @ orthogonal(p, seed)), gram(recipient @ orthogonal(q, seed))),
        "scale and sign": measure(gram(-3e3 * donor), gram(1e-3 * recipient)),
        "shift": measure(gram(donor + 50 * rng.standard_normal(p)), gram(recipient - 7)),
        "order of columns": measure(gram(donor[:, rng.permutation(p)]), gram(recipient)),
        "columns of zeros": measure(gram(np.pad(donor, ((0, 0), (0, 3)))), gram(recipient)),
        "doubled columns": measure(gram(np.hstack([donor, donor])), gram(recipient)),
    }
    assert same == pytest.approx(dict.fromkeys(same, value), abs=1e-8)
    assert measure(gram(donor), gram(donor)) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_rescaling_single_columns_changes_it(measure):
    """The twin of the invariances: an invertible map that is no rotation moves the value."""
    donor, recipient = correlated(q=20)
    scaled = donor.copy()
    scaled[:, 0] *= 100
    assert abs(measure(gram(scaled), gram(recipient)) - measure(gram(donor), gram(recipient))) > 0.1


def test_equal_to_the_formula_in_features():
    donor, recipient = correlated()
    X, Y = donor - donor.mean(axis=0), recipient - recipient.mean(axis=0)
    norm = np.linalg.norm
    assert linear_cka(gram(donor), gram(recipient)) == pytest.approx(
        norm(Y.T @ X) ** 2 / (norm(X.T @ X) * norm(Y.T @ Y)), rel=1e-12
    )


def test_both_sides_may_be_tiny():
    """Norms far below 1, whose product is no zero."""
    wanted = [gram(rows) for rows in correlated()]
    tiny = [gram(1e-4 * rows) for rows in correlated()]
    for measure in (*MEASURES, shuffled_expectation):
        assert measure(*tiny) == pytest.approx(measure(*wanted), rel=1e-9)


def test_unrelated_rows_at_the_size_of_a_test_set():
    """Biased CKA of unrelated wide rows is two thirds; the unbiased one is zero."""
    rng = np.random.default_rng(0)
    one, other = (gram(rng.standard_normal((1012, 2048))) for _ in range(2))
    assert abs(unbiased_cka(one, other)) < 0.02
    assert linear_cka(one, other) == pytest.approx(0.670, abs=0.01)
    assert linear_cka(one, other) == pytest.approx(shuffled_expectation(one, other), abs=0.01)
    assert shuffled_expectation(one, other) == pytest.approx(2048 / (2048 + 1012), abs=0.01)


def test_the_closed_form_is_the_mean_of_shuffles():
    one, other = (gram(rows) for rows in correlated(n=60))
    shuffles = shuffled_cka(one, other, draws=3000, rng=stream(0, "shuffles"), kind="biased")
    error = shuffles.std() / math.sqrt(3000)
    assert abs(shuffles.mean() - shuffled_expectation(one, other)) < 4 * error
    assert error < 0.002
    participation = [(one.trace / one.norm) ** 2, (other.trace / other.norm) ** 2]
    assert shuffled_expectation(one, other) == pytest.approx(math.sqrt(math.prod(participation)) / 59)


@pytest.mark.parametrize("kind", ["biased", "unbiased"])
def test_a_shuffle_equals_the_value_of_shuffled_rows(kind):
    donor, recipient = correlated()
    found = shuffled_cka(gram(donor), gram(recipient), draws=3, rng=stream(0, "one"), kind=kind)
    rng = stream(0, "one")
    measure = linear_cka if kind == "biased" else unbiased_cka
    direct = [measure(gram(donor), gram(recipient[rng.permutation(80)])) for _ in range(3)]
    assert found == pytest.approx(np.array(direct), abs=1e-12)


def test_the_sham_is_null_and_the_matched_value_is_not():
    one, other = (gram(rows) for rows in correlated())
    shuffles = shuffled_cka(one, other, draws=199, rng=stream(0, "sham"))
    assert abs(shuffles.mean()) < 0.01
    assert permutation_p(unbiased_cka(one, other), shuffles) == 1 / 200


def test_clusters_stay_together_in_shuffles():
    """Rows that depend on their cluster alone: item shuffles break the dependence within clusters, cluster shuffles
    keep it, so only the latter give a null wide enough for two sides that vary by cluster without correspondence.
    """
    rng = np.random.default_rng(0)
    clusters = [i // 10 for i in range(120)]
    one, other = (gram(np.repeat(rng.standard_normal((12, 6)), 10, axis=0)) for _ in range(2))
    kept = shuffled_cka(one, other, draws=200, rng=stream(0, "clusters"), clusters=clusters)
    broken = shuffled_cka(one, other, draws=200, rng=stream(0, "items"))
    assert kept.std() > 5 * broken.std()
    value = unbiased_cka(one, other)
    assert permutation_p(value, kept) > 0.05


def test_layer_grid_equals_pair_by_pair():
    rng = np.random.default_rng(0)
    base = rng.standard_normal((150, 9))
    donor = [gram(base + depth * rng.standard_normal((150, 9))) for depth in range(4)]
    recipient = [gram(base @ rng.standard_normal((9, 5)) + depth) for depth in range(3)] + [gram(np.ones((150, 2)))]
    direct = np.array([[unbiased_cka(one, other) for other in recipient] for one in donor])
    np.testing.assert_allclose(layer_grid(donor, recipient), direct, atol=1e-12)
    assert np.isnan(direct[:, 3]).all()


def test_float32_storage_moves_values_by_less_than_a_millionth():
    rows = correlated(n=300, p=40, q=50)
    exact, stored = [gram(one) for one in rows], [gram(one, storage="float32") for one in rows]
    assert abs(unbiased_cka(*stored) - unbiased_cka(*exact)) < 1e-6
    assert abs(layer_grid(stored[:1], stored[1:])[0, 0] - unbiased_cka(*exact)) < 1e-6


def test_rows_that_do_not_vary_have_no_value():
    one, constant = gram(correlated()[0]), gram(np.ones((80, 3)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for measure in (*MEASURES, shuffled_expectation):
            assert math.isnan(measure(one, constant))
            assert math.isnan(measure(constant, one))
    with pytest.raises(EstimateError, match="not positive, over 80 items"):
        shuffled_cka(one, constant, draws=10, rng=stream(0, "x"))


def test_negative_values_are_not_clamped():
    rng = np.random.default_rng(3)
    values = [unbiased_cka(gram(rng.standard_normal((30, 40))), gram(rng.standard_normal((30, 40)))) for _ in range(40)]
    assert min(values) < -0.01
    assert abs(np.mean(values)) < 0.01


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a, b: linear_cka(a, b), ShapeError, "80 donor items, 79 recipient"),
        (lambda a, b: unbiased_cka(a, b), ShapeError, "Row i must be the same item"),
        (lambda a, b: layer_grid([a, a], [a, b]), ShapeError, "79 recipient items"),
        (lambda a, b: layer_grid([a], []), EstimateError, "1 donor and 0 recipient layers"),
        (lambda a, b: shuffled_cka(a, a, draws=0, rng=stream(0, "x")), EstimateError, "0 draws"),
        (
            lambda a, b: shuffled_cka(a, a, draws=1, rng=stream(0, "x"), clusters=["one"] * 80),
            EstimateError,
            "all items are in one cluster",
        ),
        (
            lambda a, b: shuffled_cka(a, a, draws=1, rng=stream(0, "x"), clusters=["one"]),
            EstimateError,
            "1 cluster names for 80",
        ),
    ],
)
def test_bad_input_is_refused(call, error, message):
    donor, recipient = correlated()
    with pytest.raises(error, match=message):
        call(gram(donor), gram(recipient[:79]))


def test_two_clusters_can_be_exchanged():
    """With two documents the only other order swaps them; one document has none."""
    donor, recipient = (gram(rows) for rows in correlated(n=20))
    swapped = gram(np.roll(correlated(n=20)[1], 10, axis=0))
    found = shuffled_cka(donor, recipient, draws=40, rng=stream(0, "two"), clusters=[0] * 10 + [1] * 10)
    expected = sorted([unbiased_cka(donor, recipient), unbiased_cka(donor, swapped)])
    assert sorted(set(np.round(found, 12))) == pytest.approx(expected, abs=1e-9)


def test_two_self_terms_below_zero_by_rounding_do_not_make_a_value():
    """The root of their product would be real."""
    flat = dataclasses.replace(gram(correlated(n=20)[0]), self_hsic=-1e-20)
    fine = gram(correlated(n=20)[0])
    found = layer_grid([flat, fine], [flat, fine])
    assert np.isnan(found).tolist() == [[True, True], [True, False]]
