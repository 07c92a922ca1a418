"""Model stock: the mean of the inputs, drawn towards the base the more, the wider the angles between them are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, final

import torch
from torch import Tensor

from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup
from assay.merge.spheres import ZERO_NORM

__all__ = ["ModelStock"]

_SINGULAR = 1e-6


@final
@dataclass(frozen=True)
class ModelStock(AbstractMergeOperator):
    """t mean_i theta_i + (1 - t) theta_0 with t = N c / (1 + (N-1) c) and c the mean pairwise cosine of task vectors.

    ``filter_wise`` takes one c for every vector along the last axis. Not clamped: task vectors at obtuse angles give
    t < 0, away from the inputs (noted). Where 1 + (N-1) c is 0 within 1e-6 the base is kept (noted); a task vector of
    norm 0 has cosine 0 (noted).

    Source: Jang et al. 2024 (arXiv 2403.19522).
    """

    name = "model_stock"
    source = "arXiv 2403.19522"
    base: ClassVar[BaseRole] = "required"
    fewest = 2
    promises = frozenset({Promise.IDENTITY, Promise.PERMUTATION, Promise.ORDER})

    filter_wise: bool = False

    def fuse(self, group: TensorGroup) -> Fused:
        """The point between base and mean; cosines from float64 sums."""
        base, n = group.ancestor, len(group.tensors)
        whole = not (self.filter_wise and base.ndim)
        cosine, zero = _mean_cosine([tensor - base for tensor in group.tensors], whole=whole)
        denominator = 1 + (n - 1) * cosine
        singular = denominator.abs() < _SINGULAR
        t = torch.where(singular, 0.0, n * cosine / torch.where(singular, 1.0, denominator))
        mean = torch.zeros_like(base)
        for tensor in group.tensors:
            mean.add_(tensor, alpha=1 / n)
        lowest = float(t.min()) if t.numel() else 0.0
        said = (
            (ZERO_NORM, zero),
            ("degenerate: task vectors cancel, base kept", bool(singular.any())),
            (f"obtuse: t down to {lowest:.3g}", lowest < 0),
        )
        factor = (t.reshape(()) if whole else t).to(base.dtype)
        return Fused(torch.lerp(base, mean, factor), tuple(note for note, true in said if true))


def _mean_cosine(deltas: Sequence[Tensor], *, whole: bool) -> tuple[Tensor, bool]:
    """Mean cosine over pairs, for the whole tensor or for every vector along the last axis; whether a norm was zero."""
    rows = [delta.reshape(1, -1) if whole else delta for delta in deltas]
    largest = [row.abs().amax(dim=-1, keepdim=True) if row.numel() else row for row in rows]
    units, zero = [], False
    for row, most in zip(rows, largest, strict=True):
        scaled = row.double() / torch.where(most == 0, 1.0, most)
        length = torch.linalg.vector_norm(scaled, dim=-1, keepdim=True)
        zero = zero or bool((length == 0).any())
        units.append(scaled / torch.where(length == 0, 1.0, length))
    pairs = [(one * other).sum(dim=-1, keepdim=True) for one, other in combinations(units, 2)]
    return torch.stack(pairs).mean(dim=0), zero
