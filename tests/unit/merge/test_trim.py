"""Selection of the largest entries: exactly as many, equal ones in order, without another tensor."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.merge.trim import kept_count, largest


def mask(values, keep):
    trim = largest(lambda part: values[part], len(values), keep)
    return trim.mask(values.abs(), slice(0, len(values)))


@settings(deadline=None, max_examples=60, derandomize=True)
@given(values=st.lists(st.sampled_from([0.0, 1.0, -1.0, 2.0, -3.0, 1e-30]), min_size=1, max_size=30), data=st.data())
def test_as_many_and_the_first_of_equals(values, data):
    tensor = torch.tensor(values)
    keep = data.draw(st.integers(0, len(values)))
    order = sorted(range(len(values)), key=lambda place: (-abs(values[place]), place))
    assert sorted(order[:keep]) == torch.nonzero(mask(tensor, keep)).reshape(-1).tolist()


def test_equal_entries_across_pieces():
    """Pieces of a walk are 262,144 entries; the last equal entry to keep lies in the second."""
    values = torch.ones(400_000)
    values[100] = 5
    kept = mask(values, 300_000)
    assert int(kept.sum()) == 300_000
    assert bool(kept[:300_000].all())


@pytest.mark.parametrize(("density", "count"), [(0, 0), (1e-9, 1), (0.39, 3), (1, 10)])
def test_counts(density, count):
    assert kept_count(density, 10) == count
    assert kept_count(density, 0) == 0
