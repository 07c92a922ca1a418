"""Laws of alignment maps, over every entry of ``MAPS``, each with a broken twin that makes it fail."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.align.affine import AffineMap, matrix_rank
from assay.align.maps import MAPS, MapKind
from assay.align.procrustes import fit_procrustes
from assay.align.ridge import fit_ridge
from assay.controls.maps import fit_haar_sham, sham_of
from assay.errors import AssayError, EstimateError, ShapeError
from assay.seeds import stream

NAMES = sorted(MAPS)
FITTED = [name for name in NAMES if MAPS[name].family != "fixed"]
REGRESSIONS = [name for name in NAMES if MAPS[name].family == "regression"]
ISOMETRIES = [name for name in NAMES if MAPS[name].family == "isometry"]


@st.composite
def paired(draw, *, equal_widths=False):
    """Rows that share most of their directions, of any widths, scales and offsets."""
    d_donor = draw(st.integers(3, 14))
    d_recipient = d_donor if equal_widths else draw(st.integers(3, 14))
    n = draw(st.integers(4 * (d_donor + d_recipient), 180))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    scale = 10.0 ** draw(st.integers(-3, 3))
    donor = rng.standard_normal((n, d_donor)) * np.linspace(0.5, 2, d_donor)
    mixing = rng.standard_normal((d_donor, d_recipient)) / np.sqrt(d_donor)
    recipient = donor @ mixing + 0.2 * rng.standard_normal((n, d_recipient))
    return scale * donor + rng.standard_normal(d_donor), recipient + draw(st.sampled_from([0.0, 30.0]))


def rows_for(name, data):
    return data.draw(paired(equal_widths=MAPS[name].family == "fixed"))


def orthogonal(width, seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((width, width)))[0]


def close(one, other, *, scale=None):
    size = np.abs(other).max() if scale is None else scale
    return bool(np.abs(one - other).max() <= 1e-7 * max(size, 1e-12))


# Each law is a function kind, donor, recipient -> bool, so that a twin can be put through it.


def is_affine(kind, donor, recipient):
    fitted = kind.fit(donor, recipient)
    one, other = donor[:5], donor[5:10]
    mixed = fitted.apply(0.3 * one + 0.7 * other)
    return (
        mixed.shape == (5, recipient.shape[1])
        and close(mixed, 0.3 * fitted.apply(one) + 0.7 * fitted.apply(other))
        and close(fitted.linear(one - other), fitted.apply(one) - fitted.apply(other), scale=np.abs(mixed).max())
    )


def forgets_the_order_of_rows(kind, donor, recipient):
    order = np.random.default_rng(1).permutation(len(donor))
    fitted, again = kind.fit(donor, recipient), kind.fit(donor[order], recipient[order])
    return close(again.apply(donor), fitted.apply(donor))


def repeats_itself_and_leaves_its_input(kind, donor, recipient):
    before = donor.copy(), recipient.copy()
    one, other = kind.fit(donor, recipient), kind.fit(donor, recipient)
    same = np.array_equal(one.matrix, other.matrix) and one.fit == other.fit
    return same and np.array_equal(before[0], donor) and np.array_equal(before[1], recipient)


def ignores_offsets(kind, donor, recipient):
    moved = kind.fit(donor + 5 * np.abs(donor).max(), recipient - 3)
    return close(moved.matrix, kind.fit(donor, recipient).matrix)


def carries_mean_to_mean(kind, donor, recipient):
    fitted = kind.fit(donor, recipient)
    return close(fitted.apply(donor).mean(axis=0), recipient.mean(axis=0), scale=np.abs(recipient).max())


def turns_with_rotations(kind, donor, recipient):
    left, right = orthogonal(donor.shape[1], 2), orthogonal(recipient.shape[1], 3)
    turned = kind.fit(donor @ left, recipient @ right).matrix
    return close(turned, left.T @ kind.fit(donor, recipient).matrix @ right)


def ignores_the_unit_of_the_donor(kind, donor, recipient):
    """An isometry keeps its matrix; a swap or a regression undoes the factor."""
    matrix, scaled = kind.fit(donor, recipient).matrix, kind.fit(1e3 * donor, recipient).matrix
    return close(scaled, matrix) if kind.family == "isometry" else close(1e3 * scaled, matrix)


def never_varies_more_than_the_recipient(kind, donor, recipient):
    """A trace of at most (1 + 1e-3) times the recipient's: whitening adds a thousandth."""
    return kind.fit(donor, recipient).apply(donor).var(axis=0).sum() <= 1.0011 * recipient.var(axis=0).sum()


