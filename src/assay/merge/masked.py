"""What the operators share that keep some entries of each task vector and add up what is left, plainly or as TIES."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

from assay.merge.deltas import Rescale, checked_divisor
from assay.merge.election import Election, SignTie, Vote, checked_divisors
from assay.merge.operator import AbstractMergeOperator, BaseRole, Fused, TensorGroup
from assay.merge.sparse import Kept, Sparse, sparse, sparse_sum

__all__ = ["AbstractMaskedElection", "AbstractMaskedSum", "Mask"]


class Mask(NamedTuple):
    """A rule by which entries are kept.

    ``per_input``: the numbers each input has, as in `AbstractMergeOperator`. ``check`` refuses numbers by which nothing
    can be kept, in the name of the operator given (ConfigError). ``kept`` gives the entries of one input's task vector.
    """

    per_input: Mapping[str, float | None]
    check: Callable[[Mapping[str, tuple[float, ...]], str], None]
    kept: Callable[[TensorGroup, int], Kept | None]


@dataclass(frozen=True)
class _AbstractMasked(AbstractMergeOperator):
    """Class variables besides those of every operator: ``mask``, the rule by which entries are kept."""

    mask: ClassVar[Mask]
    base: ClassVar[BaseRole] = "required"

    normalize: bool = False
    lambda_: float = 1.0
    rescale: Rescale = "l1"

    @final
    def check(self, per_input: Mapping[str, tuple[float, ...]]) -> None:
        """Raises: ConfigError for numbers that the mask refuses, or weights that cannot be normalised."""
        self.mask.check(per_input, self.name)
        if self.normalize:
            self._check_weights(per_input["weight"])

    @abstractmethod
    def _check_weights(self, weights: tuple[float, ...]) -> None: ...

    @final
    def _masked(self, group: TensorGroup) -> list[Sparse]:
        return [
            sparse(group, place, kept=self.mask.kept(group, place), rescale=self.rescale, density=density)
            for place, density in enumerate(group.per_input["density"])
        ]


@dataclass(frozen=True)
class AbstractMaskedSum(_AbstractMasked):
    """The base plus the weighted sum of what the mask left; a sum of weights of zero cannot be normalised."""

    @final
    def _check_weights(self, weights: tuple[float, ...]) -> None:
        checked_divisor(weights, operator=self.name)

    @final
    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the weighted sum of what is left."""
        divisor = sum(group.per_input["weight"]) if self.normalize else 1.0
        return Fused(sparse_sum(group, self._masked(group), scale=self.lambda_ / divisor, election=None))


@dataclass(frozen=True)
class AbstractMaskedElection(_AbstractMasked):
    """The base plus what `Election` makes of what the mask left; weights that can cancel cannot be normalised."""

    vote: Vote = "mass"
    sign_tie: SignTie = "plus"
    weight_before_vote: bool = True

    @final
    def _check_weights(self, weights: tuple[float, ...]) -> None:
        checked_divisors(weights, operator=self.name)

    @final
    def fuse(self, group: TensorGroup) -> Fused:
        """The base plus the elected sum, or mean if ``normalize``, of what is left."""
        election = Election(self.vote, self.sign_tie, self.weight_before_vote, self.normalize)
        return Fused(sparse_sum(group, self._masked(group), scale=self.lambda_, election=election))
