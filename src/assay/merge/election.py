"""The election of TIES: one sign a coordinate, and the mean of the entries that have it.

Source: Yadav et al. 2023 (arXiv 2306.01708). Implementations differ in four places, so each is an option.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, final

import torch
from torch import Tensor

from assay.choices import checked_choice
from assay.errors import ConfigError

__all__ = ["Election", "SignTie", "Vote", "checked_divisors"]

Vote = Literal["mass", "count"]
SignTie = Literal["plus", "zero", "global"]
_ZERO = 1e-8
_MANY = 12


@final
@dataclass(frozen=True)
class Election:
    """How signs are elected and agreeing entries added up.

    ``vote``: the sign of the sum of values (mass) or of signs (count). ``weight_before_vote``: whether the sum is over
    weighted entries. ``sign_tie``: what an exact zero elects: plus; nobody, so that the entry is 0; or the majority of
    the scope, which is 0 if that is tied too. ``normalize``: divide by the sum of the weights of the kept entries.
    """

    vote: Vote
    sign_tie: SignTie
    weight_before_vote: bool
    normalize: bool

    def __post_init__(self) -> None:
        """Raises: ConfigError for an unknown vote or sign_tie."""
        checked_choice(self.vote, Vote, what="election: vote", error=ConfigError)
        checked_choice(self.sign_tie, SignTie, what="election: sign_tie", error=ConfigError)

    def tally(self, deltas: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
        """What the vote of every coordinate came to; its sign is the elected one."""
        total = torch.zeros_like(deltas[0])
        for delta, weight in zip(deltas, weights, strict=True):
            ballot = delta * weight if self.weight_before_vote else delta
            total += ballot if self.vote == "mass" else ballot.sign()
        return total

    def agreed(self, deltas: Sequence[Tensor], weights: Sequence[float], *, majority: float = 0.0) -> Tensor:
        """Sum, or weighted mean, of the entries whose sign won; zero entries never vote nor count."""
        elected = self.tally(deltas, weights).sign_()
        if self.sign_tie != "zero":
            elected = torch.where(elected == 0, 1.0 if self.sign_tie == "plus" else majority, elected)
        total, divisor = torch.zeros_like(elected), torch.zeros_like(elected)
        for delta, weight in zip(deltas, weights, strict=True):
            sign = delta.sign()
            if self.weight_before_vote and weight < 0:
                sign = -sign
            kept = ((sign == elected) & (sign != 0)).to(delta.dtype)
            total += delta * kept * weight
            divisor += kept * weight
        if not self.normalize:
            return total
        return total / torch.where(divisor == 0, 1.0, divisor)


def checked_divisors(weights: tuple[float, ...], *, operator: str) -> None:
    """Refuse weights of mixed signs of which some could cancel to a divisor of zero.

    Raises:
        ConfigError: naming the weights; or more than 12 weights of mixed signs, which are not searched.
    """
    given = [weight for weight in weights if weight != 0]
    if not given:
        raise ConfigError(f"{operator}: the weights {weights} add up to 0, so they cannot be normalised.")
    if min(given) > 0 or max(given) < 0:
        return
    if len(given) > _MANY:
        raise ConfigError(
            f"{operator}: {len(given)} weights of both signs with normalize; at most {_MANY} are checked for divisors "
            "of zero. Set normalize to false."
        )
    for size in range(2, len(given) + 1):
        for some in combinations(given, size):
            if abs(sum(some)) < _ZERO:
                raise ConfigError(
                    f"{operator}: the weights {some} cancel, so a coordinate where only these agree has no mean. "
                    "Change them, or set normalize to false."
                )
