"""What the similarities say of unrelated rows, at the size of a test set of 1,012 sentences and width 2,048."""

import math

import numpy as np
import pytest

from assay.controls.rows import shuffled_values
from assay.diagnostics.canonical import correlations
from assay.diagnostics.cka import gram, linear_cka, unbiased_cka
from assay.diagnostics.neighbours import mutual_neighbours, neighbours_chance
from assay.diagnostics.procrustes import procrustes_similarity
from assay.diagnostics.rsa import rsa
from assay.diagnostics.svcca import svcca, svcca_at_share
from assay.seeds import stream

N, WIDTH = 1012, 2048
CLOSE = {
    "cka biased": 0.01,
    "cka unbiased": 0.02,
    "procrustes": 0.01,
    "svcca at share": 0.01,
    "svcca 20": 0.01,
    "neighbours": 0.003,
}


def principal(rows):
    centred = rows - rows.mean(axis=0)
    squares, vectors = np.linalg.eigh(centred @ centred.T)
    squares, vectors = squares[:0:-1], vectors[:, :0:-1]
    return vectors * np.sqrt(squares.clip(min=0)), vectors


def values(donor, recipient):
    """All numbers of a pair, from one eigendecomposition a side: rows in the coordinates of their principal axes."""
    (X, one), (Y, other) = (principal(rows) for rows in (donor, recipient))
    k = [int(np.searchsorted(np.cumsum((Z**2).sum(axis=0)), 0.99 * (Z**2).sum())) + 1 for Z in (X, Y)]
    grams = gram(X), gram(Y)
    return {
        "cka biased": linear_cka(*grams),
        "cka unbiased": unbiased_cka(*grams),
        "procrustes": procrustes_similarity(X, Y),
        "svcca at share": correlations(one[:, : k[0]], other[:, : k[1]]).mean(),
        "svcca 20": correlations(one[:, :20], other[:, :20]).mean(),
        "neighbours": mutual_neighbours(X, Y),
    }


@pytest.mark.parametrize(
    ("exponent", "expected"),
    [(0.0, (0.670, 0.002, 0.877, 0.941, 0.115, 0.0088)), (0.75, (0.004, -0.001, 0.179, 0.583, 0.116, 0.0099))],
)
def test_unrelated_rows_of_flat_and_of_falling_spectrum(exponent, expected):
    rng = np.random.default_rng(0)
    sizes = np.arange(1, WIDTH + 1) ** -exponent
    found = values(*(rng.standard_normal((N, WIDTH)) * sizes for _ in range(2)))
    for (name, value), wanted in zip(found.items(), expected, strict=True):
        assert value == pytest.approx(wanted, abs=CLOSE[name]), name
    assert found["svcca 20"] == pytest.approx(0.85 * math.sqrt(20 / (N - 1)), abs=0.01)
    assert found["neighbours"] == pytest.approx(neighbours_chance(N), abs=0.003)


def latent(n=300, width=600, shared=60, noise=1.0):
    rng = np.random.default_rng(0)
    common = rng.standard_normal((n, shared))
    sides = [common @ rng.standard_normal((shared, width)) / math.sqrt(shared) for _ in range(2)]
    return [side + noise * rng.standard_normal((n, width)) for side in sides]


def test_what_tells_related_rows_from_their_shuffles_and_what_cannot():
    donor, recipient = latent()
    shuffled = recipient[np.random.default_rng(1).permutation(300)]
    matched, sham = values(donor, recipient), values(donor, shuffled)
    for name in ("cka unbiased", "svcca 20", "neighbours"):
        assert matched[name] > sham[name] + 0.15, name
    assert matched["procrustes"] > sham["procrustes"] + 0.1
    assert sham["procrustes"] > 0.6, "so it is read minus its shuffled mean"
    assert abs(matched["svcca at share"] - sham["svcca at share"]) < 0.02, "useless with fewer items than the width"
    assert svcca_at_share(donor, recipient).value == pytest.approx(matched["svcca at share"])
    assert svcca(donor, recipient, k=20) == pytest.approx(matched["svcca 20"])
    assert rsa(donor, recipient) > 0.5
    assert abs(rsa(donor, shuffled)) < 0.1


@pytest.mark.parametrize(("n", "expected"), [(20, 0.991), (250, 0.892), (512, 0.801)])
def test_biased_cka_of_unrelated_rows_grows_as_items_fall(n, expected):
    rng = np.random.default_rng(n)
    one, other = (gram(rng.standard_normal((n, WIDTH))) for _ in range(2))
    assert linear_cka(one, other) == pytest.approx(expected, abs=0.01)
    assert abs(unbiased_cka(one, other)) < 0.1


def test_the_null_of_procrustes_is_that_of_its_shuffles():
    rng = np.random.default_rng(0)
    donor, recipient = rng.standard_normal((120, 200)), rng.standard_normal((120, 200))
    shuffled = shuffled_values(procrustes_similarity, donor, recipient, draws=10, rng=stream(0, "null"))
    assert procrustes_similarity(donor, recipient) == pytest.approx(shuffled.mean(), abs=0.01)
