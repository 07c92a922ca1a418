"""Multi-SLERP: the weighted mean of directions, times the weighted mean norm."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from torch import Tensor

from assay.errors import ConfigError
from assay.merge.deltas import checked_divisor
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup
from assay.merge.spheres import ANTIPODAL, ONE_ENTRY, PARALLEL, ZERO_NORM, dot, norm

__all__ = ["Multislerp"]


@final
@dataclass(frozen=True)
class Multislerp(AbstractMergeOperator):
    """m sum_i w_i |d_i| with u_i = d_i / |d_i| and m = sum_i w_i u_i made unit; the base is added back if there is one.

    mergekit writes (m cos|v| + v sin|v| / |v|) sum_i w_i |d_i| with v = sum_i w_i (u_i - <u_i, m> m). That v is zero:
    sum_i w_i u_i is a multiple of m. So this is not the slerp geodesic: two orthogonal unit vectors with weights 3:1
    meet at (.9487, .3162), slerp at (.9239, .3827). Linear where a norm is zero (noted). ``eps``: length of the mean
    direction below which there is none; two opposite inputs are refused at any weights but by ``allow_antipodal``.

    Source: mergekit 0.1.5, multislerp; here the unit vectors are exact, and one input gives that input.
    """

    name = "multislerp"
    source = "mergekit 0.1.5, multislerp"
    base: ClassVar[BaseRole] = "optional"
    per_input: ClassVar[Mapping[str, float | None]] = {"weight": None}
    promises = frozenset(Promise)

    normalize_weights: bool = True
    eps: float = 1e-8
    allow_antipodal: bool = False

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError if weights to be normalised add up to zero."""
        if self.normalize_weights:
            checked_divisor(per_input["weight"], operator=self.name)

    def fuse(self, group: TensorGroup) -> Fused:
        """The mean; norms and angles from float64 sums."""
        if len(group.tensors) == 1:
            return Fused(group.tensors[0].clone())
        weights = group.per_input["weight"]
        total = sum(weights) if self.normalize_weights else 1.0
        shares = tuple(weight / total for weight in weights)
        notes: tuple[str, ...]
        deltas = list(group.tensors) if group.base is None else [one - group.base for one in group.tensors]
        norms = [norm(delta) for delta in deltas]
        factors, notes = shares, (ONE_ENTRY if deltas[0].numel() == 1 else ZERO_NORM,)
        if min(norms) > 0 and deltas[0].numel() != 1:
            factors, notes = self._factors(deltas, norms, shares, group.name)
        result = deltas[0] * factors[0]
        for delta, factor in zip(deltas[1:], factors[1:], strict=True):
            result.add_(delta, alpha=factor)
        return Fused(result if group.base is None else result.add_(group.base), notes)

    def _factors(
        self, deltas: Sequence[Tensor], norms: Sequence[float], shares: tuple[float, ...], name: str
    ) -> tuple[tuple[float, ...], tuple[str, ...]]:
        """Factor of each task vector; the length of the mean direction follows from the cosines alone."""
        n = range(len(deltas))
        cosines = [[1.0 if i == j else dot(deltas[i], deltas[j]) / (norms[i] * norms[j]) for j in n] for i in n]
        length = math.sqrt(max(sum(shares[i] * shares[j] * cosines[i][j] for i in n for j in n), 0.0))
        opposite = len(deltas) == 2 and cosines[0][1] < -PARALLEL
        if opposite and self.allow_antipodal:
            return shares, (ANTIPODAL,)
        if opposite or length < max(self.eps, 1e-7):
            raise ConfigError(
                f"multislerp: tensor {name!r}: the directions cancel (length {length:.3g} of their weighted mean), so "
                "they have no mean. Change the weights, use linear, or with two inputs set allow_antipodal."
            )
        scale = sum(share * one for share, one in zip(shares, norms, strict=True))
        return tuple(scale * shares[i] / (length * norms[i]) for i in n), ()