def says_how_it_was_made(kind, donor, recipient):
    """Name in the table, rows, rank of the matrix, and a digest that names the rows and no others."""
    fitted, other = kind.fit(donor, recipient), kind.fit(donor, recipient + recipient[::-1])
    fit = fitted.fit
    return (
        MAPS.get(fit.name) is kind
        and fit.n_rows == len(donor)
        and fit.rank == matrix_rank(fitted.matrix)
        and bool(fit.rows_digest)
        and fit.rows_digest != other.fit.rows_digest
    )


def has_orthonormal_sides(kind, donor, recipient):
    matrix = kind.fit(donor, recipient).matrix
    gram = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    return bool(np.abs(gram - np.eye(len(gram))).max() < 1e-10)


def twin(matrix_of, *, family="isometry"):
    """A broken member: its matrix is what ``matrix_of`` says, its means those of the rows."""

    def fit(donor, recipient):
        return AffineMap(matrix_of(donor, recipient), donor.mean(axis=0), recipient.mean(axis=0))

    return MapKind(fit, family)


def first_rows_only(donor, recipient):
    return fit_procrustes(donor[:9], recipient[:9]).matrix


def uncentred(donor, recipient):
    return np.linalg.lstsq(donor, recipient, rcond=None)[0]


def in_coordinates(donor, recipient):
    return np.sign(fit_procrustes(donor, recipient).matrix)


COUNTER = iter(range(10**9))


def counted(donor, recipient):
    return np.full((donor.shape[1], recipient.shape[1]), float(next(COUNTER)))


def doubled(donor, recipient):
    return 2 * fit_ridge(donor, recipient).matrix


def off_mean(donor, recipient):
    return AffineMap(fit_procrustes(donor, recipient).matrix, donor.mean(axis=0), recipient.mean(axis=0) + 1)


LAWS = [
    (is_affine, NAMES),
    (forgets_the_order_of_rows, NAMES),
    (repeats_itself_and_leaves_its_input, NAMES),
    (ignores_offsets, NAMES),
    (carries_mean_to_mean, FITTED),
    (turns_with_rotations, FITTED),
    (ignores_the_unit_of_the_donor, FITTED),
    (never_varies_more_than_the_recipient, REGRESSIONS),
    (has_orthonormal_sides, ISOMETRIES),
    (says_how_it_was_made, NAMES),
]
TWINS = {
    forgets_the_order_of_rows: twin(first_rows_only),
    repeats_itself_and_leaves_its_input: twin(counted),
    ignores_offsets: twin(uncentred, family="regression"),
    carries_mean_to_mean: MapKind(off_mean, "isometry"),
    turns_with_rotations: twin(in_coordinates),
    ignores_the_unit_of_the_donor: twin(lambda x, y: np.ones((x.shape[1], y.shape[1])) * x.std()),
    never_varies_more_than_the_recipient: twin(doubled, family="regression"),
    says_how_it_was_made: MapKind(fit_procrustes, "isometry"),
    has_orthonormal_sides: twin(lambda x, y: 1.001 * fit_procrustes(x, y).matrix),
}


@pytest.mark.parametrize(("law", "name"), [(law, name) for law, names in LAWS for name in names])
@given(data=st.data())
def test_law(law, name, data):
    assert law(MAPS[name], *rows_for(name, data))


