"""TIES: trim each task vector to its largest entries, elect a sign a coordinate, average the entries that have it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from assay.merge.deltas import Rescale, density_in_range
from assay.merge.election import Election, SignTie, Vote, checked_divisors
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, Promise, TensorGroup
from assay.merge.sparse import Kept, Sparse, delta_of, sparse, sparse_sum
from assay.merge.trim import Trim, kept_count, largest

__all__ = ["Scope", "Ties"]

Scope = Literal["tensor", "model"]


@final
@dataclass(frozen=True)
class Ties(AbstractMergeOperator):
    """theta_0 + lambda times the weighted mean, over inputs of the elected sign, of trimmed task vectors.

    The trim keeps max(1, int(density n)) entries, of equal magnitudes the first; ``scope`` says whether n counts the
    tensor or the whole model, whose ties go by name of tensor. ``rescale`` multiplies what is left by its L1 ratio or
    by 1 / density. The election is that of `Election`. Defaults are those of mergekit; the arithmetic of the authors'
    code is scope="model", sign_tie="global", weight_before_vote=False with weights 1 (it keeps one entry more, and all
    of equal magnitude).

    Source: Yadav et al. 2023 (arXiv 2306.01708).
    """

    name = "ties"
    source = "arXiv 2306.01708"
    base: ClassVar[BaseRole] = "required"
    per_input: ClassVar[Mapping[str, float | None]] = {"weight": None, "density": 1.0}
    promises = frozenset({Promise.IDENTITY, Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})

    normalize: bool = True
    lambda_: float = 1.0
    rescale: Rescale = "none"
    scope: Scope = "tensor"
    vote: Vote = "mass"
    sign_tie: SignTie = "plus"
    weight_before_vote: bool = True

    @property
    def election(self) -> Election:
        """How signs are elected."""
        return Election(self.vote, self.sign_tie, self.weight_before_vote, self.normalize)

    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError for a density outside [0, 1], or weights that can cancel to a divisor of zero."""
        density_in_range(per_input["density"], operator=self.name)
        if self.normalize:
            checked_divisors(per_input["weight"], operator=self.name)

    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the elected mean."""
        return Fused(sparse_sum(group, self.vectors(group), scale=self.lambda_, election=self.election))

    def vectors(self, group: TensorGroup) -> list[Sparse]:
        """The trimmed, rescaled task vector of every input."""
        numel = group.ancestor.numel()
        found = []
        for place, density in enumerate(group.per_input["density"]):
            keep = kept_count(density, numel) if group.facts is None else group.facts.keep[place]
            trim = largest(delta_of(group, place), numel, keep)
            rescale: Rescale = self.rescale if group.facts is None else "none"
            one = sparse(group, place, kept=_kept(trim, everything=keep >= numel), rescale=rescale, density=density)
            found.append(one if group.facts is None else one._replace(factor=group.facts.factor[place]))
        return found


def _kept(trim: Trim, *, everything: bool) -> Kept | None:
    return None if everything else lambda delta, part: trim.mask(delta.abs(), part)
