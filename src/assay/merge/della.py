"""DELLA: drop entries at random, the smaller of a row more often, rescale, and add up plainly or as TIES does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor

from assay.errors import ConfigError
from assay.merge.dare import stream_of
from assay.merge.deltas import Rescale, checked_divisor, density_in_range
from assay.merge.election import Election, SignTie, Vote, checked_divisors
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup
from assay.merge.sparse import Kept, Sparse, delta_of, sparse, sparse_sum

__all__ = ["Della", "DellaLinear"]


@final
@dataclass(frozen=True)
class Della(AbstractMergeOperator):
    """MAGPRUNE, then the election of TIES.

    An entry of rank r in [0, 1] by magnitude within its row (the last axis) is kept with probability density - epsilon
    + 2 epsilon r; in a row of one entry with probability density. Density 1 keeps all and 0 none.

    Source: Deep et al. 2024 (arXiv 2406.11617).
    """

    name = "della"
    source = "arXiv 2406.11617"
    base: ClassVar[BaseRole] = "required"
    per_input: ClassVar[Mapping[str, float | None]] = {"weight": None, "density": 1.0, "epsilon": 0.15}
    random = True
    promises = frozenset({Promise.IDENTITY, Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})

    normalize: bool = True
    lambda_: float = 1.0
    rescale: Rescale = "l1"
    vote: Vote = "mass"
    sign_tie: SignTie = "plus"
    weight_before_vote: bool = True

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError unless 0 < density -+ epsilon < 1, or for weights that cancel."""
        _checked(per_input, operator=self.name)
        if self.normalize:
            checked_divisors(per_input["weight"], operator=self.name)

    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the elected mean of what was not dropped."""
        election = Election(self.vote, self.sign_tie, self.weight_before_vote, self.normalize)
        return Fused(sparse_sum(group, _pruned(group, self.rescale), scale=self.lambda_, election=election))


@final
@dataclass(frozen=True)
class DellaLinear(AbstractMergeOperator):
    """MAGPRUNE as in `Della`, then the weighted sum.

    Source: Deep et al. 2024 (arXiv 2406.11617).
    """

    name = "della_linear"
    source = "arXiv 2406.11617"
    base: ClassVar[BaseRole] = "required"
    per_input: ClassVar[Mapping[str, float | None]] = {"weight": None, "density": 1.0, "epsilon": 0.15}
    random = True
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})

    normalize: bool = False
    lambda_: float = 1.0
    rescale: Rescale = "l1"

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError unless 0 < density -+ epsilon < 1, or for weights that add up to 0."""
        _checked(per_input, operator=self.name)
        if self.normalize:
            checked_divisor(per_input["weight"], operator=self.name)

    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the weighted sum of what was not dropped."""
        divisor = sum(group.per_input["weight"]) if self.normalize else 1.0
        return Fused(sparse_sum(group, _pruned(group, self.rescale), scale=self.lambda_ / divisor, election=None))


def _checked(per_input: Mapping[str, tuple[float, ...]], *, operator: str) -> None:
    density_in_range(per_input["density"], operator=operator)
    for density, epsilon in zip(per_input["density"], per_input["epsilon"], strict=True):
        if 0 < density < 1 and not (epsilon >= 0 and density - epsilon > 0 and density + epsilon < 1):
            raise ConfigError(
                f"{operator}: density {density} with epsilon {epsilon}: the probabilities {density - epsilon:.3g} to "
                f"{density + epsilon:.3g} must lie strictly between 0 and 1. Lower epsilon."
            )


def _pruned(group: TensorGroup, rescale: Rescale) -> list[Sparse]:
    numbers = zip(group.per_input["density"], group.per_input["epsilon"], strict=True)
    return [
        sparse(group, place, kept=_kept(group, place, density, epsilon), rescale=rescale, density=density)
        for place, (density, epsilon) in enumerate(numbers)
    ]


def _kept(group: TensorGroup, place: int, density: float, epsilon: float) -> Kept | None:
    if density == 1:
        return None
    mask = torch.zeros(group.ancestor.numel(), dtype=torch.bool)
    width = group.ancestor.shape[-1] if group.ancestor.ndim else 1
    if density > 0 and width:
        draws, delta = stream_of(group, place), delta_of(group, place)
        rows = max(1, (1 << 18) // width)
        for start in range(0, mask.numel(), rows * width):
            part = slice(start, min(start + rows * width, mask.numel()))
            magnitudes = delta(part).abs().view(-1, width)
            probability = _probability(magnitudes, density, epsilon)
            mask[part] = (torch.rand(magnitudes.shape, generator=draws) < probability).view(-1)

    def kept(delta: Tensor, part: slice) -> Tensor:
        return mask[part]

    return kept


def _probability(magnitudes: Tensor, density: float, epsilon: float) -> Tensor:
    width = magnitudes.shape[-1]
    if width == 1:
        return torch.full_like(magnitudes, density)
    rank = magnitudes.argsort(dim=-1, stable=True).argsort(dim=-1).to(magnitudes.dtype) / (width - 1)
    return density - epsilon + 2 * epsilon * rank