@pytest.mark.parametrize(
    "wrong", [{"name": "ridge"}, {"n_rows": 99}, {"rank": 7}, {"rows_digest": ""}, {"rows_digest": "same"}], ids=str
)
def test_each_part_of_a_wrong_record_is_found(monkeypatch, wrong):
    rng = np.random.default_rng(0)
    donor, recipient = rng.standard_normal((100, 8)), rng.standard_normal((100, 9))

    def fit(one, other):
        fitted = fit_procrustes(one, other)
        return dataclasses.replace(fitted, fit=dataclasses.replace(fitted.fit, **wrong))

    assert says_how_it_was_made(MAPS["procrustes"], donor, recipient)
    kind = MapKind(fit, "isometry")
    monkeypatch.setattr(sys.modules[__name__], "MAPS", {**MAPS, "procrustes": kind})
    assert not says_how_it_was_made(kind, donor, recipient)


@pytest.mark.parametrize("law", TWINS, ids=lambda law: law.__name__)
def test_a_broken_member_is_found(law):
    rng = np.random.default_rng(0)
    donor = rng.standard_normal((100, 8)) + 2
    recipient = donor @ rng.standard_normal((8, 9)) + 0.2 * rng.standard_normal((100, 9)) + 5
    assert not law(TWINS[law], donor, recipient)


def test_a_map_that_bends_is_found(monkeypatch):
    rng = np.random.default_rng(0)
    donor = rng.standard_normal((100, 8))
    straight = AffineMap.apply
    monkeypatch.setattr(AffineMap, "apply", lambda self, rows: np.tanh(straight(self, rows)))
    assert not is_affine(MAPS["procrustes"], donor, donor @ rng.standard_normal((8, 9)))


def test_every_law_has_its_twin():
    assert {law for law, _ in LAWS} == {*TWINS, is_affine}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_unusable_rows_are_refused(name, data):
    donor, recipient = rows_for(name, data)
    fit = MAPS[name].fit
    for spoilt, error in (
        ((donor[:-1], recipient), ShapeError),
        ((donor[0], recipient[0]), ShapeError),
        ((np.where(np.arange(len(donor))[:, None] == 3, np.nan, donor), recipient), EstimateError),
        ((donor, np.full_like(recipient, np.inf)), EstimateError),
        ((donor[:1], recipient[:1]), EstimateError),
        ((np.ones_like(donor) * donor[0], recipient), EstimateError),
        ((donor, np.ones_like(recipient) * 0.1), EstimateError),
    ):
        with pytest.raises(error):
            fit(*spoilt)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_a_map_and_its_inverse_give_the_rows_back(name, data):
    donor, recipient = data.draw(paired(equal_widths=True))
    fitted = MAPS[name].fit(donor, recipient)
    if fitted.fit.rank < fitted.d_donor:
        with pytest.raises(EstimateError, match="condition number"):
            fitted.inverse()
        return
    there_and_back = fitted.then(fitted.inverse())
    np.testing.assert_allclose(there_and_back.apply(donor), donor, atol=1e-6 * np.abs(donor).max())


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data(), seed=st.integers(0, 99))
def test_the_sham_has_the_signature_the_means_and_the_lengths(name, data, seed):
    donor, recipient = rows_for(name, data)
    real = MAPS[name].fit(donor, recipient)
    sham = sham_of(real, rng=stream(seed, "sham"))
    assert (sham.matrix.shape, sham.n_parameters) == (real.matrix.shape, real.n_parameters)
    np.testing.assert_array_equal(sham.donor_mean, real.donor_mean)
    np.testing.assert_array_equal(sham.recipient_mean, real.recipient_mean)
    bound = MapKind(lambda d, r: fit_haar_sham(d, r, rng=stream(seed, "sham")), "isometry")
    assert has_orthonormal_sides(bound, donor, recipient)
    assert carries_mean_to_mean(bound, donor, recipient)
    assert not turns_with_rotations(bound, donor, recipient)


# --- the annihilation proposition


@st.composite
def uninformative(draw, *, wide=None):
    """x = w + s U' and y = w B + e, with s made uncorrelated with w and y within the sample."""
    d_donor = draw(st.integers(4, 32))
    d_recipient = draw(st.integers(d_donor, 32) if wide else st.integers(4, 32))
    k = draw(st.integers(1, d_donor - 1))
    n = 4 * (d_donor + d_recipient) + draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    basis = orthogonal(d_donor, int(rng.integers(2**32)))
    U, rest = basis[:, :k], basis[:, k:]
    w = rng.standard_normal((n, d_donor - k)) @ rest.T
    y = w @ rng.standard_normal((d_donor, d_recipient)) + 0.3 * rng.standard_normal((n, d_recipient))
    known = np.linalg.qr(np.hstack([np.ones((n, 1)), w @ rest, y]))[0]
    s = rng.standard_normal((n, k))
    s -= known @ (known.T @ s)
    s -= known @ (known.T @ s)
    return w + s @ U.T, y, s, U


