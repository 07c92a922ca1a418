"""Linear: the weighted mean of the inputs. With two inputs and weights (1 - t, t) it is the straight path (lerp)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from torch import Tensor

from assay.merge.deltas import blockwise, checked_divisor
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup

__all__ = ["Linear"]


@final
@dataclass(frozen=True)
class Linear(AbstractMergeOperator):
    """sum_i w_i theta_i, divided by sum_i w_i if ``normalize``. Weights may be negative or exceed 1.

    Source: Utans 1996; Wortsman et al. 2022, model soups (arXiv 2203.05482).
    """

    name = "linear"
    source = "arXiv 2203.05482"
    base: ClassVar[BaseRole] = "ignored"
    per_input: ClassVar[Mapping[str, float | None]] = {"weight": None}
    promises = frozenset(Promise)

    normalize: bool = True

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError if weights to be normalised add up to zero."""
        if self.normalize:
            checked_divisor(per_input["weight"], operator=self.name)

    def fuse(self, group: TensorGroup) -> Fused:
        """The weighted sum, in the order of the inputs."""
        weights = group.per_input["weight"]
        total = sum(weights) if self.normalize else 1.0
        shares = [weight / total for weight in weights]
        flat = [tensor.reshape(-1) for tensor in group.tensors]

        def block(part: slice) -> Tensor:
            out = flat[0][part] * shares[0]
            for tensor, share in zip(flat[1:], shares[1:], strict=True):
                out.add_(tensor[part], alpha=share)
            return out

        return Fused(blockwise(group.tensors[0], block))
