"""Task arithmetic: the base plus a scaled sum of task vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from torch import Tensor

from assay.merge.deltas import blockwise, checked_divisor
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup

__all__ = ["TaskArithmetic"]


@final
@dataclass(frozen=True)
class TaskArithmetic(AbstractMergeOperator):
    """theta_0 + lambda sum_i w_i (theta_i - theta_0), the sum divided by sum_i w_i if ``normalize``.

    ``lambda_`` is ``lambda`` in recipes.

    Source: Ilharco et al. 2023 (arXiv 2212.04089).
    """

    name = "task_arithmetic"
    source = "arXiv 2212.04089"
    base: ClassVar[BaseRole] = "required"
    per_input: ClassVar[Mapping[str, float | None]] = {"weight": None}
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})

    normalize: bool = False
    lambda_: float = 1.0

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError if weights to be normalised add up to zero."""
        if self.normalize:
            checked_divisor(per_input["weight"], operator=self.name)

    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the scaled sum, in the order of the inputs."""
        weights = group.per_input["weight"]
        scale = self.lambda_ / (sum(weights) if self.normalize else 1.0)
        base = group.ancestor.reshape(-1)
        flat = [tensor.reshape(-1) for tensor in group.tensors]

        def block(part: slice) -> Tensor:
            out = base[part].clone()
            for tensor, weight in zip(flat, weights, strict=True):
                out.add_(tensor[part] - base[part], alpha=weight * scale)
            return out

        return Fused(blockwise(group.ancestor, block))