@pytest.mark.parametrize("name", REGRESSIONS)
@given(problem=uninformative())
def test_regression_annihilates_what_the_recipient_does_not_follow(name, problem):
    donor, recipient, _, U = problem
    fitted = MAPS[name].fit(donor, recipient)
    assert np.linalg.norm(U.T @ fitted.matrix) < 1e-9 * np.linalg.norm(fitted.matrix)
    pushed = fitted.apply(donor + 7 * U[:, 0])
    np.testing.assert_allclose(pushed, fitted.apply(donor), atol=1e-7 * np.abs(recipient).max())


@pytest.mark.parametrize("penalty", [0.0, 1e-6, 1e-3, 1.0])
@given(problem=uninformative())
def test_ridge_annihilates_at_every_penalty(penalty, problem):
    donor, recipient, _, U = problem
    matrix = fit_ridge(donor, recipient, penalty=penalty).matrix
    assert np.linalg.norm(U.T @ matrix) < 1e-9 * np.linalg.norm(matrix)


@pytest.mark.parametrize("name", ISOMETRIES)
@given(problem=uninformative(wide=True))
def test_an_isometry_cannot_annihilate(name, problem):
    donor, recipient, _, U = problem
    fitted = MAPS[name].fit(donor, recipient)
    assert np.linalg.norm(U.T @ fitted.matrix) == pytest.approx(np.sqrt(U.shape[1]), abs=1e-9)
    assert str(U.shape[1]) in fitted.fit.note, "the rows do not say where these directions go"


@pytest.mark.parametrize("name", REGRESSIONS)
@given(problem=uninformative())
def test_what_the_recipient_follows_is_not_annihilated(name, problem):
    """The negative control: the recipient now follows s by half."""
    donor, recipient, s, U = problem
    rng = np.random.default_rng(0)
    follows = recipient + 0.5 * s @ rng.standard_normal((s.shape[1], recipient.shape[1]))
    fitted = fit_ridge(donor, follows, penalty=1e-6) if name == "ridge" else MAPS[name].fit(donor, follows)
    assert np.linalg.norm(U.T @ fitted.matrix) > 0.1


def test_a_projecting_procrustes_can_annihilate():
    """Width 24 to 16: the kernel has 8 dimensions and takes in directions that nothing follows."""
    rng = np.random.default_rng(0)
    basis = orthogonal(24, 0)
    U, rest = basis[:, :3], basis[:, 3:]
    w = rng.standard_normal((400, 21)) @ rest.T
    y = w @ rng.standard_normal((24, 16))
    known = np.linalg.qr(np.hstack([np.ones((400, 1)), w @ rest, y]))[0]
    s = rng.standard_normal((400, 3))
    s -= known @ (known.T @ s)
    fitted = fit_procrustes(w + s @ U.T, y)
    assert fitted.fit.regime == "projecting"
    assert np.linalg.norm(U.T @ fitted.matrix) < 1e-9


def test_finite_samples_annihilate_as_the_root_of_their_size():
    rng = np.random.default_rng(1)
    found = {}
    for n in (600, 20_000):
        w, s = rng.standard_normal((n, 12)), rng.standard_normal((n, 4))
        y = w @ np.random.default_rng(2).standard_normal((12, 10)) + rng.standard_normal((n, 10))
        found[n] = np.linalg.norm(fit_ridge(np.hstack([w, s]), y).matrix[12:])
    assert found[600] / found[20_000] == pytest.approx(np.sqrt(20_000 / 600), rel=0.35)


def test_refusals_are_of_the_house():
    with pytest.raises(AssayError):
        MAPS["identity"].fit(np.eye(4), np.eye(4)[:, :3])
