"""Trimming by magnitude: which entries of a task vector are the largest, exactly as many as asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from assay.merge.deltas import parts

__all__ = ["Trim", "kept_count", "largest"]


class Trim(NamedTuple):
    """The entries kept: those above ``threshold``, and of those equal to it the ones before flat place ``until``."""

    threshold: float
    until: int

    def mask(self, magnitudes: Tensor, part: slice) -> Tensor:
        """Which of the magnitudes at the flat places ``part`` are kept."""
        kept = magnitudes > self.threshold
        before = self.until - int(part.start)
        if before > 0:
            kept[:before] |= magnitudes[:before] == self.threshold
        return kept


def kept_count(density: float, numel: int) -> int:
    """Entries that a density keeps: max(1, int(density numel)); all at 1 and none at 0."""
    return max(1, int(density * numel)) if density > 0 and numel else 0


def largest(piece: Callable[[slice], Tensor], numel: int, keep: int) -> Trim:
    """The ``keep`` entries of largest magnitude of a flat tensor that ``piece`` gives; of equal ones the first.

    Room: one tensor of its size, in which the threshold is selected.
    """
    if keep >= numel:
        return Trim(-1.0, 0)
    if keep <= 0:
        return Trim(math.inf, 0)
    room = torch.empty(numel, dtype=piece(slice(0, 1)).dtype)
    for part in parts(numel):
        torch.abs(piece(part), out=room[part])
    values = room.numpy()
    values.partition(numel - keep)
    threshold = float(values[numel - keep])
    wanted = keep - int((room[numel - keep :] > threshold).sum())
    if int((room[: numel - keep] == threshold).sum()) == 0:
        return Trim(threshold, numel)
    del room, values
    for part in parts(numel):
        places = torch.nonzero(piece(part).abs() == threshold).reshape(-1)
        if len(places) >= wanted:
            return Trim(threshold, part.start + int(places[wanted - 1]) + 1)
        wanted -= len(places)
    return Trim(threshold, numel)
