"""Every kind of model that can be hooked, tiny, with lines to run and the sites it has: what the laws range over."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import torch
from torch import Tensor

from assay.models.hooks import capture
from assay.models.sites import STREAM_POINTS, HookPoint, Position, Site, at_every_layer
from assay.models.targets import Model
from assay.models.tiny import TINY_FAMILIES, TinyRandom, _model
from assay.models.toy import ToyConfig, toy

LAYERS, WIDTH = 2, 32
IDS = torch.tensor([[2, 5, 6, 7, 8, 9], [2, 5, 1, 7, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])


class Hooked(NamedTuple):
    """One model; ``points`` are its hook points but the heads, ``n_heads`` its heads in a layer."""

    model: Model
    points: tuple[HookPoint, ...]
    n_heads: int


def _toy() -> Model:
    model = toy(ToyConfig(width=WIDTH, n_layers=LAYERS, n_heads=2), seed=0).requires_grad_(requires_grad=False)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(weight.numel())))
    return model


def _transformers(family: str) -> Model:
    return _model(TinyRandom(family, seed=1, width=WIDTH, n_layers=LAYERS)).eval().requires_grad_(requires_grad=False)


KINDS: dict[str, Callable[[], Model]] = {
    "toy": _toy,
    **{family: partial(_transformers, family) for family in TINY_FAMILIES},
}


@cache
def hooked(kind: str) -> Hooked:
    """The model of a kind, made once; laws leave it as it was."""
    points = tuple(point for point in STREAM_POINTS if kind != "gpt_neox" or point is not HookPoint.RESID_MID)
    return Hooked(KINDS[kind](), points, 2)


def sites(kind: str) -> list[Site]:
    """Every site of a kind but those of heads, all positions."""
    return [site for point in hooked(kind).points for site in at_every_layer(point, n_layers=LAYERS)]


def head_site(layer: int, head: int, position: Position = "all") -> Site:
    """The site of one head."""
    return Site(HookPoint.HEAD_OUT, layer, position, head)


def head_sites(kind: str) -> list[Site]:
    """Every head of a kind."""
    return [head_site(layer, head) for layer in range(LAYERS) for head in range(hooked(kind).n_heads)]


def plain(kind: str) -> Tensor:
    """Logits of the plain pass."""
    return capture(hooked(kind).model, [], IDS, MASK).logits


def hook_count(kind: str) -> int:
    """Hooks that stand on the model's modules."""
    modules = hooked(kind).model.modules()  # type: ignore[union-attr]
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in modules)
