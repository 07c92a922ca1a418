"""Family: where the models of one architecture keep their parts, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, final

from assay.models.sites import HookPoint

__all__ = ["Family", "Place", "Projection"]


class Place(NamedTuple):
    """Where a hook point is read: a module's path inside the block ("" is the block itself) and which side of it."""

    module: str
    side: Literal["input", "output"]


class Projection(NamedTuple):
    """Where a weight matrix lives: a module's path inside the block and, if it is packed, its place in the pack.

    ``part`` = (i, n): within every head, rows ``i * head_dim`` to ``(i + 1) * head_dim`` of ``n * head_dim``
    (GPT-NeoX packs the rows of q, k and v head by head). None: the matrix fills the module.
    """

    module: str
    part: tuple[int, int] | None = None


@final
@dataclass(frozen=True)
class Family:
    """One architecture. Paths are attribute paths: ``blocks``, ``embedding``, ``final_norm``, ``head`` from the causal
    language model, ``decoder`` likewise (the part that maps token ids to final hidden states), the others from a block.

    ``parallel_field`` names the boolean of the configuration that makes attention and MLP read the same residual
    stream; then ``resid_mid`` does not exist. ``softcap_field`` names the number c of the configuration, if any, that
    bounds the logits: c tanh(logit / c).
    """

    name: str
    model_types: tuple[str, ...]
    decoder: str
    blocks: str
    embedding: str
    final_norm: str
    head: str
    attention: str
    mlp: str
    places: Mapping[HookPoint, Place]
    projections: Mapping[str, Projection]
    parallel_field: str | None = None
    softcap_field: str | None = None
