"""Arcee fusion: take over the donor's entries where the change is important, and only there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import torch
from torch import Tensor

from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup

__all__ = ["ArceeFusion"]

_EPSILON = 1e-8


@final
@dataclass(frozen=True)
class ArceeFusion(AbstractMergeOperator):
    """The donor's entry where |b - a| KL(softmax(b row) || softmax(a row)) >= median + 1.5 IQR, else the base's, a.

    Rows lie along the last axis; probabilities have 1e-8 added. Quantiles are lower ones, exact at any size (mergekit
    draws a sample above a million entries). Where the quartiles are equal the threshold is the median, so that at
    least half of the entries are taken over (noted).

    Source: mergekit 0.1.5, arcee_fusion.
    """

    name = "arcee_fusion"
    source = "mergekit 0.1.5, arcee_fusion"
    base: ClassVar[BaseRole] = "required"
    most = 1
    promises = frozenset({Promise.IDENTITY, Promise.PERMUTATION})

    def fuse(self, group: TensorGroup) -> Fused:
        """The base with the important entries replaced."""
        recipient, donor = group.ancestor, group.tensors[0]
        if recipient.numel() == 0:
            return Fused(recipient.clone())
        importance = _importance(recipient, donor)
        quartiles = _quartiles(importance)
        spread = quartiles[2] - quartiles[0]
        threshold = quartiles[1] + 1.5 * spread
        notes = ("degenerate: quartiles of importance are equal",) if spread == 0 else ()
        return Fused(torch.where(importance >= threshold, donor, recipient), notes)


def _importance(recipient: Tensor, donor: Tensor) -> Tensor:
    rows = (donor, recipient) if recipient.ndim else (donor.reshape(1), recipient.reshape(1))
    p, q = (torch.softmax(side, dim=-1) + _EPSILON for side in rows)
    divergence = (p * torch.log(p / q)).sum(dim=-1, keepdim=True)
    return ((rows[0] - rows[1]).abs() * divergence).reshape(recipient.shape)


def _quartiles(importance: Tensor) -> Tensor:
    """Lower quartiles: the entries at places int(q (n - 1)) of the sorted importances."""
    values = importance.reshape(-1).numpy().copy()
    places = [int(q * (values.size - 1)) for q in (0.25, 0.5, 0.75)]
    values.partition(sorted(set(places)))
    return torch.from_numpy(np.asarray(values[places]))
