"""DARE: drop entries of each task vector at random, rescale what is left, and add up plainly or as TIES does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor

from assay.merge.deltas import Rescale, checked_divisor, density_in_range, parts
from assay.merge.election import Election, SignTie, Vote, checked_divisors
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup
from assay.merge.sparse import Kept, Sparse, sparse, sparse_sum
from assay.seeds import torch_stream

__all__ = ["DareLinear", "DareTies", "stream_of"]


@final
@dataclass(frozen=True)
class DareLinear(AbstractMergeOperator):
    """theta_0 + lambda sum_i w_i f_i m_i d_i with m_i of independent Bernoulli(density) entries.

    f_i is the realised L1 ratio |d| / |m d| (mergekit) or 1 / density (the authors), by ``rescale``. The mask of a
    tensor depends on seed, tensor name and model name alone.

    Source: Yu et al. 2023 (arXiv 2311.03099).
    """

    name = "dare_linear"
    source = "arXiv 2311.03099"
    base: ClassVar[BaseRole] = "required"
    per_input: ClassVar[Mapping[str, float | None]] = {"weight": None, "density": 1.0}
    random = True
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})

    normalize: bool = False
    lambda_: float = 1.0
    rescale: Rescale = "l1"

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError for a density outside [0, 1], or weights to be normalised that add up to zero."""
        density_in_range(per_input["density"], operator=self.name)
        if self.normalize:
            checked_divisor(per_input["weight"], operator=self.name)

    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the weighted sum of what was not dropped."""
        divisor = sum(group.per_input["weight"]) if self.normalize else 1.0
        return Fused(sparse_sum(group, _dropped(group, self.rescale), scale=self.lambda_ / divisor, election=None))


@final
@dataclass(frozen=True)
class DareTies(AbstractMergeOperator):
    """DARE's random drop, then the election of TIES.

    Source: Yu et al. 2023 (arXiv 2311.03099) with Yadav et al. 2023 (arXiv 2306.01708).
    """

    name = "dare_ties"
    source = "arXiv 2311.03099"
    base: ClassVar[BaseRole] = "required"
    per_input: ClassVar[Mapping[str, float | None]] = {"weight": None, "density": 1.0}
    random = True
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})

    normalize: bool = False
    lambda_: float = 1.0
    rescale: Rescale = "l1"
    vote: Vote = "mass"
    sign_tie: SignTie = "plus"
    weight_before_vote: bool = True

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError for a density outside [0, 1], or weights that can cancel to a divisor of zero."""
        density_in_range(per_input["density"], operator=self.name)
        if self.normalize:
            checked_divisors(per_input["weight"], operator=self.name)

    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the elected sum of what was not dropped."""
        election = Election(self.vote, self.sign_tie, self.weight_before_vote, self.normalize)
        return Fused(sparse_sum(group, _dropped(group, self.rescale), scale=self.lambda_, election=election))


def stream_of(group: TensorGroup, place: int) -> torch.Generator:
    """The random stream of one tensor of one model: no other tensor, model, order or thread moves its draws."""
    return torch_stream(group.seed, "merge", group.name, group.models[place])


def _dropped(group: TensorGroup, rescale: Rescale) -> list[Sparse]:
    return [
        sparse(group, place, kept=_kept(group, place, density), rescale=rescale, density=density)
        for place, density in enumerate(group.per_input["density"])
    ]


def _kept(group: TensorGroup, place: int, density: float) -> Kept | None:
    if density == 1:
        return None
    draws = stream_of(group, place)
    mask = torch.empty(group.ancestor.numel(), dtype=torch.bool)
    for part in parts(mask.numel()):
        mask[part] = torch.rand(part.stop - part.start, generator=draws) < density

    def kept(delta: Tensor, part: slice) -> Tensor:
        return mask[part]

    return kept
