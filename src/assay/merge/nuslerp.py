"""NuSLERP: slerp between two inputs by weight, of tensors or task vectors, as a whole or vector by vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from torch import Tensor

from assay.errors import ConfigError
from assay.merge.deltas import checked_divisor
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup
from assay.merge.spheres import ANTIPODAL, ONE_ENTRY, PARALLEL, ZERO_NORM, dot, norm

__all__ = ["Nuslerp"]

_COLINEAR = 1e-16


@final
@dataclass(frozen=True)
class Nuslerp(AbstractMergeOperator):
    """Slerp at t = w_2 / (w_1 + w_2); with a base, of the two task vectors, and the base added back.

    ``nuslerp_flatten`` makes each tensor one vector. Otherwise every vector along the last axis has its own angle, or
    with ``nuslerp_row_wise`` every vector along the first axis (mergekit's names; its guide says it the other way
    round). Linear where 1 - cos^2 <= 1e-16 with equal sense, and where a norm is zero (noted).

    Source: mergekit, method nuslerp.
    """

    name = "nuslerp"
    source = "mergekit 0.1.5, nuslerp"
    base: ClassVar[BaseRole] = "optional"
    fewest = 2
    most = 2
    per_input: ClassVar[Mapping[str, float | None]] = {"weight": None}
    promises = frozenset(Promise)

    nuslerp_flatten: bool = True
    nuslerp_row_wise: bool = False
    allow_antipodal: bool = False

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError if the weights add up to zero."""
        checked_divisor(per_input["weight"], operator=self.name)

    def fuse(self, group: TensorGroup) -> Fused:
        """The point at w_2 / (w_1 + w_2); angles from float64 sums."""
        weights = group.per_input["weight"]
        t = weights[1] / sum(weights)
        first, second = group.tensors if group.base is None else (one - group.base for one in group.tensors)
        axis = 0 if self.nuslerp_row_wise else -1
        flat = self.nuslerp_flatten or first.ndim == 0
        if first.numel() == 1 or (not flat and first.shape[axis] == 1):
            left, right = torch.tensor([[1 - t], [t]], dtype=torch.float64)
            notes: tuple[str, ...] = (ONE_ENTRY,)
        else:
            left, right, notes = self._shares(t, *_angles(first, second, axis=None if flat else axis), group.name)
        if left.numel() == 1:
            result = (first * left.item()).add_(second, alpha=right.item())
        else:
            result = first * left.to(first.dtype) + second * right.to(first.dtype)
        return Fused(result if group.base is None else result.add_(group.base), notes)

    def _shares(self, t: float, product: Tensor, norms: Tensor, name: str) -> tuple[Tensor, Tensor, tuple[str, ...]]:
        zero = norms == 0
        cosine = product / torch.where(zero, 1.0, norms)
        opposite = cosine < -PARALLEL
        if bool(opposite.any()) and not self.allow_antipodal:
            raise ConfigError(
                f"nuslerp: tensor {name!r}: {int(opposite.sum())} of {opposite.numel()} pairs of vectors point "
                f"opposite ways (cosine down to {float(cosine.min()):.6f}). Use linear, or set allow_antipodal."
            )
        straight = zero | opposite | (1 - cosine.square() <= _COLINEAR)
        angle = torch.acos(torch.where(straight, 0.0, cosine))
        sine = torch.sin(angle)
        left = torch.where(straight, 1 - t, torch.sin((1 - t) * angle) / sine)
        right = torch.where(straight, t, torch.sin(t * angle) / sine)
        notes = [note for note, mask in ((ZERO_NORM, zero), (ANTIPODAL, opposite)) if bool(mask.any())]
        return left, right, tuple(notes)


def _angles(first: Tensor, second: Tensor, *, axis: int | None) -> tuple[Tensor, Tensor]:
    """Inner products and products of norms, of the whole tensors or of all vectors along ``axis``, in float64."""
    if axis is None:
        product, norms = dot(first, second), norm(first) * norm(second)
        return torch.tensor([product], dtype=torch.float64), torch.tensor([norms], dtype=torch.float64)
    lengths = [torch.linalg.vector_norm(one, dim=axis, keepdim=True, dtype=torch.float64) for one in (first, second)]
    return (first.double() * second.double()).sum(dim=axis, keepdim=True), lengths[0] * lengths[1]
