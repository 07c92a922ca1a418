"""Do two task vectors push the same coordinates the same way? Two forms, each with its value for Gaussian vectors.

The two are not comparable: unrelated vectors agree in half of their shared coordinates, while the elected form counts
every coordinate that one vector holds alone as agreement and starts above one half.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, final

import numpy as np

from assay.axes import Bool, Float, NDArray
from assay.choices import checked_choice
from assay.diagnostics.tensor_set import SharedTensor, TensorSet, TensorSource
from assay.diagnostics.weights import DeltaChunk, compare_task_vectors, delta_chunks
from assay.errors import EstimateError

DENSITY = 0.2
Scope = Literal["tensor", "model"]


@final
@dataclass(frozen=True)
class SignAgreement:
    """Shares of agreeing signs among the largest values of both task vectors.

    ``agreement``: of the coordinates kept in both, the share with equal signs (NaN with a reason if there is none).
    ``elected``: of all values kept, the share with the sign of the sum of both, as TIES elects it.
    ``overlap``: coordinates kept in both over those of the side that keeps fewer; the density for unrelated vectors.
    ``expected`` and ``expected_elected``: both shares for jointly Gaussian vectors with the same ``cosine``.
    """

    agreement: float
    elected: float
    overlap: float
    cosine: float
    expected: float
    expected_elected: float
    density: float
    scope: Scope
    n_kept_donor: int
    n_kept_recipient: int
    n_params: int
    reason: str = ""


def sign_agreement(
    donor: TensorSource,
    recipient: TensorSource,
    base: TensorSource,
    *,
    tensors: TensorSet,
    density: float = DENSITY,
    scope: Scope = "tensor",
) -> SignAgreement:
    """Signs of donor - base and recipient - base after keeping the int(density n) largest magnitudes of each.

    ``scope`` says of what: n counts one tensor (at least one value is kept in each), or all tensors together. Exactly
    so many are kept: among equal magnitudes those that come first. Zeros never count as kept. Density 1 trims nothing.
    The whole is read in pieces, ten times if it is trimmed, twice if not; memory stays near one tensor of each model.

    Raises:
        EstimateError: a density outside (0, 1], another scope, a base that lacks tensors, NaN or infinity.

    Source: Yadav et al. 2023 (arXiv 2306.01708).
    """
    checked_choice(scope, Scope, what="sign_agreement: scope")
    if not 0 < density <= 1:
        raise EstimateError(f"sign_agreement: density {density}; it lies in (0, 1].")
    cosine = compare_task_vectors(donor, recipient, base, tensors=tensors).overall.cosine
    counts = _count(donor, recipient, base, tensors, density, scope)
    kept = (counts.donor, counts.recipient)
    reasons = [f"the {side} task vector is zero" for side, n in zip(("donor", "recipient"), kept, strict=True) if not n]
    if not reasons and not counts.both:
        reasons = ["no coordinate is kept in both task vectors"]
    known = not math.isnan(cosine)
    return SignAgreement(
        agreement=1 - counts.opposite / counts.both if counts.both else math.nan,
        elected=1 - counts.opposite / sum(kept) if all(kept) else math.nan,
        overlap=counts.both / min(kept) if all(kept) else math.nan,
        cosine=cosine,
        expected=gaussian_agreement(cosine, density=density) if known else math.nan,
        expected_elected=gaussian_elected_agreement(cosine, density=density) if known else math.nan,
        density=density,
        scope=scope,
        n_kept_donor=kept[0],
        n_kept_recipient=kept[1],
        n_params=tensors.n_params,
        reason="; ".join(reasons),
    )


def gaussian_agreement(cosine: float, *, density: float = 1.0) -> float:
    """Share of equal signs among coordinates where both of two Gaussian vectors are among their largest.

    Without trimming 1/2 + asin(cosine) / pi. With it P(X > c, Y > c) / (P(X > c, Y > c) + P(X > c, Y < -c)), c the
    magnitude that a share ``density`` exceeds.

    Raises:
        EstimateError: a cosine outside [-1, 1] or a density outside (0, 1].
    """
    same, opposite = _quadrants(cosine, density)
    return same / (same + opposite)


def gaussian_elected_agreement(cosine: float, *, density: float = 1.0) -> float:
    """Share of kept values that agree with the elected sign, for two Gaussian vectors.

    1 - P(kept in both with opposite signs) / (2 density): of such a pair one value agrees, all other values do.

    Raises as `gaussian_agreement`.
    """
    return 1 - _quadrants(cosine, density)[1] / (2 * density)


class _Counts(NamedTuple):
    donor: int
    recipient: int
    both: int
    opposite: int


def _count(
    donor: TensorSource, recipient: TensorSource, base: TensorSource, tensors: TensorSet, density: float, scope: Scope
) -> _Counts:
    parts = [(tensor,) for tensor in tensors.tensors] if scope == "tensor" else [tensors.tensors]
    totals = np.zeros(4, dtype=np.int64)
    for part in parts:
        totals += _count_part(partial(_deltas, donor, recipient, base, part), part, density)
    return _Counts(*(int(total) for total in totals))


def _deltas(
    donor: TensorSource, recipient: TensorSource, base: TensorSource, part: tuple[SharedTensor, ...]
) -> Iterator[DeltaChunk]:
    return (chunk for tensor in part for chunk in delta_chunks(donor, recipient, base, tensor))


def _count_part(
    pieces: Callable[[], Iterator[DeltaChunk]], part: tuple[SharedTensor, ...], density: float
) -> list[int]:
    n = sum(tensor.n_params for tensor in part)
    keep = max(1, int(density * n))
    if density < 1:
        one = _Trim.largest(keep, lambda: (chunk.donor for chunk in pieces()))
        other = _Trim.largest(keep, lambda: (chunk.recipient for chunk in pieces()))
    else:
        one, other = _Trim(0.0, n), _Trim(0.0, n)
    counts = [0, 0, 0, 0]
    for donor, recipient in pieces():
        kept, held = one.keep(donor), other.keep(recipient)
        both = kept & held
        opposite = both & (np.signbit(donor) != np.signbit(recipient))
        for place, mask in enumerate((kept, held, both, opposite)):
            counts[place] += int(np.count_nonzero(mask))
    return counts


class _Trim:
    """Which values are kept: those above a magnitude, and the first so many that equal it; fed in order, once."""

    def __init__(self, magnitude: float, n_equal: int) -> None:
        self._magnitude, self._left = magnitude, n_equal

    @classmethod
    def largest(cls, keep: int, pieces: Callable[[], Iterator[Float[NDArray, " value"]]]) -> _Trim:
        """Keeps exactly ``keep`` values.

        The magnitude is found digit by digit: float64 magnitudes are ordered as their bits, read in four passes of 16.
        """
        prefix, left = 0, keep
        for shift in (48, 32, 16, 0):
            histogram = np.zeros(2**16, dtype=np.int64)
            for values in pieces():
                bits = np.abs(values).view(np.uint64)
                if shift < 48:
                    bits = bits[(bits >> np.uint64(shift + 16)) == np.uint64(prefix)]
                digits = ((bits >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.int64)
                histogram += np.bincount(digits, minlength=2**16)
            from_top = np.cumsum(histogram[::-1])
            place = int(np.searchsorted(from_top, left))
            left -= int(from_top[place - 1]) if place else 0
            prefix = (prefix << 16) | (2**16 - 1 - place)
        return cls(float(np.array(prefix, dtype=np.uint64).view(np.float64)), left)

    def keep(self, values: Float[NDArray, " value"]) -> Bool[NDArray, " value"]:
        size = np.abs(values)
        equal = size == self._magnitude
        first = equal & (np.cumsum(equal) <= self._left)
        self._left -= int(np.count_nonzero(first))
        return np.asarray(((size > self._magnitude) | first) & (values != 0))


def _quadrants(cosine: float, density: float) -> tuple[float, float]:
    """Probabilities that both are kept with equal and with opposite signs."""
    from scipy.integrate import quad
    from scipy.special import ndtr, ndtri

    if not -1 <= cosine <= 1 or not 0 < density <= 1:
        raise EstimateError(f"gaussian_agreement: cosine {cosine}, density {density}; within [-1, 1] and (0, 1].")
    if density == 1:
        same = 0.5 + math.asin(cosine) / math.pi
        return same, 1 - same
    cut, rest = -float(ndtri(density / 2)), math.sqrt(1 - cosine**2)
    if rest < 1e-9:
        return (density, 0.0) if cosine > 0 else (0.0, density)

    def tail(slope: float) -> float:
        def density_at(x: float) -> float:
            return math.exp(-x * x / 2) * float(ndtr((slope * x - cut) / rest))

        return 2 * float(quad(density_at, cut, math.inf, epsabs=1e-13)[0]) / math.sqrt(2 * math.pi)

    return tail(cosine), tail(-cosine)
