"""DELLA: drop entries at random, the smaller of a row more often, rescale, and add up plainly or as TIES does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from assay.errors import ConfigError
from assay.merge.dare import stream_of
from assay.merge.deltas import density_in_range
from assay.merge.masked import AbstractMaskedElection, AbstractMaskedSum, Mask
from assay.merge.operator import Promise, TensorGroup
from assay.merge.sparse import Kept, delta_of

__all__ = ["Della", "DellaLinear"]


def _check(per_input: Mapping[str, tuple[float, ...]], operator: str) -> None:
    density_in_range(per_input["density"], operator=operator)
    for density, epsilon in zip(per_input["density"], per_input["epsilon"], strict=True):
        if 0 < density < 1 and not (epsilon >= 0 and density - epsilon > 0 and density + epsilon < 1):
            raise ConfigError(
                f"{operator}: density {density} with epsilon {epsilon}: the probabilities {density - epsilon:.3g} to "
                f"{density + epsilon:.3g} must lie strictly between 0 and 1. Lower epsilon."
            )


def _kept(group: TensorGroup, place: int) -> Kept | None:
    density, epsilon = (group.per_input[name][place] for name in ("density", "epsilon"))
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


_MASK = Mask({"weight": None, "density": 1.0, "epsilon": 0.15}, _check, _kept)


@final
@dataclass(frozen=True)
class Della(AbstractMaskedElection):
    """MAGPRUNE, then the election of TIES.

    An entry of rank r in [0, 1] by magnitude within its row (the last axis) is kept with probability density - epsilon
    + 2 epsilon r; in a row of one entry with probability density. Density 1 keeps all and 0 none.

    Source: Deep et al. 2024 (arXiv 2406.11617).
    """

    name = "della"
    source = "arXiv 2406.11617"
    mask, per_input = _MASK, _MASK.per_input
    random = True
    promises = frozenset({Promise.IDENTITY, Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})

    normalize: bool = True


@final
@dataclass(frozen=True)
class DellaLinear(AbstractMaskedSum):
    """MAGPRUNE as in `Della`, then the weighted sum.

    Source: Deep et al. 2024 (arXiv 2406.11617).
    """

    name = "della_linear"
    source = "arXiv 2406.11617"
    mask, per_input = _MASK, _MASK.per_input
    random = True
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})
