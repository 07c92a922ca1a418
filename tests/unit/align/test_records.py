"""What a fit says of itself, its digest of the rows, and the name that its refusals begin with."""

import hashlib

import numpy as np
import pytest

from assay.align.affine import AffineMap, Fit, rows_digest
from assay.align.cca import fit_cca, fit_cca_swap
from assay.align.identity import fit_identity
from assay.align.procrustes import fit_procrustes, undetermined
from assay.align.ridge import PENALTIES, GroupedCrossValidation, choose_penalty, fit_ridge
from assay.errors import EstimateError, ShapeError
from assay.rows import paired_rows

FITS = {
    "identity": fit_identity,
    "procrustes": fit_procrustes,
    "ridge": fit_ridge,
    "cca": fit_cca,
    "cca_swap": fit_cca_swap,
}


def rows(d=5, n=40, seed=0):
    donor = np.random.default_rng(seed).standard_normal((n, 6))
    return donor[:, :d] + 3, donor @ np.random.default_rng(9).standard_normal((6, d)) - 2


EXPECTED = {
    "identity": {"rank": 5},
    "procrustes": {"rank": 5, "regime": "isometric"},
    "ridge": {"rank": 5, "penalty": 1e-3},
    "cca": {"rank": 5, "penalty": 1e-3},
    "cca_swap": {"rank": 5, "penalty": 1e-3},
}


@pytest.mark.parametrize("name", FITS)
def test_the_record_of_a_fit(name):
    donor, recipient = rows()
    digest = rows_digest(paired_rows(donor, recipient, what="test"))
    assert FITS[name](donor, recipient).fit == Fit(name, 40, rows_digest=digest, **EXPECTED[name])


def test_the_digest_is_over_shapes_and_values_of_centred_rows_and_means():
    donor, recipient = rows(n=7)
    pair = paired_rows(donor, recipient, what="test")
    digest = hashlib.sha256()
    for part, shape in zip(pair, ("(7, 5)", "(7, 5)", "(5,)", "(5,)"), strict=True):
        digest.update(shape.encode() + part.astype("<f8").tobytes())
    assert rows_digest(pair) == digest.hexdigest()
    turned = pair._replace(donor=np.asfortranarray(pair.donor))
    assert rows_digest(turned) == digest.hexdigest()


@pytest.mark.parametrize("name", FITS)
def test_refusals_begin_with_the_name_of_the_fit(name):
    fit = FITS[name]
    with pytest.raises(EstimateError, match=rf"^fit_{name}, donor: row 1 holds NaN"):
        fit(np.where(np.arange(40)[:, None] == 1, np.nan, rows()[0]), rows()[1])
    with pytest.raises(EstimateError, match=rf"^fit_{name}, recipient: 40 rows of width 5 do not vary"):
        fit(rows()[0], np.ones((40, 5)))
    with pytest.raises(ShapeError, match=rf"^fit_{name}: 40 donor rows, 39 recipient rows"):
        fit(rows()[0], rows()[1][:39])


def test_refusals_of_the_others():
    with pytest.raises(ShapeError, match=r"^choose_penalty: 40 donor rows, 39 recipient rows"):
        choose_penalty(rows()[0], rows()[1][:39], how=GroupedCrossValidation(range(40)))
    still = np.vstack([np.ones((20, 5)), np.random.default_rng(0).standard_normal((20, 5))])
    how = GroupedCrossValidation([i >= 20 for i in range(40)], folds=2)
    with pytest.raises(EstimateError, match=r"^choose_penalty, without fold 1, donor: 20 rows of width 5 do not vary"):
        choose_penalty(still, rows()[1], how=how)
    given = AffineMap(np.eye(5), np.zeros(5), np.zeros(5))
    with pytest.raises(EstimateError, match=r"^AffineMap\.r_squared: row 0 holds NaN"):
        given.r_squared(rows()[0], np.full((40, 5), np.nan))
    with pytest.raises(ShapeError, match=r"^AffineMap: rows of shape \(5,\)"):
        given.apply(np.zeros(5))
    with pytest.raises(ShapeError, match=r"^AffineMap: rows of shape \(5,\)"):
        given.linear(np.zeros(5))
    for fit in (fit_cca, fit_cca_swap):
        for share in (0.0, -1.0, float("nan")):
            with pytest.raises(EstimateError, match=f"^cca: share {share}"):
                fit(*rows(), share=share)


