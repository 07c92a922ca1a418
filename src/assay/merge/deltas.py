"""Task vectors of one tensor, their rescaling after a mask, and walking large tensors block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import torch
from torch import Tensor

from assay.errors import ConfigError

__all__ = ["Rescale", "blockwise", "checked_divisor", "density_in_range", "l1", "parts", "rescale_factor"]

Rescale = Literal["none", "l1", "inverse_density"]
_BLOCK = 1 << 18
_ZERO = 1e-8


def blockwise(like: Tensor, block: Callable[[slice], Tensor]) -> Tensor:
    """A tensor like ``like`` with flat entries from ``block``, called with slices that fit a processor's cache."""
    out = torch.empty(like.numel(), dtype=like.dtype)
    for part in parts(out.numel()):
        out[part] = block(part)
    return out.view(like.shape)


def parts(numel: int) -> Iterator[slice]:
    """Slices of a flat tensor that fit a processor's cache, in order."""
    return (slice(start, min(start + _BLOCK, numel)) for start in range(0, numel, _BLOCK))


def l1(tensor: Tensor) -> float:
    """Sum of absolute values, added up in float64."""
    return float(torch.linalg.vector_norm(tensor, ord=1, dtype=torch.float64))


def rescale_factor(rescale: Rescale, *, density: float, before: float, after: float) -> float:
    """What the kept entries of a task vector are multiplied by: 1, the realised L1 ratio, or 1 / density.

    Where nothing was kept there is nothing to scale and the factor is 1.
    """
    if rescale == "none" or after == 0 or density == 0:
        return 1.0
    return before / after if rescale == "l1" else 1 / density


def checked_divisor(weights: tuple[float, ...], *, operator: str) -> None:
    """Refuse weights whose sum cannot be divided by.

    Raises:
        ConfigError: the sum is zero within 1e-8, so that there is no mean.
    """
    total = sum(weights)
    if abs(total) < _ZERO:
        raise ConfigError(
            f"{operator}: the weights {weights} add up to {total:.3g}, so they cannot be normalised. "
            "Change them, or set normalize to false."
        )


def density_in_range(values: tuple[float, ...], *, operator: str, name: str = "density") -> None:
    """Refuse shares outside [0, 1].

    Raises:
        ConfigError: naming the value.
    """
    for value in values:
        if not 0 <= value <= 1:
            raise ConfigError(f"{operator}: {name} {value}; it is a share of the entries, between 0 and 1.")
