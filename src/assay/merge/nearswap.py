"""NearSwap: move each entry of the base towards the donor's, all the way where the two are near."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from torch import Tensor

from assay.errors import ConfigError
from assay.merge.deltas import blockwise
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup

__all__ = ["Nearswap"]


@final
@dataclass(frozen=True)
class Nearswap(AbstractMergeOperator):
    """w b + (1 - w) a, w = min(1, t / max(|a - b|, 1e-6)), a the base: an entry moves by at most ``t``, in its units.

    Source: mergekit 0.1.5, nearswap.
    """

    name = "nearswap"
    source = "mergekit 0.1.5, nearswap"
    base: ClassVar[BaseRole] = "required"
    most = 1
    promises = frozenset({Promise.IDENTITY, Promise.PERMUTATION, Promise.ENDPOINTS})

    t: float

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError for a distance that is negative or not finite."""
        if not (math.isfinite(self.t) and self.t >= 0):
            raise ConfigError(
                f"nearswap: t is {self.t}; it is the distance an entry may move, finite and not negative."
            )

    def fuse(self, group: TensorGroup) -> Fused:
        """The base with every entry moved."""
        recipient, donor = group.ancestor.reshape(-1), group.tensors[0].reshape(-1)

        def block(part: slice) -> Tensor:
            a, b = recipient[part], donor[part]
            weight = (self.t / (a - b).abs().clamp_(min=1e-6)).clamp_(0, 1)
            return weight * b + (1 - weight) * a

        return Fused(blockwise(group.ancestor, block))
