"""Which neurons are changed."""

import numpy as np
import pytest

from assay.errors import EstimateError, ShapeError
from assay.merge.selection import select


def test_highest_scores_sorted_by_index_ties_to_the_lower():
    chosen = select(np.array([1.0, 5.0, 2.0, 5.0, 2.0]), k=3, side="in")
    assert (chosen.side, list(chosen.neurons)) == ("in", [1, 2, 3])


@pytest.mark.parametrize(("k", "n"), [(0, 0), (5, 5), (99, 5)])
def test_t19_none_and_all(k, n):
    assert len(select(np.arange(5.0), k=k, side="out").neurons) == n


@pytest.mark.parametrize(
    ("scores", "given", "error", "message"),
    [
        (np.zeros((2, 2)), {}, ShapeError, r"shape \(2, 2\)"),
        (np.zeros(3), {"k": -1}, EstimateError, "k -1"),
        (np.zeros(3), {"side": "rows"}, EstimateError, "side 'rows'"),
        (np.array([0, np.nan]), {}, EstimateError, "1 of 2 scores not finite"),
    ],
)
def test_refused(scores, given, error, message):
    with pytest.raises(error, match=message):
        select(scores, **{"k": 1, "side": "out"} | given)


def test_selection_in_full():
    chosen = select([0.5, 3, 2, 3], k=2, side="out")
    assert (chosen.side, chosen.neurons.tolist()) == ("out", [1, 3])
    assert select(np.array([2, 1, 2, 2], dtype=np.int8), k=2, side="in").neurons.tolist() == [0, 2]
    assert select(np.array([1.0]), k=1, side="in").neurons.tolist() == [0]
    for wrong in (np.zeros(0), np.zeros((1, 1)), np.float64(3)):
        with pytest.raises(ShapeError, match=r"^select: scores of shape"):
            select(wrong, k=1, side="in")
    with pytest.raises(EstimateError, match=r"^select: k -1, side 'in', 0 of 2 scores not finite;"):
        select([1.0, 2.0], k=-1, side="in")
    with pytest.raises(EstimateError, match=r"^select: k 1, side None, 2 of 3 scores not finite;"):
        select([1.0, np.inf, np.nan], k=1, side=None)
