"""A word that chooses between a few ways is one of them, whatever function it is given to."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

from assay.choices import checked_choice
from assay.diagnostics.barrier import LossPath, barrier
from assay.diagnostics.cka import gram, shuffled_cka
from assay.diagnostics.neighbours import mutual_neighbours
from assay.diagnostics.retrieval import retrieval, retrieval_split, retrieval_view
from assay.diagnostics.rsa import item_distances, rsa
from assay.diagnostics.sign_agreement import sign_agreement
from assay.diagnostics.tensor_set import tensor_set
from assay.errors import ConfigError, EstimateError
from assay.merge.operator import OPERATORS
from assay.merge.plan import planned
from assay.merge.recipe import parse_recipe
from assay.transport.cost import correlation_cost

ROWS = np.random.default_rng(0).standard_normal((80, 6))
MODEL = {"w": np.ones((2, 3), dtype=np.float32)}


def _retrieval() -> object:
    split = retrieval_split([str(item // 2) for item in range(80)], fit_share=0.5, rng=np.random.default_rng(0))
    view = retrieval_view(ROWS, split)
    return retrieval(view, view, map_kind="other")


CALLS: dict[str, Callable[[], object]] = {
    "shuffled_cka: kind": lambda: shuffled_cka(
        gram(ROWS), gram(ROWS), draws=2, rng=np.random.default_rng(0), kind="other"
    ),
    "gram: storage": lambda: gram(ROWS, storage="other"),
    "retrieval: map": _retrieval,
    "correlation_cost: storage": lambda: correlation_cost(ROWS, ROWS, storage="other"),
    "sign_agreement: scope": lambda: sign_agreement(
        MODEL, MODEL, MODEL, tensors=tensor_set(MODEL, MODEL, vocabulary="shared"), scope="other"
    ),
    "tensor_set: vocabulary": lambda: tensor_set(MODEL, MODEL, vocabulary="other"),
    "rsa: distance": lambda: rsa(ROWS, ROWS, distance="other"),
    "rsa: comparison": lambda: rsa(ROWS, ROWS, comparison="other"),
    "mutual_neighbours: closeness": lambda: mutual_neighbours(ROWS, ROWS, closeness="other"),
    "barrier: kind": lambda: barrier(LossPath((0.0, 0.5, 1.0), (1.0, 2.0, 1.0)), kind="other"),
}


@pytest.mark.parametrize("what", CALLS)
def test_another_word_is_refused(what: str) -> None:
    with pytest.raises(EstimateError, match=f"^{what} 'other'; there are '"):
        CALLS[what]()


def test_item_distances_are_checked_as_rsa_is() -> None:
    with pytest.raises(EstimateError, match=r"^rsa: distance 'hamming'; there are 'correlation', 'cosine', "):
        item_distances(ROWS, distance="hamming")


def test_a_merge_says_it_as_a_fault_of_the_configuration() -> None:
    recipe = parse_recipe("merge_method: linear\nmodels:\n  - model: a\n    parameters: {weight: 1}\n", list(OPERATORS))
    with pytest.raises(ConfigError, match=r"^merge: vocabulary 'other'; there are 'refuse', 'exclude'"):
        planned(recipe, {}, vocabulary="other")


def test_every_choice_passes() -> None:
    for word in ("one", "two"):
        checked_choice(word, Literal["one", "two"], what="test")
