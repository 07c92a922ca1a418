"""What whole-model scope must know before the first tensor is merged, counted in passes over all tensors.

A threshold over the model is found without holding it: magnitudes are counted by the upper half of their bits, then by
the lower half within the bin that holds the threshold. Of entries equal to it those of the first names are kept.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from assay.errors import ConfigError
from assay.merge.deltas import l1, parts, rescale_factor
from assay.merge.operator import AbstractMergeOperator, Facts, TensorGroup
from assay.merge.sparse import delta_of, votes
from assay.merge.tensors import promoted
from assay.merge.ties import Ties
from assay.merge.trim import kept_count

__all__ = ["surveyed"]

Open = Callable[[str], TensorGroup]
_HALF = 1 << 16


def surveyed(operator: AbstractMergeOperator, names: Sequence[str], open_group: Open) -> dict[str, Facts]:
    """Facts of every tensor for an operator of whole-model scope; nothing for any other. ``open_group`` reads one.

    Raises:
        ConfigError: densities or weights that are not the same for all tensors.
        As `assay.merge.tensors.merge_tensor` for numbers that the operator refuses.
    """
    if not (isinstance(operator, Ties) and operator.scope == "model") or not names:
        return {}
    first = open_group(names[0])
    numbers = operator.coefficients(len(first.tensors), first.per_input)

    def groups() -> Iterator[TensorGroup]:
        for name in names:
            group = promoted(open_group(name))
            if operator.coefficients(len(group.tensors), group.per_input) != numbers:
                raise ConfigError(
                    f"{operator.name}: scope model needs one weight and density for the whole model; tensor {name!r} "
                    "has others. Leave out gradients and filters, or use scope tensor."
                )
            yield dataclasses.replace(group, per_input=numbers)

    counts, before, after = _trims(operator, groups, numbers["density"])
    factors = tuple(
        rescale_factor(operator.rescale, density=density, before=one, after=other)
        for density, one, other in zip(numbers["density"], before, after, strict=True)
    )
    facts = {name: Facts(counts[name], factors, 0.0) for name in names}
    if operator.sign_tie != "global":
        return facts
    balance = 0.0
    for group in groups():
        known = dataclasses.replace(group, facts=facts[group.name])
        balance += votes(known, operator.vectors(known), operator.election)
    majority = float((balance > 0) - (balance < 0))
    return {name: one._replace(majority=majority) for name, one in facts.items()}


def _trims(
    operator: Ties, groups: Callable[[], Iterator[TensorGroup]], densities: tuple[float, ...]
) -> tuple[dict[str, tuple[int, ...]], list[float], list[float]]:
    """Entries to keep of every tensor and input, and L1 norms of the inputs' task vectors before and after.

    The norms of an input that keeps all or nothing are not counted: its factor is 1.
    """
    n = range(len(densities))
    numel = sum(group.ancestor.numel() for group in groups())
    keep = [kept_count(density, numel) for density in densities]
    thresholds = [math.nan if keep[i] in (0, numel) else _threshold(groups, i, keep[i]) for i in n]
    above: dict[str, list[int]] = {}
    equal: dict[str, list[int]] = {}
    before, after = [0.0 for _ in n], [0.0 for _ in n]
    for group in groups():
        sizes = group.ancestor.numel()
        above[group.name] = [sizes if keep[i] == numel else 0 for i in n]
        equal[group.name] = [0 for _ in n]
        for i in n:
            for part in parts(sizes) if not math.isnan(thresholds[i]) else ():
                magnitudes = delta_of(group, i)(part).abs()
                before[i] += l1(magnitudes)
                over = magnitudes > thresholds[i]
                above[group.name][i] += int(over.sum())
                equal[group.name][i] += int((magnitudes == thresholds[i]).sum())
                after[i] += l1(magnitudes * over)
    for i in n:
        room = keep[i] - sum(counts[i] for counts in above.values())
        after[i] += room * thresholds[i] if room else 0.0
        for name in above:
            taken = min(room, equal[name][i])
            above[name][i] += taken
            room -= taken
    return {name: tuple(counts) for name, counts in above.items()}, before, after


def _threshold(groups: Callable[[], Iterator[TensorGroup]], place: int, keep: int) -> float:
    """The ``keep``-th largest magnitude of one input's task vector over all tensors, as a float32 or float64."""
    digits: list[int] = []
    width = 0
    while not width or len(digits) < width:
        counts = torch.zeros(_HALF, dtype=torch.int64)
        for group in groups():
            for part in parts(group.ancestor.numel()):
                bits, width = _bits(delta_of(group, place)(part).abs())
                for level, digit in enumerate(digits):
                    bits = bits[_digit(bits, width, level) == digit]
                counts += torch.bincount(_digit(bits, width, len(digits)), minlength=_HALF)
        reached = counts.flip(0).cumsum(0)
        first = int(torch.searchsorted(reached, keep))
        keep -= int(reached[first - 1]) if first else 0
        digits.append(_HALF - 1 - first)
    value = 0
    for digit in digits:
        value = value * _HALF + digit
    kind = (torch.int32, torch.float32) if width == 2 else (torch.int64, torch.float64)
    return float(torch.tensor([value], dtype=kind[0]).view(kind[1]).item())


def _bits(magnitudes: Tensor) -> tuple[Tensor, int]:
    """The bits of non-negative floats as integers of the same order, and how many halves of 16 bits they have."""
    if magnitudes.dtype is torch.float64:
        return magnitudes.view(torch.int64), 4
    return magnitudes.view(torch.int32).to(torch.int64), 2


def _digit(bits: Tensor, width: int, level: int) -> Tensor:
    return (bits >> (16 * (width - 1 - level))) & (_HALF - 1)
