"""Sparse task vectors: some entries of each kept, rescaled, and added up plainly or after an election."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from assay.merge.deltas import Rescale, blockwise, l1, parts, rescale_factor
from assay.merge.election import Election
from assay.merge.operator import TensorGroup

__all__ = ["Kept", "Sparse", "delta_of", "sparse", "sparse_sum", "votes"]

Kept = Callable[[Tensor, slice], Tensor]
"""Which entries of a flat piece of a task vector are kept, given the piece and its place."""


class Sparse(NamedTuple):
    """The kept entries of one task vector times ``factor``; ``kept`` None means all."""

    kept: Kept | None
    factor: float

    def piece(self, delta: Tensor, part: slice) -> Tensor:
        """The flat piece of the sparse task vector at ``part``."""
        if self.kept is not None:
            delta = delta * self.kept(delta, part)
        return delta if self.factor == 1 else delta * self.factor


def delta_of(group: TensorGroup, place: int) -> Callable[[slice], Tensor]:
    """Flat pieces of the task vector of one input."""
    base, tensor = group.ancestor.reshape(-1), group.tensors[place].reshape(-1)
    return lambda part: tensor[part] - base[part]


def sparse(group: TensorGroup, place: int, *, kept: Kept | None, rescale: Rescale, density: float) -> Sparse:
    """The sparse task vector of one input; the L1 ratio of ``rescale`` is that of this tensor."""
    if kept is None or rescale != "l1":
        return Sparse(kept, 1.0 if kept is None else rescale_factor(rescale, density=density, before=1.0, after=1.0))
    delta, before, after = delta_of(group, place), 0.0, 0.0
    for part in parts(group.ancestor.numel()):
        piece = delta(part)
        before += l1(piece)
        after += l1(piece * kept(piece, part))
    return Sparse(kept, rescale_factor(rescale, density=density, before=before, after=after))


def sparse_sum(
    group: TensorGroup,
    vectors: Sequence[Sparse],
    *,
    scale: float,
    election: Election | None,
) -> Tensor:
    """The base plus ``scale`` times the weighted sum of sparse task vectors, or of the entries an election kept."""
    weights = group.per_input["weight"]
    base = group.ancestor.reshape(-1)
    deltas = [delta_of(group, place) for place in range(len(vectors))]
    majority = _majority(group, vectors, election)

    def block(part: slice) -> Tensor:
        pieces = [one.piece(delta(part), part) for one, delta in zip(vectors, deltas, strict=True)]
        if election is not None:
            total = election.agreed(pieces, weights, majority=majority)
        else:
            total = torch.zeros_like(pieces[0])
            for piece, weight in zip(pieces, weights, strict=True):
                total.add_(piece, alpha=weight)
        return total.mul_(scale).add_(base[part])

    return blockwise(group.ancestor, block)


def votes(group: TensorGroup, vectors: Sequence[Sparse], election: Election) -> float:
    """Coordinates of this tensor that elect plus, minus those that elect minus."""
    weights = group.per_input["weight"]
    deltas = [delta_of(group, place) for place in range(len(vectors))]
    balance = 0.0
    for part in parts(group.ancestor.numel()):
        pieces = [one.piece(delta(part), part) for one, delta in zip(vectors, deltas, strict=True)]
        balance += float(election.tally(pieces, weights).sign().sum(dtype=torch.float64))
    return balance


def _majority(group: TensorGroup, vectors: Sequence[Sparse], election: Election | None) -> float:
    if election is None or election.sign_tie != "global":
        return 0.0
    if group.facts is not None:
        return group.facts.majority
    balance = votes(group, vectors, election)
    return float((balance > 0) - (balance < 0))
