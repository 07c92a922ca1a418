"""What each similarity of rows ignores and what moves it: one table, every cell tested both ways."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.diagnostics.canonical import mean_cca
from assay.diagnostics.cka import gram, linear_cka, unbiased_cka
from assay.diagnostics.neighbours import mutual_neighbours
from assay.diagnostics.procrustes import procrustes_similarity
from assay.diagnostics.pwcca import pwcca
from assay.diagnostics.rsa import rsa
from assay.diagnostics.svcca import svcca, svcca_at_share

MEASURES = {
    "cka biased": lambda x, y: linear_cka(gram(x), gram(y)),
    "cka unbiased": lambda x, y: unbiased_cka(gram(x), gram(y)),
    "procrustes": procrustes_similarity,
    "mutual neighbours": lambda x, y: mutual_neighbours(x, y, k=5),
    "mutual neighbours euclidean": lambda x, y: mutual_neighbours(x, y, k=5, closeness="euclidean"),
    "svcca at share": lambda x, y: svcca_at_share(x, y).value,
    "svcca fixed": lambda x, y: svcca(x, y, k=2),
    "cca": mean_cca,
    "pwcca": pwcca,
    "rsa correlation": lambda x, y: rsa(x, y, distance="correlation"),
    "rsa euclidean": rsa,
    "rsa whitened": lambda x, y: rsa(x, y, distance="sqeuclidean", comparison="whitened_cosine"),
}
IN_UNIT = set(MEASURES) - {"cka unbiased", "rsa correlation", "rsa euclidean"}


def rotate(x, rng):
    return x @ np.linalg.qr(rng.standard_normal((x.shape[1],) * 2))[0]


CHANGES = {
    "orthogonal": rotate,
    "scale": lambda x, rng: 3e3 * x,
    "sign": lambda x, rng: -x,
    "shift": lambda x, rng: x + 5 * x.std() * rng.standard_normal(x.shape[1]),
    "columns in another order": lambda x, rng: x[:, rng.permutation(x.shape[1])],
    "columns of zeros": lambda x, rng: np.pad(x, ((0, 0), (0, 3))),
    "doubled columns": lambda x, rng: np.hstack([x, x]),
    "invertible": lambda x, rng: (x - x.mean(axis=0)) @ np.diag(np.geomspace(1, 300, x.shape[1])),
}
MOVED_BY = {name: {"invertible"} for name in MEASURES} | {
    "cca": set(),
    "pwcca": {"orthogonal", "invertible"},
    "rsa correlation": {"orthogonal", "shift", "columns of zeros", "invertible"},
}
ASYMMETRIC = {"pwcca"}
STILL = [(name, change) for name in MEASURES for change in CHANGES if change not in MOVED_BY[name]]
MOVING = [(name, change) for name in MEASURES for change in sorted(MOVED_BY[name])]


@st.composite
def related(draw):
    p, q = draw(st.integers(3, 60)), draw(st.integers(3, 60))
    n = draw(st.integers(max(20, p + q + 3), 200))
    return sample(n, p, q, draw(st.integers(0, 2**32)))


def sample(n=80, p=12, q=17, seed=0):
    rng = np.random.default_rng(seed)
    donor = rng.standard_normal((n, p)) * np.linspace(0.5, 2, p)
    return donor, donor @ rng.standard_normal((p, q)) / math.sqrt(p) + rng.standard_normal((n, q)), rng


@pytest.mark.parametrize(("name", "change"), STILL)
@given(made=related())
def test_what_leaves_a_measure_alone(name, change, made):
    donor, recipient, rng = made
    measure, alter = MEASURES[name], CHANGES[change]
    value = measure(donor, recipient)
    assert measure(alter(donor, rng), recipient) == pytest.approx(value, abs=1e-8)
    assert measure(donor, alter(recipient, rng)) == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize(("name", "change"), MOVING)
def test_what_moves_a_measure(name, change):
    """The twin: a claim that everything is ignored would fail here."""
    donor, recipient, rng = sample()
    measure = MEASURES[name]
    value = measure(donor, recipient)
    assert abs(measure(CHANGES[change](donor, rng), recipient) - value) > 1e-4


@pytest.mark.parametrize("name", MEASURES)
@given(made=related())
def test_self_symmetry_order_of_items_and_bounds(name, made):
    donor, recipient, rng = made
    measure = MEASURES[name]
    value = measure(donor, recipient)
    order = rng.permutation(len(donor))
    assert measure(donor[order], recipient[order]) == pytest.approx(value, abs=1e-8)
    low = 0 if name in IN_UNIT else -1
    assert low <= value <= 1 + 1e-9
    if name not in ("cca", "pwcca"):
        assert measure(donor, donor) == pytest.approx(1, abs=1e-8)
    if name not in ASYMMETRIC:
        assert measure(recipient, donor) == pytest.approx(value, abs=1e-8)
    assert measure(donor.astype(np.float32), recipient.astype(np.float32)) == pytest.approx(value, abs=0.02)


@pytest.mark.parametrize("name", ["cca", "pwcca"])
def test_the_cca_family_is_one_on_itself(name):
    donor, _, rng = sample()
    assert MEASURES[name](donor, rotate(donor, rng)) == pytest.approx(1)


def test_pwcca_is_not_symmetric():
    donor, recipient, _ = sample()
    assert abs(pwcca(donor, recipient) - pwcca(recipient, donor)) > 1e-3


@pytest.mark.parametrize("name", MEASURES)
def test_an_offset_in_float32_does_no_harm(name):
    """Columns are centred first and in float64; an uncentred float32 Gram at offset 1,000 loses everything."""
    donor, recipient, _ = sample()
    near, far = donor.astype(np.float32), (donor + 1000).astype(np.float32)
    if name == "rsa correlation":
        assert math.isfinite(MEASURES[name](far, recipient))
        return
    assert MEASURES[name](far, recipient) == pytest.approx(MEASURES[name](near, recipient), abs=0.02)
