"""Model breadcrumbs: leave out the very largest and the smallest entries of each task vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from torch import Tensor

from assay.merge.deltas import Rescale, density_in_range
from assay.merge.masked import AbstractMaskedElection, AbstractMaskedSum, Mask
from assay.merge.operator import Promise, TensorGroup
from assay.merge.sparse import Kept, delta_of
from assay.merge.trim import largest

__all__ = ["Breadcrumbs", "BreadcrumbsTies"]


def _check(per_input: Mapping[str, tuple[float, ...]], operator: str) -> None:
    for name in ("density", "gamma"):
        density_in_range(per_input[name], operator=operator, name=name)


def _kept(group: TensorGroup, place: int) -> Kept | None:
    density, gamma = (group.per_input[name][place] for name in ("density", "gamma"))
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


_MASK = Mask({"weight": None, "density": 1.0, "gamma": 0.01}, _check, _kept)


@final
@dataclass(frozen=True)
class Breadcrumbs(AbstractMaskedSum):
    """theta_0 + lambda sum_i w_i d_i with trimmed d_i: the int(gamma n) largest entries are left out, the next
    int(density n) are kept. Where fewer than that would be left, fewer outliers go. Density 1 keeps all, outliers too.

    Source: Davari and Belilovsky 2023 (arXiv 2312.06795).
    """

    name = "breadcrumbs"
    source = "arXiv 2312.06795"
    mask, per_input = _MASK, _MASK.per_input
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})

    rescale: Rescale = "none"


@final
@dataclass(frozen=True)
class BreadcrumbsTies(AbstractMaskedElection):
    """The trim of `Breadcrumbs`, then the election of TIES.

    Source: Davari and Belilovsky 2023 (arXiv 2312.06795) with Yadav et al. 2023 (arXiv 2306.01708).
    """

    name = "breadcrumbs_ties"
    source = "arXiv 2312.06795"
    mask, per_input = _MASK, _MASK.per_input
    promises = frozenset({Promise.PERMUTATION, Promise.ORDER, Promise.ENDPOINTS})

    rescale: Rescale = "none"
