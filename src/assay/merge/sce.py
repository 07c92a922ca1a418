"""SCE: select the coordinates that vary most between inputs, calculate one weight an input, erase minority signs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor

from assay.merge.deltas import blockwise, density_in_range
from assay.merge.election import Election
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup
from assay.merge.sparse import delta_of
from assay.merge.spheres import norm
from assay.merge.trim import Trim, largest

__all__ = ["Sce"]

_ELECTION = Election(vote="mass", sign_tie="plus", weight_before_vote=False, normalize=True)


@final
@dataclass(frozen=True)
class Sce(AbstractMergeOperator):
    """theta_0 plus the mean, over inputs of the elected sign, of selected task vectors weighted by their mean squares.

    ``select_topk`` below 1 keeps the int(select_topk v) coordinates of largest variance, v of which vary at all.
    Weights are shares of the mean squares however small these are; equal if all are zero.

    Source: Wan et al. 2024, FuseChat (arXiv 2408.07990).
    """

    name = "sce"
    source = "arXiv 2408.07990"
    base: ClassVar[BaseRole] = "required"
    promises = frozenset({Promise.IDENTITY, Promise.PERMUTATION, Promise.ORDER})

    select_topk: float = 1.0

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError for a share outside [0, 1]."""
        density_in_range((self.select_topk,), operator=self.name, name="select_topk")

    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the mean of the entries whose sign won."""
        base = group.ancestor.reshape(-1)
        deltas = [delta_of(group, place) for place in range(len(group.tensors))]
        selected = self._selected(group)

        def pieces(part: slice) -> list[Tensor]:
            found = [delta(part) for delta in deltas]
            return found if selected is None else [one * selected.mask(_spread(found), part) for one in found]

        whole = slice(0, base.numel())
        norms = [norm(piece) for piece in pieces(whole)]
        greatest = max(norms)
        squares = [(one / greatest) ** 2 if greatest else 1.0 for one in norms]
        shares = [square / sum(squares) for square in squares]
        return Fused(blockwise(group.ancestor, lambda part: _ELECTION.agreed(pieces(part), shares).add_(base[part])))

    def _selected(self, group: TensorGroup) -> Trim | None:
        if self.select_topk == 1:
            return None
        numel = group.ancestor.numel()
        deltas = [delta_of(group, place) for place in range(len(group.tensors))]
        spread = _spread([delta(slice(0, numel)) for delta in deltas])
        keep = int(int(torch.count_nonzero(spread)) * self.select_topk)
        return largest(lambda part: spread[part], numel, keep)


def _spread(deltas: list[Tensor]) -> Tensor:
    """Variance between inputs of every coordinate, times n; summed input by input: the same for a piece as whole."""
    mean = torch.zeros_like(deltas[0])
    for delta in deltas:
        mean += delta
    mean /= len(deltas)
    total = torch.zeros_like(mean)
    for delta in deltas:
        total += (delta - mean).square()
    return total
