"""Clusters are numbered in one place, and an item without a cluster is an error wherever they are used."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.align.ridge import GroupedCrossValidation, choose_penalty
from assay.clusters import clusters_of
from assay.diagnostics.retrieval import retrieval_split
from assay.errors import EstimateError
from assay.stats.bootstrap import cluster_mean
from assay.stats.permutation import shuffled_order
from assay.stats.sign_flip import sign_flip_p


@given(st.lists(st.sampled_from(["a", "b", ("c", 1), 4, 0]), min_size=1))
def test_numbers_follow_first_appearance_and_members_the_items(names: list) -> None:
    found = clusters_of(names, len(names), what="test")
    known = list(dict.fromkeys(names))
    assert [known[number] for number in found.of_item] == names
    assert [list(one) for one in found.members] == [
        [item for item, other in enumerate(names) if other == name] for name in known
    ]


@pytest.mark.parametrize(
    "missing", [None, math.nan, np.float64("nan"), pd.NA, pd.NaT], ids=["None", "nan", "numpy", "NA", "NaT"]
)
def test_an_item_without_a_name_is_an_error(missing: object) -> None:
    with pytest.raises(EstimateError, match=r"^test: item 2 has no cluster \(.*\)\. Name it, or leave the item out\.$"):
        clusters_of(["a", "b", missing, "a", missing], 5, what="test")


def test_every_function_of_clusters_says_it() -> None:
    rng, rows = np.random.default_rng(0), np.random.default_rng(1).standard_normal((60, 3))
    names = [*(str(item // 2) for item in range(59)), math.nan]
    calls = {
        "bootstrap": lambda: cluster_mean(rows[:, 0], clusters=names, draws=100, rng=rng),
        "shuffled_order": lambda: shuffled_order(60, rng=rng, clusters=names),
        "sign_flip_p": lambda: sign_flip_p(rows[:, 0], clusters=names, draws=100, rng=rng),
        "retrieval_split": lambda: retrieval_split(names, rng=rng),
        "choose_penalty": lambda: choose_penalty(rows, rows, how=GroupedCrossValidation(names)),
    }
    for what, call in calls.items():
        with pytest.raises(EstimateError, match=f"^{what}: item 59 has no cluster"):
            call()
