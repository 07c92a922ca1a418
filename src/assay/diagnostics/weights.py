"""Geometry of two models in weight space, over a stated set of tensors, as a whole and by group.

Sums are taken in float64 over pieces: float32 norms of tens of millions of values are low by tenths of a percent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from assay.axes import Float, NDArray
from assay.diagnostics.tensor_set import GROUPS, Group, SharedTensor, TensorSet, TensorSource, float64_chunks
from assay.errors import EstimateError

GAIN_WARNING = 0.02
"""A cosine that far from the one over matrices is not about matrices; a note says so."""


@final
@dataclass(frozen=True)
class WeightGeometry:
    """Angles and lengths of donor and recipient as two vectors; NaN comes with a ``reason``.

    ``cosine`` = <d, r> / (|d| |r|); ``l2_relative`` = |d - r| / |r|; ``l2_symmetric`` = |d - r| / sqrt(|d| |r|);
    ``norm_ratio`` = |d| / |r|. Two determine the others: l2_relative^2 = 1 + norm_ratio^2 - 2 norm_ratio cosine.
    """

    cosine: float
    l2_relative: float
    l2_symmetric: float
    norm_ratio: float
    n_tensors: int
    n_params: int
    reason: str = ""


@final
@dataclass(frozen=True)
class WeightComparison:
    """The geometry over all tensors and by group, the set it was taken over, and what to know before quoting it.

    ``mean_tensor_cosine`` is the mean of the cosines of single tensors, each counting the same: another number than
    the cosine. ``donor_zeros`` and ``recipient_zeros`` are shares of exact zeros.
    """

    overall: WeightGeometry
    by_group: Mapping[Group, WeightGeometry]
    mean_tensor_cosine: float
    donor_zeros: float
    recipient_zeros: float
    tensors: TensorSet
    note: str = ""


class _Sums(NamedTuple):
    product: float
    donor: float
    recipient: float
    difference: float
    donor_zeros: int
    recipient_zeros: int


class DeltaChunk(NamedTuple):
    """A piece of both sides of one tensor."""

    donor: Float[NDArray, " value"]
    recipient: Float[NDArray, " value"]


def compare_weights(donor: TensorSource, recipient: TensorSource, *, tensors: TensorSet) -> WeightComparison:
    """Cosine, both relative distances and the ratio of norms; the recipient is the reference.

    A cosine of unrelated matrices is 0 with standard deviation 1 / sqrt(n_params); gains that start at 1 have cosine
    1. Where they move the whole, the note says so: then quote the group ``matrix``.

    Raises:
        EstimateError: a tensor of the set holds NaN or infinity.
    """
    return _comparison(donor, recipient, None, tensors)


def compare_task_vectors(
    donor: TensorSource, recipient: TensorSource, base: TensorSource, *, tensors: TensorSet
) -> WeightComparison:
    """`compare_weights` of the task vectors donor - base and recipient - base; its cosine is the task-vector cosine.

    The base is a common ancestor. For checkpoints of one run it is an earlier checkpoint, never one of the pair: then
    a task vector is zero, the cosine NaN and the reason says so. Checkpoints of a random walk have a cosine above 0
    too; read it next to `random_walk_cosine`.

    Raises:
        EstimateError: the base lacks a tensor of the set, or one holds NaN or infinity.

    Source: Ilharco et al. 2023 (arXiv 2212.04089).
    """
    for tensor in tensors.tensors:
        if tensor.name not in base or tuple(base[tensor.name].shape) != tensor.shape:
            raise EstimateError(
                f"compare_task_vectors: the base holds no {tensor.name} of shape {tensor.shape}. Without a common "
                "ancestor there are no task vectors."
            )
    return _comparison(donor, recipient, base, tensors)


def random_walk_cosine(donor_steps: int, recipient_steps: int) -> float:
    """Expected cosine of the task vectors of two checkpoints of one random walk: sqrt(fewer steps / more steps).

    Raises:
        EstimateError: a step below 1.
    """
    fewer, more = sorted((donor_steps, recipient_steps))
    if fewer < 1:
        raise EstimateError(f"random_walk_cosine: {donor_steps} and {recipient_steps} steps; each is 1 or more.")
    return math.sqrt(fewer / more)


def delta_chunks(
    donor: TensorSource, recipient: TensorSource, base: TensorSource | None, tensor: SharedTensor
) -> Iterator[DeltaChunk]:
    """Both sides of one tensor in float64 pieces, minus the base if there is one.

    Raises:
        EstimateError: NaN or infinity, with the tensor and the side.
    """
    origin = None if base is None else float64_chunks(base[tensor.name])
    for one, other in zip(float64_chunks(donor[tensor.name]), float64_chunks(recipient[tensor.name]), strict=True):
        if origin is not None:
            ancestor = next(origin)
            one, other = one - ancestor, other - ancestor
        for side, values in (("donor", one), ("recipient", other)):
            if not np.isfinite(values).all():
                raise EstimateError(f"weights: {tensor.name} of the {side} (or its base) holds NaN or infinity.")
        yield DeltaChunk(one, other)


def _comparison(
    donor: TensorSource, recipient: TensorSource, base: TensorSource | None, tensors: TensorSet
) -> WeightComparison:
    sums = {t: _sums(delta_chunks(donor, recipient, base, t)) for t in tensors.tensors}
    groups = {group: [t for t in tensors.tensors if t.group == group] for group in GROUPS}
    by_group = {group: _geometry(members, sums) for group, members in groups.items() if members}
    overall = _geometry(list(tensors.tensors), sums)
    single = [_geometry([tensor], sums).cosine for tensor in tensors.tensors]
    zeros = [sum(getattr(one, side) for one in sums.values()) for side in ("donor_zeros", "recipient_zeros")]
    n = tensors.n_params
    note = "" if base is not None else _gain_note(overall, by_group)
    return WeightComparison(overall, by_group, float(np.mean(single)), zeros[0] / n, zeros[1] / n, tensors, note)


def _sums(chunks: Iterator[DeltaChunk]) -> _Sums:
    rows = [
        (one @ other, one @ one, other @ other, (one - other) @ (one - other), (one == 0).sum(), (other == 0).sum())
        for one, other in chunks
    ]
    totals = [math.fsum(column) for column in zip(*rows, strict=True)] if rows else [0.0] * 6
    return _Sums(totals[0], totals[1], totals[2], totals[3], int(totals[4]), int(totals[5]))


def _geometry(members: list[SharedTensor], sums: Mapping[SharedTensor, _Sums]) -> WeightGeometry:
    product, donor, recipient, difference = (
        math.fsum(getattr(sums[tensor], name) for tensor in members)
        for name in ("product", "donor", "recipient", "difference")
    )
    n_tensors, n_params = len(members), sum(tensor.n_params for tensor in members)
    zero = [side for side, square in (("donor", donor), ("recipient", recipient)) if not square > 0]
    if zero:
        reason = f"the {' and the '.join(zero)} is zero over {n_params} values"
        return WeightGeometry(math.nan, math.nan, math.nan, math.nan, n_tensors, n_params, reason)
    one, other, apart = math.sqrt(donor), math.sqrt(recipient), math.sqrt(difference)
    cosine = min(1.0, max(-1.0, product / (one * other)))
    return WeightGeometry(cosine, apart / other, apart / math.sqrt(one * other), one / other, n_tensors, n_params)


def _gain_note(overall: WeightGeometry, by_group: Mapping[Group, WeightGeometry]) -> str:
    if "matrix" not in by_group or not abs(overall.cosine - by_group["matrix"].cosine) > GAIN_WARNING:
        return ""
    return (
        f"the cosine {overall.cosine:.3f} is not that of the matrices, {by_group['matrix'].cosine:.3f}: gains, biases "
        "or embeddings move it"
    )
