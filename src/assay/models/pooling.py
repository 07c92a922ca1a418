"""One row a sentence from one row a token."""

from __future__ import annotations

import torch
from torch import Tensor

from assay.axes import Bool, Float, Int
from assay.errors import ShapeError


def position_weighted_mean(
    hidden: Float[Tensor, "batch token d"], mask: Int[Tensor, "batch token"] | Bool[Tensor, "batch token"]
) -> Float[Tensor, "batch d"]:
    """v = sum_t t m_t h_t / sum_t t m_t, with t = 1, 2, ... counted over the real tokens.

    Summed in float64 over the real tokens alone and returned in float32 (float64 for float64 input): the result is the
    same bits whichever side is padded, however long the padding is, and whatever it holds. Whether a beginning-of-text
    token counts as real is for ``mask`` to say: its row is often far longer than all others.

    Raises:
        ShapeError: shapes that do not fit, a mask with other values than 0 and 1, a row without real tokens, or real
            tokens on both sides of a gap.

    Source: Muennighoff 2022 (arXiv 2202.08904). Its released code counts padded positions, so that left padding
    changes the result; here it does not.
    """
    keep = _checked_mask(hidden, mask)
    rows = []
    for states, real in zip(hidden, keep, strict=True):
        tokens = states[real].to(torch.float64)
        weights = torch.arange(1, len(tokens) + 1, dtype=torch.float64, device=tokens.device)
        rows.append(weights @ tokens / weights.sum())
    pooled = torch.stack(rows)
    return pooled if hidden.dtype == torch.float64 else pooled.to(torch.float32)


def _checked_mask(hidden: Tensor, mask: Tensor) -> Tensor:
    if hidden.ndim != 3 or mask.shape != hidden.shape[:2] or hidden.shape[0] == 0:
        raise ShapeError(
            f"position_weighted_mean: hidden {tuple(hidden.shape)}, mask {tuple(mask.shape)}; "
            "(batch, token, d) and (batch, token) are needed."
        )
    keep = mask.bool()
    if not bool((mask == keep).all()):
        raise ShapeError("position_weighted_mean: the mask holds other values than 0 and 1. Give the attention mask.")
    for row, real in enumerate(keep.int()):
        if not bool(real.any()):
            raise ShapeError(f"position_weighted_mean: row {row} has no real token. Leave empty texts out.")
        edges = real.diff(prepend=real.new_zeros(1))
        if int((edges == 1).sum()) != 1:
            raise ShapeError(f"position_weighted_mean: the mask of row {row} has holes. Pad on one side only.")
    return keep
