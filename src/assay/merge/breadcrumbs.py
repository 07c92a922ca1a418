"""Model breadcrumbs: leave out the very largest and the smallest entries of each task vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

from torch import Tensor

from assay.merge.deltas import Rescale, checked_divisor, density_in_range
from assay.merge.election import Election, SignTie, Vote, checked_divisors
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup
from assay.merge.sparse import Kept, Sparse, delta_of, sparse, sparse_sum
from assay.merge.trim import largest

__all__ = ["Breadcrumbs", "BreadcrumbsTies"]


@final
@dataclass(frozen=True)
class Breadcrumbs(AbstractMergeOperator):
    """theta_0 + lambda sum_i w_i d_i with trimmed d_i: the int(gamma n) largest entries are left out, the next
    int(density n) are kept. Where fewer than that would be left, fewer outliers go. Density 1 keeps all, outliers too.

    Source: Davari and Belilovsky 2023 (arXiv 2312.06795).
    """

    name = "breadcrumbs"
    source = "arXiv 2312.06795"
    base: ClassVar[BaseRole] = "required"
    per_input: ClassVar[Mapping[str, float | None]] = {"weight": None, "density": 1.0, "gamma": 0.01}
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})

    normalize: bool = False
    lambda_: float = 1.0
    rescale: Rescale = "none"

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError for shares outside [0, 1], or weights to be normalised that add up to zero."""
        _checked(per_input, operator=self.name)
        if self.normalize:
            checked_divisor(per_input["weight"], operator=self.name)

    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the weighted sum of what is left."""
        divisor = sum(group.per_input["weight"]) if self.normalize else 1.0
        return Fused(sparse_sum(group, _left(group, self.rescale), scale=self.lambda_ / divisor, election=None))


@final
@dataclass(frozen=True)
class BreadcrumbsTies(AbstractMergeOperator):
    """The trim of `Breadcrumbs`, then the election of TIES.

    Source: Davari and Belilovsky 2023 (arXiv 2312.06795) with Yadav et al. 2023 (arXiv 2306.01708).
    """

    name = "breadcrumbs_ties"
    source = "arXiv 2312.06795"
    base: ClassVar[BaseRole] = "required"
    per_input: ClassVar[Mapping[str, float | None]] = {"weight": None, "density": 1.0, "gamma": 0.01}
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})

    normalize: bool = False
    lambda_: float = 1.0
    rescale: Rescale = "none"
    vote: Vote = "mass"
    sign_tie: SignTie = "plus"
    weight_before_vote: bool = True

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError for shares outside [0, 1], or weights that can cancel to a divisor of zero."""
        _checked(per_input, operator=self.name)
        if self.normalize:
            checked_divisors(per_input["weight"], operator=self.name)

    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the elected sum of what is left."""
        election = Election(self.vote, self.sign_tie, self.weight_before_vote, self.normalize)
        return Fused(sparse_sum(group, _left(group, self.rescale), scale=self.lambda_, election=election))


def _checked(per_input: Mapping[str, tuple[float, ...]], *, operator: str) -> None:
    for name in ("density", "gamma"):
        density_in_range(per_input[name], operator=operator, name=name)


def _left(group: TensorGroup, rescale: Rescale) -> list[Sparse]:
    numbers = zip(group.per_input["density"], group.per_input["gamma"], strict=True)
    return [
        sparse(group, place, kept=_kept(group, place, density, gamma), rescale=rescale, density=density)
        for place, (density, gamma) in enumerate(numbers)
    ]


def _kept(group: TensorGroup, place: int, density: float, gamma: float) -> Kept | None:
    if density == 1:
        return None
    numel, delta = group.ancestor.numel(), delta_of(group, place)
    count = int(density * numel)
    dropped = min(int(gamma * numel), numel - count)
    outliers, wanted = largest(delta, numel, dropped), largest(delta, numel, dropped + count)

    def kept(piece: Tensor, part: slice) -> Tensor:
        magnitudes = piece.abs()
        return wanted.mask(magnitudes, part) & ~outliers.mask(magnitudes, part)

    return kept
