"""Numbers of a narrow type give, to the last digit, what the same numbers give in float64."""

import numpy as np
import pytest

from assay.seeds import stream
from assay.stats.arrangements import item_arrangements
from assay.stats.bca import bca_correction
from assay.stats.cluster_normal import cluster_normal
from assay.stats.correlation import pair_entries
from assay.stats.equivalence import bootstrap_p, bootstrap_tost, paired_tost
from assay.stats.multiplicity import benjamini_hochberg, holm
from assay.stats.permutation import permutation_p
from assay.stats.proportion import sign_test
from assay.stats.sign_flip import sign_flip_p

CLUSTERS = [i % 12 for i in range(36)]


def flipped(values):
    return sign_flip_p(values, clusters=CLUSTERS, draws=99, rng=stream(0, "flips"))


CASES = {
    "cluster_normal": lambda v: cluster_normal(v, clusters=CLUSTERS),
    "bootstrap_p": lambda v: bootstrap_p(v, above=0.1),
    "bootstrap_tost": lambda v: bootstrap_tost(v, margin=0.1),
    "paired_tost": lambda v: paired_tost(v, v[::-1], margin=0.1),
    "holm": lambda v: tuple(holm(v, planned=40).p),
    "benjamini_hochberg": lambda v: tuple(benjamini_hochberg(v, planned=40).p),
    "permutation_p": lambda v: permutation_p(0.1, v),
    "sign_test": sign_test,
    "sign_flip_p": flipped,
    "pair_entries": lambda v: pair_entries(v.reshape(6, 6)).dtype,
    "p_from": lambda v: tuple(item_arrangements(3, draws=99, rng=stream(0, "p")).p_from(v)),
    "bca_correction": lambda v: bca_correction(0.1, v, v),
}


def sevenths(kind):
    """0.1 among tenths and sevenths that a narrow type cannot hold."""
    values = np.concatenate([np.arange(18) / 18, np.full(9, 0.1), np.arange(9) / 70])
    return values.astype(kind)


@pytest.mark.parametrize("kind", ["float32", "float16"])
@pytest.mark.parametrize("name", CASES)
def test_narrow_floats(name, kind):
    narrow = sevenths(kind)
    assert CASES[name](narrow) == CASES[name](narrow.astype(np.float64))
