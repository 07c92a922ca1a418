"""Karcher: the Riemannian mean of the directions of the inputs, times the mean of their norms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

from torch import Tensor

from assay.errors import ConfigError
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup
from assay.merge.spheres import ANTIPODAL, ONE_ENTRY, PARALLEL, ZERO_NORM, dot, norm

__all__ = ["Karcher"]


@final
@dataclass(frozen=True)
class Karcher(AbstractMergeOperator):
    """u <- exp_u(mean_i log_u(u_i)) from the normalised sum of unit vectors, until the step is below ``tol``.

    All inputs count the same. At most ``max_iter`` steps; a mean that has not settled says so in a note. The mean stays
    in the span of the inputs, so the steps are taken on coefficients in float64, not on the tensors. Linear where a
    norm is zero (noted).

    Source: mergekit 0.1.5, karcher (arXiv 2603.04972 as named there); inputs of norm below tol are dropped there.
    """

    name = "karcher"
    source = "mergekit 0.1.5, karcher"
    base: ClassVar[BaseRole] = "ignored"
    promises = frozenset({Promise.IDENTITY, Promise.PERMUTATION, Promise.ORDER})

    max_iter: int = 10
    tol: float = 1e-5
    allow_antipodal: bool = False

    def fuse(self, group: TensorGroup) -> Fused:
        """The mean; a single input gives itself."""
        tensors = group.tensors
        if len(tensors) == 1:
            return Fused(tensors[0].clone())
        norms = [norm(tensor) for tensor in tensors]
        share = 1 / len(tensors)
        notes: tuple[str, ...] = (ONE_ENTRY if tensors[0].numel() == 1 else ZERO_NORM,)
        factors = [share] * len(tensors)
        if min(norms) > 0 and tensors[0].numel() != 1:
            units, notes = self._coefficients(_cosines(tensors, norms), group.name)
            if ANTIPODAL not in notes:
                scale = sum(norms) * share
                factors = [scale * unit / one for unit, one in zip(units, norms, strict=True)]
        result = tensors[0] * factors[0]
        for tensor, factor in zip(tensors[1:], factors[1:], strict=True):
            result.add_(tensor, alpha=factor)
        return Fused(result, notes)

    def _coefficients(self, cosines: list[list[float]], name: str) -> tuple[list[float], tuple[str, ...]]:
        """The mean direction as a combination of the unit vectors: u = sum_i c_i u_i."""
        n = range(len(cosines))
        smallest = min(min(row) for row in cosines)
        mean = _unit([1.0 for _ in n], cosines)
        if mean is None or smallest < -PARALLEL:
            if self.allow_antipodal:
                return [], (ANTIPODAL,)
            raise ConfigError(
                f"karcher: tensor {name!r}: two inputs point opposite ways (cosine {smallest:.6f}) or the directions "
                "cancel, so they have no mean. Use linear, or set allow_antipodal to take the straight mean."
            )
        step = math.inf
        for _ in range(self.max_iter):
            tangent = [0.0 for _ in n]
            for i in n:
                along = min(1.0, max(-1.0, sum(mean[j] * cosines[i][j] for j in n)))
                angle = math.acos(along)
                if angle < self.tol:
                    continue
                factor = angle / math.sin(angle) / len(cosines)
                tangent = [tangent[j] + factor * ((i == j) - along * mean[j]) for j in n]
            step = _length(tangent, cosines)
            if step < self.tol:
                return mean, ()
            mean = [math.cos(step) * mean[j] + math.sin(step) * tangent[j] / step for j in n]
            mean = _unit(mean, cosines) or mean
        return mean, (f"not settled: {self.max_iter} steps, the last of {step:.2g}",)


def _cosines(tensors: Sequence[Tensor], norms: Sequence[float]) -> list[list[float]]:
    n = range(len(tensors))
    upper = {(i, j): dot(tensors[i], tensors[j]) / (norms[i] * norms[j]) for i in n for j in n if i < j}
    return [[1.0 if i == j else upper[min(i, j), max(i, j)] for j in n] for i in n]


def _length(weights: Sequence[float], cosines: Sequence[Sequence[float]]) -> float:
    n = range(len(weights))
    return math.sqrt(max(sum(weights[i] * weights[j] * cosines[i][j] for i in n for j in n), 0.0))


def _unit(weights: Sequence[float], cosines: Sequence[Sequence[float]]) -> list[float] | None:
    length = _length(weights, cosines)
    return [weight / length for weight in weights] if length > 1e-7 * sum(map(abs, weights)) else None
