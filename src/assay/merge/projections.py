"""The carried projections of a transformer block, read and written through its family."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from assay.errors import ModelError, ShapeError
from assay.merge.transported import WEIGHT_INTERFACES, BlockWeights, Linear

if TYPE_CHECKING:
    from assay.models.families.family import Family

__all__ = ["read_block", "write_block"]


def read_block(block: torch.nn.Module, family: Family) -> BlockWeights:
    """o, up, down and, if the family has one, gate: copies of the weights and biases of one block.

    Raises:
        ModelError: a projection that is a part of a packed matrix.
    """
    found = {name: _module(block, family, name) for name in WEIGHT_INTERFACES if name in family.projections}
    return {
        name: Linear(module.weight.detach().clone(), None if module.bias is None else module.bias.detach().clone())
        for name, module in found.items()
    }


def write_block(block: torch.nn.Module, family: Family, *, weights: BlockWeights) -> None:
    """Copy ``weights`` into the block, in its own types; all other tensors keep their bits.

    Raises:
        ShapeError: a weight of another shape or type, or a bias where the block has none.
        ModelError: a projection that the family does not have, or that is a part of a packed matrix.
    """
    pairs = []
    for name, linear in weights.items():
        module = _module(block, family, name)
        for part, new, old in (("weight", linear.weight, module.weight), ("bias", linear.bias, module.bias)):
            if (new is None) != (old is None) or (new is not None and (new.shape, new.dtype) != (old.shape, old.dtype)):
                raise ShapeError(f"write_block: {name}.{part} is {_said(new)}, the block has {_said(old)}.")
            if new is not None:
                pairs.append((old, new))
    with torch.no_grad():
        for old, new in pairs:
            old.copy_(new)


def _module(block: torch.nn.Module, family: Family, name: str) -> torch.nn.Linear:
    place = family.projections.get(name)
    if place is None or place.part is not None:
        raise ModelError(f"projections: {family.name} has no matrix {name!r} of its own; it cannot be carried alone.")
    module = block.get_submodule(place.module)
    if not isinstance(module, torch.nn.Linear):
        raise ModelError(f"projections: {place.module} of {family.name} is a {type(module).__name__}, not a Linear.")
    return module


def _said(tensor: torch.Tensor | None) -> str:
    return "absent" if tensor is None else f"{tuple(tensor.shape)} of {tensor.dtype}"
