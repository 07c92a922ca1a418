"""Directions on the sphere: norms and cosines summed in float64, the sine weights of slerp, and its edge policy.

A vector of one entry has no direction but its sign; it is merged on the straight path (noted).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from assay.errors import ConfigError
from assay.merge.deltas import parts

__all__ = ["ANTIPODAL", "ONE_ENTRY", "PARALLEL", "ZERO_NORM", "Ends", "dot", "norm", "slerp_shares"]

PARALLEL = 0.9995
ZERO_NORM = "degenerate: zero_norm"
ANTIPODAL = "degenerate: antipodal"
ONE_ENTRY = "degenerate: one_entry"


class Ends(NamedTuple):
    """The two factors of a combination of two tensors, and what had to be decided."""

    first: float
    second: float
    notes: tuple[str, ...] = ()


def dot(one: Tensor, other: Tensor) -> float:
    """Inner product of all entries, added up in float64."""
    left, right = one.reshape(-1), other.reshape(-1)
    return sum(float(torch.dot(left[part].double(), right[part].double())) for part in parts(left.numel()))


def norm(tensor: Tensor) -> float:
    """Euclidean norm of all entries, added up in float64; scaled by the largest entry, so that it cannot underflow."""
    largest = float(tensor.abs().max()) if tensor.numel() else 0.0
    if largest == 0:
        return 0.0
    if 1e-30 < largest < 1e30:
        return math.sqrt(dot(tensor, tensor))
    scaled = tensor.double() / largest
    return largest * math.sqrt(dot(scaled, scaled))


def slerp_shares(t: float, cosine: float, *, parallel: float, allow_antipodal: bool, where: str) -> Ends:
    """Factors of both ends at ``t``: sin((1-t) theta) / sin theta and sin(t theta) / sin theta.

    Linear where the cosine is above ``parallel``. Below -0.9995 the path is not defined and its middle collapses.

    Raises:
        ConfigError: ends that point opposite ways, unless ``allow_antipodal``, which makes them linear.
    """
    if cosine < -PARALLEL:
        if not allow_antipodal:
            raise ConfigError(
                f"{where}: the two ends point opposite ways (cosine {cosine:.6f}), so no arc between them is shortest "
                "and the norm collapses. Use linear, or set allow_antipodal to take the straight path."
            )
        return Ends(1 - t, t, (ANTIPODAL,))
    if cosine > parallel:
        return Ends(1 - t, t)
    angle = math.acos(cosine)
    return Ends(math.sin((1 - t) * angle) / math.sin(angle), math.sin(t * angle) / math.sin(angle))
