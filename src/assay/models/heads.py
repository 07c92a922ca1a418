"""HeadSite: one attention head at one layer and position, and how its rows are read.

A head's row is the tensor that the model holds for it. Models of transformers hold z_h, the weighted values before the
output projection, as wide as a head ("batch token head_dim"); a toy decoder holds z_h W_O,h, the head's contribution to
the residual stream ("batch token d").
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

import torch
from torch import Tensor, nn

from assay.axes import Int
from assay.errors import ConfigError, ModelError, ShapeError
from assay.models.families import Place
from assay.models.hooks import _bare, _family, _token_index, blocks_of
from assay.models.pretrained import PretrainedModel
from assay.models.sites import HookPoint, Position, Site
from assay.models.toy import Toy, as_hookable

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    Model = PretrainedModel | PreTrainedModel | Toy
else:
    Model = Any

__all__ = [
    "HeadPlace",
    "HeadSite",
    "Model",
    "capture_heads",
    "head_place",
    "heads_of",
    "hookable",
    "real_mask",
    "row_index",
]


@final
@dataclass(frozen=True, order=True)
class HeadSite:
    """One place: the layer and the query head (both from 0), and the position as in ``Site``.

    Raises:
        ConfigError: a negative layer or head, or another position.
    """

    layer: int
    head: int
    position: Position = "all"

    def __post_init__(self) -> None:
        Site(HookPoint.ATTN_OUT, self.layer, self.position)
        if not isinstance(self.head, int) or isinstance(self.head, bool) or self.head < 0:
            raise ConfigError(f"HeadSite: head {self.head!r} is not a head number; heads count from 0.")

    def __str__(self) -> str:
        where = "" if self.position == "all" else f"[{self.position}]"
        return f"head_out.{self.layer}.{self.head}{where}"


class HeadPlace(NamedTuple):
    """The module that holds the rows of all heads of a layer, which side of it, and how many heads there are."""

    module: nn.Module
    side: str
    n_heads: int


def hookable(model: Model) -> PretrainedModel | PreTrainedModel:
    """``model`` as ``assay.models.hooks`` types it; the same object."""
    return as_hookable(model) if isinstance(model, Toy) else model


def head_place(model: Model, site: HeadSite) -> HeadPlace:
    """Where the heads of the site's layer are held.

    Raises:
        ModelError: an unknown family, or a layer or head that the model does not have.
    """
    bare = _bare(hookable(model))
    family, blocks = _family(bare), blocks_of(hookable(model))
    n_heads = int(bare.config.num_attention_heads)
    if site.layer >= len(blocks) or site.head >= n_heads:
        raise ModelError(
            f"hooks: {site} asked, but {type(bare).__name__} has layers 0 to {len(blocks) - 1} "
            f"and heads 0 to {n_heads - 1}."
        )
    place = Place("head_out", "output") if isinstance(bare, Toy) else Place(family.projections["o"].module, "input")
    return HeadPlace(blocks[site.layer].get_submodule(place.module), place.side, n_heads)


def heads_of(value: object, place: HeadPlace, site: HeadSite) -> Tensor:
    """``value`` as "batch token head width", a view of the model's own tensor.

    Raises:
        ModelError: a tensor of another shape than this family's.
    """
    if isinstance(value, Tensor) and value.ndim == 4 and value.shape[2] == place.n_heads:
        return value
    if isinstance(value, Tensor) and value.ndim == 3 and value.shape[2] % place.n_heads == 0:
        return value.view(*value.shape[:2], place.n_heads, -1)
    got = f"a tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
    raise ModelError(f"hooks: at {site} the rows of {place.n_heads} heads were expected, {got} came.")


def capture_heads(
    model: Model,
    sites: Sequence[HeadSite],
    input_ids: Int[Tensor, "batch token"],
    attention_mask: Int[Tensor, "batch token"] | None = None,
) -> dict[HeadSite, Tensor]:
    """Copies of the rows of heads in one forward pass without gradients: "batch token width" or "batch width".

    Raises:
        ModelError: a layer or head that the model does not have, or a site asked twice.
        ShapeError: ids and mask of unlike shapes, or a position that a line is too short for.
    """
    if len(set(sites)) != len(sites):
        raise ModelError("capture_heads: a site is asked twice. Name every site once.")
    mask = real_mask(input_ids, attention_mask)
    found: dict[HeadSite, Tensor] = {}
    with ExitStack() as handles, torch.no_grad():
        for site in sites:
            place, rows = head_place(model, site), row_index(site, mask)

            def keep(value: object, site: HeadSite = site, place: HeadPlace = place, rows: Any = rows) -> None:
                found[site] = heads_of(value, place, site)[:, :, site.head].detach()[rows].clone()

            if place.side == "input":
                handle = place.module.register_forward_pre_hook(lambda _, args, keep=keep: keep(args[0]))
            else:
                handle = place.module.register_forward_hook(lambda _, args, output, keep=keep: keep(output))
            handles.callback(handle.remove)
        _bare(hookable(model))(input_ids=input_ids, attention_mask=mask, use_cache=False)
    return found


def real_mask(
    input_ids: Int[Tensor, "batch token"], attention_mask: Int[Tensor, "batch token"] | None
) -> Int[Tensor, "batch token"]:
    """The mask, of ones if none is given.

    Raises:
        ShapeError: ids and mask of unlike shapes.
    """
    mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
    if input_ids.ndim != 2 or mask.shape != input_ids.shape:
        raise ShapeError(
            f"hooks: input_ids {tuple(input_ids.shape)} and attention_mask {tuple(mask.shape)}; "
            "both must be of the one shape (batch, token)."
        )
    return mask


def row_index(site: Site | HeadSite, mask: Int[Tensor, "batch token"]) -> Any:
    """Index of the site's rows in "batch token ...": everything for ``"all"``, else one token of each line.

    Raises:
        ShapeError: a line that is too short for the position.
    """
    if site.position == "all":
        return slice(None)
    at = site if isinstance(site, Site) else Site(HookPoint.ATTN_OUT, site.layer, site.position)
    return torch.arange(len(mask)), _token_index(at, mask)
