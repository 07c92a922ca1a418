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
