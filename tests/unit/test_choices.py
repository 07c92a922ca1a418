"""A word that chooses between a few ways is one of them, whatever function it is given to."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np
import pytest

from assay.choices import checked_choice
from assay.diagnostics.barrier import LossPath, barrier
from assay.diagnostics.cka import gram, shuffled_cka
from assay.diagnostics.neighbours import mutual_neighbours
from assay.diagnostics.retrieval import retrieval, retrieval_split, retrieval_view, shuffled_retrieval
from assay.diagnostics.rsa import item_distances, rsa
from assay.diagnostics.sign_agreement import sign_agreement
from assay.diagnostics.tensor_set import tensor_set
from assay.errors import ConfigError, EstimateError
from assay.merge.election import Election
from assay.merge.operator import OPERATORS
from assay.merge.plan import planned
from assay.merge.recipe import parse_recipe
from assay.merge.selection import Selection
from assay.stats.bca import bca_interval
from assay.stats.bootstrap import cluster_codes
from assay.transport.cost import correlation_cost

ROWS = np.random.default_rng(0).standard_normal((80, 6))
MODEL = {"w": np.ones((2, 3), dtype=np.float32)}


def _retrieval(function: Callable[..., object]) -> object:
    split = retrieval_split([str(item // 2) for item in range(80)], fit_share=0.5, rng=np.random.default_rng(0))
    view = retrieval_view(ROWS, split)
    return function(view, view, map_kind="unknown")


CALLS: dict[str, Callable[[], object]] = {
    "shuffled_cka: kind": lambda: shuffled_cka(
        gram(ROWS), gram(ROWS), draws=2, rng=np.random.default_rng(0), kind="unknown"
    ),
    "gram: storage": lambda: gram(ROWS, storage="unknown"),
    "retrieval: map": lambda: _retrieval(retrieval),
    "retrieval: map ": lambda: _retrieval(partial(shuffled_retrieval, rng=np.random.default_rng(0))),
    "correlation_cost: storage": lambda: correlation_cost(ROWS, ROWS, storage="unknown"),
    "sign_agreement: scope": lambda: sign_agreement(
        MODEL, MODEL, MODEL, tensors=tensor_set(MODEL, MODEL, vocabulary="shared"), scope="unknown"
    ),
    "tensor_set: vocabulary": lambda: tensor_set(MODEL, MODEL, vocabulary="unknown"),
    "rsa: distance": lambda: rsa(ROWS, ROWS, distance="unknown"),
    "rsa: comparison": lambda: rsa(ROWS, ROWS, comparison="unknown"),
    "mutual_neighbours: closeness": lambda: mutual_neighbours(ROWS, ROWS, closeness="unknown"),
    "TensorSet: group": lambda: tensor_set(MODEL, MODEL, vocabulary="shared").of("unknown"),
    "tensor_set: group of w": lambda: tensor_set(MODEL, MODEL, vocabulary="shared", group_of=lambda *_: "unknown"),
    "bca: estimand": lambda: bca_interval(
        lambda counts: counts.sum(axis=1),
        codes=cluster_codes([str(item // 2) for item in range(80)], n_items=80),
        estimand="unknown",
        draws=100,
        rng=np.random.default_rng(0),
    ),
    "Selection: side": lambda: Selection("unknown", np.array([0])),
    "barrier: kind": lambda: barrier(LossPath((0.0, 0.5, 1.0), (1.0, 2.0, 1.0)), kind="unknown"),
}


@pytest.mark.parametrize("what", CALLS)
def test_another_word_is_refused(what: str) -> None:
    with pytest.raises(EstimateError, match=f"^{what.strip()} 'unknown'; there are '"):
        CALLS[what]()


def test_item_distances_are_checked_as_rsa_is() -> None:
    with pytest.raises(EstimateError, match=r"^rsa: distance 'hamming'; there are 'correlation', 'cosine', "):
        item_distances(ROWS, distance="hamming")


def test_a_merge_says_it_as_a_fault_of_the_configuration() -> None:
    recipe = parse_recipe("merge_method: linear\nmodels:\n  - model: a\n    parameters: {weight: 1}\n", list(OPERATORS))
    with pytest.raises(ConfigError, match=r"^merge: vocabulary 'unknown'; there are 'refuse', 'exclude'"):
        planned(recipe, {}, vocabulary="unknown")


@pytest.mark.parametrize(
    ("name", "options", "what"),
    [
        ("ties", {"vote": "Mass"}, "ties: vote 'Mass'; there are 'mass', 'count'"),
        ("ties", {"rescale": None}, "ties: rescale None; there are 'none', 'l1'"),
        ("ties", {"scope": "Model"}, "ties: scope 'Model'"),
        ("ties", {"normalize": "false"}, "ties: normalize is 'false'; a bool is needed"),
        ("ties", {"lambda_": "1"}, "ties: lambda is '1'; a float is needed"),
        ("ties", {"lambda_": True}, "ties: lambda is True; a float is needed"),
        ("dare_ties", {"sign_tie": "golbal"}, "dare_ties: sign_tie 'golbal'"),
    ],
)
def test_options_of_a_merge_operator_are_checked_when_it_is_made(name: str, options: dict, what: str) -> None:
    with pytest.raises(ConfigError, match=f"^{what}"):
        OPERATORS[name](**options)


@pytest.mark.parametrize("words", [("Mass", "plus"), ("mass", "none")])
def test_an_election_is_of_a_known_kind(words: tuple[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"^election: "):
        Election(*words, weight_before_vote=True, normalize=True)


def test_every_choice_passes() -> None:
    for word in ("one", "two"):
        checked_choice(word, Literal["one", "two"], what="test")
