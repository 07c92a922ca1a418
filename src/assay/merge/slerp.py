"""Slerp: the great-circle path between recipient and donor, on the tensors as they are, not normalised."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from assay.errors import ConfigError
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup
from assay.merge.spheres import ONE_ENTRY, PARALLEL, ZERO_NORM, Ends, dot, norm, slerp_shares

__all__ = ["Slerp"]


@final
@dataclass(frozen=True)
class Slerp(AbstractMergeOperator):
    """[sin((1-t) theta) a + sin(t theta) b] / sin theta, theta the angle between a (the base) and b; t = 0 is a.

    Linear where cos theta > 0.9995, and where a norm is zero (noted). The norm of the result is not between those of
    the ends if these differ. ``t`` outside [0, 1] extrapolates.

    Source: Shoemake 1985; the variant on un-normalised tensors of mergekit, which is also linear for opposite ends.
    """

    name = "slerp"
    source = "Shoemake 1985, doi 10.1145/325165.325242"
    base: ClassVar[BaseRole] = "required"
    most = 1
    promises = frozenset({Promise.IDENTITY, Promise.PERMUTATION, Promise.ENDPOINTS})

    t: float
    allow_antipodal: bool = False

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError if ``t`` is no finite number."""
        if not math.isfinite(self.t):
            raise ConfigError(f"slerp: t is {self.t}; give a finite number, 0 for the base and 1 for the other model.")

    def fuse(self, group: TensorGroup) -> Fused:
        """The point at ``t``; angles from float64 sums."""
        recipient, donor = group.ancestor, group.tensors[0]
        product = norm(recipient) * norm(donor)
        if product == 0 or recipient.numel() == 1:
            ends = Ends(1 - self.t, self.t, (ZERO_NORM if product == 0 else ONE_ENTRY,))
        else:
            cosine = dot(recipient, donor) / product
            where = f"slerp: tensor {group.name!r}"
            ends = slerp_shares(self.t, cosine, parallel=PARALLEL, allow_antipodal=self.allow_antipodal, where=where)
        return Fused((recipient * ends.first).add_(donor, alpha=ends.second), ends.notes)
