"""DARE: drop entries of each task vector at random, rescale what is left, and add up plainly or as TIES does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from assay.merge.deltas import density_in_range, parts
from assay.merge.masked import AbstractMaskedElection, AbstractMaskedSum, Mask
from assay.merge.operator import Promise, TensorGroup
from assay.merge.sparse import Kept
from assay.seeds import torch_stream

__all__ = ["DareLinear", "DareTies", "stream_of"]


def stream_of(group: TensorGroup, place: int) -> torch.Generator:
    """The random stream of one tensor of one model: no other tensor, model, order or thread moves its draws."""
    return torch_stream(group.seed, "merge", group.name, group.models[place])


def _check(per_input: Mapping[str, tuple[float, ...]], operator: str) -> None:
    density_in_range(per_input["density"], operator=operator)


def _kept(group: TensorGroup, place: int) -> Kept | None:
    density = group.per_input["density"][place]
    if density == 1:
        return None
    draws = stream_of(group, place)
    mask = torch.empty(group.ancestor.numel(), dtype=torch.bool)
    for part in parts(mask.numel()):
        mask[part] = torch.rand(part.stop - part.start, generator=draws) < density

    def kept(delta: Tensor, part: slice) -> Tensor:
        return mask[part]

    return kept


_MASK = Mask({"weight": None, "density": 1.0}, _check, _kept)


@final
@dataclass(frozen=True)
class DareLinear(AbstractMaskedSum):
    """theta_0 + lambda sum_i w_i f_i m_i d_i with m_i of independent Bernoulli(density) entries.

    f_i is the realised L1 ratio |d| / |m d| (mergekit) or 1 / density (the authors), by ``rescale``. The mask of a
    tensor depends on seed, tensor name and model name alone.

    Source: Yu et al. 2023 (arXiv 2311.03099).
    """

    name = "dare_linear"
    source = "arXiv 2311.03099"
    mask, per_input = _MASK, _MASK.per_input
    random = True
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})


@final
@dataclass(frozen=True)
class DareTies(AbstractMaskedElection):
    """DARE's random drop, then the election of TIES.

    Source: Yu et al. 2023 (arXiv 2311.03099) with Yadav et al. 2023 (arXiv 2306.01708).
    """

    name = "dare_ties"
    source = "arXiv 2311.03099"
    mask, per_input = _MASK, _MASK.per_input
    random = True
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})