def test_a_note_only_where_the_penalty_is_at_an_end():
    donor, recipient = rows()
    recipient = recipient + 5 * np.random.default_rng(1).standard_normal(recipient.shape)
    groups = [i // 2 for i in range(40)]

    def chosen(*penalties, folds=5):
        return choose_penalty(donor, recipient, how=GroupedCrossValidation(groups, folds, penalties))

    inner = chosen(1e-6, 0.3, 1e6)
    assert (inner.penalty, inner.note) == (0.3, "")
    assert chosen(0.3).note == ""
    assert chosen(0.3, 1e6).note == "the penalty 0.3 is at the end of its grid"
    assert chosen(1e6, 0.3).note == "the penalty 0.3 is at the end of its grid"
    assert chosen(1e6, 0.3, 0.3).penalty == 0.3
    assert chosen(1e6, 0.3, 0.3).note == ""
    assert chosen(0.3, folds=2).penalty == chosen(0.3, folds=20).penalty == 0.3
    assert fit_ridge(donor, recipient, penalty=GroupedCrossValidation(groups, 5, (0.3, 1e6))).fit.note.endswith("grid")
    assert GroupedCrossValidation(groups) == GroupedCrossValidation(groups, 5, PENALTIES)


def test_groups_go_to_the_folds_in_turn_as_they_first_appear():
    """Groups b a b c: with two folds b and c share the first."""
    donor, recipient = rows(n=40)
    names = ["b", "a", "b", "c"] * 10
    choice = choose_penalty(donor, recipient, how=GroupedCrossValidation(names, 2, (0.1,)))
    total = 0.0
    for held in (np.array(names) != "a", np.array(names) == "a"):
        fitted = fit_ridge(donor[~held], recipient[~held], penalty=0.1)
        total += float(((fitted.apply(donor[held]) - recipient[held]) ** 2).sum())
    assert choice.errors == pytest.approx((total,))


def test_directions_below_a_millionth_of_the_largest_are_not_determined():
    assert undetermined(np.array([2.0, 1.0, 2e-6])) == ""
    assert undetermined(np.array([2.0, 1.9e-6, 0.0])) == "the rows do not determine where 2 of 3 directions go"
    assert undetermined(np.array([0.0, 0.0])) == "the rows do not determine where 2 of 2 directions go"
    assert undetermined(np.array([1e-9, 1e-9])) == undetermined(np.array([3.0])) == ""


def test_condition_numbers_up_to_1e12_have_an_inverse():
    def diagonal(smallest):
        return AffineMap(np.diag([1.0, smallest]), np.zeros(2), np.ones(2))

    back = diagonal(1.01e-12).inverse()
    np.testing.assert_allclose(back.matrix, np.diag([1.0, 1 / 1.01e-12]))
    assert back.fit == Fit("inverse of given", 0, 2)
    np.testing.assert_array_equal((back.donor_mean, back.recipient_mean), (np.ones(2), np.zeros(2)))
    with pytest.raises(EstimateError, match=r"width 2 has condition number 1\.01e\+12, above 1e\+12"):
        diagonal(0.99e-12).inverse()


def test_parts_of_a_map_are_float64_and_fit():
    made = AffineMap(np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.int64), np.zeros(2))
    assert {part.dtype for part in (made.matrix, made.donor_mean, made.recipient_mean)} == {np.dtype(np.float64)}
    assert made.fit == Fit("given", 0, 0)
    nan = np.array([np.nan, 0.0])
    for parts in ((np.eye(2), nan, np.zeros(2)), (np.eye(2), np.zeros(2), nan)):
        with pytest.raises(EstimateError, match=r"^AffineMap: matrix or means hold NaN or infinity"):
            AffineMap(*parts)
    for parts in (
        (np.eye(2), np.zeros(2), np.zeros(3)),
        (np.eye(2), np.zeros((2, 1)), np.zeros(2)),
        (np.zeros(2), np.zeros(2), np.zeros(0)),
        (np.zeros((2, 2, 2)), np.zeros(2), np.zeros((2, 2))),
    ):
        with pytest.raises(ShapeError, match=r"^AffineMap: matrix \("):
            AffineMap(*parts)


def test_small_rows_vary_too():
    """R squared has no unit."""
    donor, recipient = rows()
    fitted = fit_ridge(donor, recipient)
    small = fit_ridge(donor, 1e-6 * recipient)
    assert small.r_squared(donor, 1e-6 * recipient) == pytest.approx(fitted.r_squared(donor, recipient))


def test_cca_keeps_what_is_above_the_threshold():
    """One component correlates by 1 / sqrt(2): kept below that threshold, refused above it."""
    shared = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 5)) - 0.0)[0]
    shared = np.linalg.qr(shared - shared.mean(axis=0))[0]
    donor = shared[:, :2]
    recipient = np.stack([shared[:, 0] + shared[:, 2], shared[:, 3]], axis=1)
    found = fit_cca(donor, recipient, share=1e-9)
    assert found.fit.rank == 1
    np.testing.assert_allclose(found.matrix, [[1.0, 0.0], [0.0, 0.0]], atol=1e-7)
    assert fit_cca(donor, recipient, threshold=0.707, share=1e-9).fit.rank == 1
    message = r"^fit_cca: no canonical correlation is above 0\.708 \(the largest is 0\.707\) over 60 rows"
    with pytest.raises(EstimateError, match=message):
        fit_cca(donor, recipient, threshold=0.708, share=1e-9)


def test_whitening_adds_a_share_of_the_mean_eigenvalue():
    donor, recipient = rows(d=3)
    centred, size = donor - donor.mean(axis=0), 3
    gram = centred.T @ centred
    regular = gram + 0.5 * np.trace(gram) / size * np.eye(size)
    other = recipient - recipient.mean(axis=0)
    found = fit_cca(donor, recipient, threshold=-1.0, share=0.5)
    np.testing.assert_allclose(found.matrix, np.linalg.solve(regular, centred.T @ other), atol=1e-10)
    swapped = fit_cca_swap(donor, recipient, share=0.5)
    gram_other = other.T @ other
    wanted = gram_other + 0.5 * np.trace(gram_other) / size * np.eye(size)
    np.testing.assert_allclose(swapped.matrix.T @ regular @ swapped.matrix, wanted, atol=1e-9)


def test_directions_that_are_only_rounding_get_no_weight():
    """Rows along one direction in three dimensions, and rows of width 1, without a penalty."""
    along = np.random.default_rng(0).standard_normal((30, 1))
    recipient = along @ np.array([[2.0, -1.0]]) + 4
    unit = np.array([[1.0, 1e-3, 0.3]])
    found = fit_ridge(along @ unit, recipient, penalty=0.0)
    np.testing.assert_allclose(found.matrix, unit.T @ np.array([[2.0, -1.0]]) / (unit @ unit.T), atol=1e-12)
    assert found.fit.rank == 1
    np.testing.assert_allclose(fit_ridge(along, recipient, penalty=0.0).matrix, [[2.0, -1.0]], atol=1e-12)
