"""RAM: a coordinate that one input changed keeps that change whole; where several changed it, they are averaged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor

from assay.errors import ConfigError
from assay.merge.deltas import blockwise, parts
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup
from assay.merge.sparse import delta_of

__all__ = ["Ram", "RamPlus"]


@final
@dataclass(frozen=True)
class Ram(AbstractMergeOperator):
    """theta_0 plus, in each coordinate, the mean of the task vectors whose entry there exceeds ``epsilon``.

    Source: arXiv 2601.13572, as in mergekit 0.1.5.
    """

    name = "ram"
    source = "arXiv 2601.13572"
    base: ClassVar[BaseRole] = "required"
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER})

    epsilon: float = 1e-5

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError for a threshold that is negative or not finite."""
        _not_negative(self.name, epsilon=self.epsilon)

    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the mean change."""
        return Fused(_merged(group, self.epsilon, [1.0] * len(group.tensors)))


@final
@dataclass(frozen=True)
class RamPlus(AbstractMergeOperator):
    """`Ram` with the changes that one input alone made multiplied by 1 + r min(shared / unique, alpha).

    ``shared`` and ``unique`` count that input's changed coordinates in this tensor, with others and alone.

    Source: arXiv 2601.13572, the tensor-local form of mergekit 0.1.5.
    """

    name = "ramplus_tl"
    source = "arXiv 2601.13572"
    base: ClassVar[BaseRole] = "required"
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER})

    r: float = 0.1
    alpha: float = 0.2
    epsilon: float = 1e-5

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError for a number that is negative or not finite."""
        _not_negative(self.name, r=self.r, alpha=self.alpha, epsilon=self.epsilon)

    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the change, unique entries raised."""
        factors = []
        for shared, unique in _counts(group, self.epsilon):
            factors.append(1 + self.r * min(shared / unique, self.alpha) if unique else 1.0)
        return Fused(_merged(group, self.epsilon, factors))


def _not_negative(operator: str, **numbers: float) -> None:
    for name, value in numbers.items():
        if not (math.isfinite(value) and value >= 0):
            raise ConfigError(f"{operator}: {name} is {value}; it must be finite and not negative.")


def _counts(group: TensorGroup, epsilon: float) -> list[tuple[int, int]]:
    """Changed coordinates of each input: with others, alone."""
    deltas = [delta_of(group, place) for place in range(len(group.tensors))]
    totals = torch.zeros(len(deltas), 2, dtype=torch.int64)
    for part in parts(group.ancestor.numel()):
        active = torch.stack([delta(part).abs() > epsilon for delta in deltas])
        together = active.sum(dim=0)
        totals[:, 0] += (active & (together > 1)).sum(dim=1)
        totals[:, 1] += (active & (together == 1)).sum(dim=1)
    return [(int(shared), int(unique)) for shared, unique in totals.tolist()]


def _merged(group: TensorGroup, epsilon: float, factors: list[float]) -> Tensor:
    base = group.ancestor.reshape(-1)
    deltas = [delta_of(group, place) for place in range(len(group.tensors))]

    def block(part: slice) -> Tensor:
        count, total, alone = torch.zeros(3, base[part].numel(), dtype=base.dtype)
        for delta, factor in zip(deltas, factors, strict=True):
            change = delta(part)
            active = change.abs() > epsilon
            count += active
            total += change * active
            alone += change * active * factor
        return torch.where(count == 1, alone, total / count.clamp(min=1)).add_(base[part])

    return blockwise(group.ancestor, block)
