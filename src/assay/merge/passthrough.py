"""Passthrough: the one input as it is, or times a number; what layer stacking is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from assay.errors import ConfigError
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup

__all__ = ["Passthrough"]


@final
@dataclass(frozen=True)
class Passthrough(AbstractMergeOperator):
    """The input times ``scale``; without it every bit stays."""

    name = "passthrough"
    source = "mergekit 0.1.5, passthrough"
    base: ClassVar[BaseRole] = "ignored"
    most = 1
    promises = frozenset({Promise.IDENTITY, Promise.PERMUTATION})

    scale: float | None = None

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError for a scale that is not finite."""
        if self.scale is not None and not math.isfinite(self.scale):
            raise ConfigError(f"passthrough: scale is {self.scale}; give a finite number.")

    def fuse(self, group: TensorGroup) -> Fused:
        """The input, or the input times the scale."""
        return Fused(group.tensors[0] if self.scale is None else group.tensors[0] * self.scale)
