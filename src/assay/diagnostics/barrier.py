"""Barriers on a straight path between two models, in the unit of the losses (nats a token), and gain over the ends.

t = 0 is the recipient, t = 1 the donor. Four forms are in use under one name; they differ in sign and in what a gap
between the ends does to them, so a height carries its kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import numpy as np

from assay.axes import Float, NDArray
from assay.choices import checked_choice
from assay.errors import EstimateError

Kind = Literal["mean", "chord", "chord_interior", "midpoint"]
SAME_END = 1e-6


@final
@dataclass(frozen=True)
class LossPath:
    """Losses at rising places ``t`` from 0 to 1, both ends included.

    Raises:
        EstimateError: lengths that differ, a grid without 0 or 1 or an interior point, or that does not rise, losses
            that are not finite.
    """

    t: tuple[float, ...]
    losses: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", tuple(float(place) for place in self.t))
        object.__setattr__(self, "losses", tuple(float(loss) for loss in self.losses))
        if len(self.t) != len(self.losses):
            raise EstimateError(f"LossPath: {len(self.t)} places, {len(self.losses)} losses.")
        rising = all(one < other for one, other in zip(self.t, self.t[1:], strict=False))
        if len(self.t) < 3 or self.t[0] != 0 or self.t[-1] != 1 or not rising:
            raise EstimateError(
                f"LossPath: places {self.t}; they rise from 0 to 1, both included, with at least one in between."
            )
        for place, loss in zip(self.t, self.losses, strict=True):
            if not math.isfinite(loss):
                raise EstimateError(f"LossPath: the loss at t = {place} is {loss}.")

    @property
    def better_end(self) -> float:
        """The smaller of the losses of recipient and donor."""
        return min(self.losses[0], self.losses[-1])


@final
@dataclass(frozen=True)
class Barrier:
    """A height in the unit of the losses, the place where it is reached (the first of equals), and its kind."""

    height: float
    t: float
    kind: Kind


def barrier(path: LossPath, *, kind: Kind) -> Barrier:
    """The barrier of one kind:

    - ``mean``: max_t L(t) - (L(0) + L(1)) / 2, ends included. At least |L(0) - L(1)| / 2, so a gap between the ends
      looks like a barrier (Frankle et al. 2020, arXiv 1912.05671);
    - ``chord``: max_t [L(t) - (1 - t) L(0) - t L(1)], ends included, so never negative (Entezari et al. 2022,
      arXiv 2110.06296);
    - ``chord_interior``: the same without the ends; negative if the path lies below its chord;
    - ``midpoint``: L(1/2) - (L(0) + L(1)) / 2; may be negative, and is not positive for a convex path.

    Raises:
        EstimateError: ``midpoint`` on a grid without t = 0.5, another kind.
    """
    checked_choice(kind, Kind, what="barrier: kind")
    t, losses = np.array(path.t), np.array(path.losses)
    chord = losses - ((1 - t) * losses[0] + t * losses[-1])
    chord[[0, -1]] = 0.0
    middle = (losses[0] + losses[-1]) / 2
    if kind == "mean":
        return _highest(t, losses - middle, kind)
    if kind == "chord":
        return _highest(t, chord, kind)
    if kind == "chord_interior":
        return _highest(t[1:-1], chord[1:-1], kind)
    at = np.flatnonzero(t == 0.5)
    if not len(at):
        raise EstimateError(f"barrier: no loss at t = 0.5 among {path.t}; the midpoint barrier needs one.")
    return _highest(t[at], losses[at] - middle, kind)


def barriers(path: LossPath) -> Mapping[Kind, Barrier]:
    """All four kinds. Store them all and name the one you use.

    Raises:
        EstimateError: a grid without t = 0.5.
    """
    kinds: tuple[Kind, ...] = ("mean", "chord", "chord_interior", "midpoint")
    return {kind: barrier(path, kind=kind) for kind in kinds}


def gain(path: LossPath) -> float:
    """min(L(0), L(1)) - min over 0 < t < 1 of L(t); positive if the best merge beats the better end.

    With t chosen on the losses that are reported the gain is too high; report `held_out_gain`.
    """
    return path.better_end - min(path.losses[1:-1])


class HeldOutGain(NamedTuple):
    """Gain on held-out items of the merge chosen on other items; ``tried`` is how many it was chosen from."""

    value: float
    operator: str
    t: float
    tried: int


def held_out_gain(choose: Mapping[str, LossPath], report: Mapping[str, LossPath]) -> HeldOutGain:
    """Operator and interior t with the least loss on ``choose``; its gain over the better end on ``report``.

    Both hold one path an operator, over the same grids, the losses from two disjoint sets of items. The better end is
    the one of ``report``. Among equal losses the first operator and the smallest t win.

    Raises:
        EstimateError: no operators, other operators or grids on the two sides, or operators that disagree about the
            losses of the ends by more than 1e-6 of them.
    """
    if not choose or choose.keys() != report.keys() or any(choose[name].t != report[name].t for name in choose):
        raise EstimateError(
            f"held_out_gain: chosen from {sorted(choose)}, reported for {sorted(report)}; give the same operators, at "
            "least one, on the same grids."
        )
    for side in (choose, report):
        _same_ends(side)
    tried = [(path.losses[i], name, i) for name, path in choose.items() for i in range(1, len(path.t) - 1)]
    _, name, place = min(tried, key=lambda entry: entry[0])
    path = report[name]
    return HeldOutGain(path.better_end - path.losses[place], name, path.t[place], len(tried))


def _highest(t: Float[NDArray, " place"], heights: Float[NDArray, " place"], kind: Kind) -> Barrier:
    place = int(np.argmax(heights))
    return Barrier(float(heights[place]), float(t[place]), kind)


def _same_ends(paths: Mapping[str, LossPath]) -> None:
    (first, one), *others = paths.items()
    for name, other in others:
        for end in (0, -1):
            if not math.isclose(one.losses[end], other.losses[end], rel_tol=SAME_END, abs_tol=0.0):
                raise EstimateError(
                    f"held_out_gain: the ends of {first} and {name} have losses {one.losses[end]} and "
                    f"{other.losses[end]}. All operators start and end at the same models."
                )
