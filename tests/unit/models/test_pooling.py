"""Position-weighted pooling gives the same bits on whichever side the text is padded."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import ShapeError
from assay.models.pooling import position_weighted_mean
from assay.seeds import torch_stream


def pad(rows, *, left, right, width=5, fill=float("nan")):
    """Batch of rows with that much padding, which holds ``fill``."""
    length = max(len(row) for row in rows)
    hidden = torch.full((len(rows), left + length + right, width), fill)
    mask = torch.zeros(hidden.shape[:2], dtype=torch.long)
    for place, row in enumerate(rows):
        start = left + (length - len(row) if left else 0)
        hidden[place, start : start + len(row)] = row
        mask[place, start : start + len(row)] = 1
    return hidden, mask


def test_the_example_of_the_definition():
    hidden = torch.tensor([[[1.0], [3.0]]])
    assert position_weighted_mean(hidden, torch.ones(1, 2)).item() == pytest.approx(7 / 3, rel=1e-7)
    padded = torch.tensor([[[9.0], [9.0], [1.0], [3.0]]])
    mask = torch.tensor([[0, 0, 1, 1]])
    assert position_weighted_mean(padded, mask).item() == pytest.approx(7 / 3, rel=1e-7)
    absolute = (3 * 1.0 + 4 * 3.0) / 7
    assert position_weighted_mean(padded, mask).item() != pytest.approx(absolute, rel=1e-3)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 70), min_size=1, max_size=4), st.integers(1, 9), st.integers(0, 9))
def test_padding_changes_no_bit(lengths, left, right):
    source = torch_stream(0, "pooling", len(lengths), left)
    rows = [torch.randn(length, 5, generator=source) * 1e3 for length in lengths]
    alone = torch.cat([position_weighted_mean(row[None], torch.ones(1, len(row))) for row in rows])
    assert torch.equal(position_weighted_mean(*pad(rows, left=left, right=0)), alone)
    assert torch.equal(position_weighted_mean(*pad(rows, left=0, right=right, fill=float("inf"))), alone)


def test_sums_are_in_float64_and_come_back_in_float32():
    rows = torch.randn(1, 4000, 3, generator=torch_stream(0, "pooling")) + 1000
    weights = torch.arange(1, 4001, dtype=torch.float64)
    exact = (weights @ rows[0].double()) / weights.sum()
    pooled = position_weighted_mean(rows, torch.ones(1, 4000, dtype=torch.bool))
    assert pooled.dtype == torch.float32
    assert torch.equal(pooled[0], exact.float())
    assert position_weighted_mean(rows.double(), torch.ones(1, 4000)).dtype == torch.float64
    assert position_weighted_mean(rows.bfloat16(), torch.ones(1, 4000)).dtype == torch.float32


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([[1, 1, 0], [0, 0, 0]], "row 1 has no real token"),
        ([[1, 1, 0], [1, 0, 1]], "mask of row 1 has holes"),
        ([[1, 2, 0], [1, 1, 1]], "other values than 0 and 1"),
        ([[1, 1, 0]], r"mask \(1, 3\)"),
    ],
)
def test_bad_masks_are_refused(mask, message):
    with pytest.raises(ShapeError, match=message):
        position_weighted_mean(torch.zeros(2, 3, 4), torch.tensor(mask))


def test_one_row_without_a_batch_is_refused():
    with pytest.raises(ShapeError, match=r"hidden \(3, 4\)"):
        position_weighted_mean(torch.zeros(3, 4), torch.ones(3))
