"""Targets: the module, and the side of it, that holds the rows of a site in a model of any family."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from assay.axes import Int
from assay.errors import ModelError, ShapeError
from assay.models.families import Family, family_of
from assay.models.pretrained import PretrainedModel
from assay.models.sites import HookPoint, Site

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from assay.models.toy import Toy

    Model = PretrainedModel | PreTrainedModel | Toy
else:
    Model = Any

__all__ = ["Model", "Target", "bare_model", "blocks_of", "observe", "real_mask", "row_index", "target"]


class Target(NamedTuple):
    """Where the rows of a site are: a module and its side; ``n_heads`` is 0 unless the rows are of heads."""

    site: Site
    module: nn.Module
    side: str
    n_heads: int

    def tensor(self, value: object) -> Tensor:
        """The tensor that the module was given or gave: "batch token d", of heads "batch token head width".

        It is the model's own, or a view of it. Raises ModelError for one of another form.
        """
        if isinstance(value, Tensor):
            if value.ndim == (4 if self.n_heads else 3) and self.n_heads in (0, value.shape[2]):
                return value
            if self.n_heads and value.ndim == 3 and value.shape[2] % self.n_heads == 0:
                return value.view(*value.shape[:2], self.n_heads, -1)
        got = f"a tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        wanted = f"the rows of {self.n_heads} heads were" if self.n_heads else "a tensor (batch, token, d) was"
        raise ModelError(
            f"hooks: at {self.site} {wanted} expected, {got} came. "
            "The installed transformers builds this family in another way; use the pinned version."
        )

    def rows(self, value: object) -> Tensor:
        """The rows of the site in ``value``: "batch token d"; of ``head_out``, those of its head, a view."""
        whole = self.tensor(value)
        return whole[:, :, self.site.head] if self.n_heads else whole


def bare_model(model: Model) -> Any:
    """The torch module: what ``PretrainedModel`` holds, any other model itself."""
    return model.model if isinstance(model, PretrainedModel) else model


def blocks_of(model: Model) -> nn.ModuleList:
    """The blocks of the model in order.

    Raises:
        ModelError: an unknown family, or their number is not the configuration's ``num_hidden_layers``.
    """
    bare = bare_model(model)
    blocks = bare.get_submodule(_family(bare).blocks)
    if not isinstance(blocks, nn.ModuleList) or len(blocks) != bare.config.num_hidden_layers:
        raise ModelError(
            f"{type(bare).__name__}: {_family(bare).blocks} is not the list of {bare.config.num_hidden_layers} blocks "
            "that the configuration announces. Open the model again; do not edit num_hidden_layers."
        )
    return blocks


def target(model: Model, site: Site) -> Target:
    """Where ``model`` holds the rows of ``site``.

    Raises:
        ModelError: an unknown family, or a layer, head or hook point that the model does not have.
    """
    bare = bare_model(model)
    family, blocks = _family(bare), blocks_of(model)
    n_heads = int(bare.config.num_attention_heads) if site.point is HookPoint.HEAD_OUT else 0
    if site.layer >= len(blocks):
        raise ModelError(f"hooks: {site} asked, but {type(bare).__name__} has layers 0 to {len(blocks) - 1}.")
    if site.head is not None and site.head >= n_heads:
        raise ModelError(f"hooks: {site} asked, but {type(bare).__name__} has heads 0 to {n_heads - 1} in a layer.")
    if site.point is HookPoint.RESID_MID and family.parallel_field and getattr(bare.config, family.parallel_field):
        raise ModelError(
            f"hooks: {site} asked, but the blocks of this {family.name} model are parallel "
            f"({family.parallel_field}=True): attention and MLP read the same stream, nothing lies between them. "
            "Use resid_pre, attn_out, mlp_out or resid_post."
        )
    place = family.places[site.point]
    return Target(site, blocks[site.layer].get_submodule(place.module), place.side, n_heads)


def observe(place: Target, keep: Callable[[Tensor], None]) -> torch.utils.hooks.RemovableHandle:
    """A hook that hands ``keep`` the rows of the site and changes nothing; whoever registers it removes it."""
    if place.side == "input":

        def before(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            keep(place.rows(args[0] if args else kwargs.get("hidden_states")))

        return place.module.register_forward_pre_hook(before, with_kwargs=True)

    def after(_: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        keep(place.rows(output[0] if isinstance(output, tuple) else output))

    return place.module.register_forward_hook(after)


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


def row_index(site: Site, mask: Int[Tensor, "batch token"]) -> Any:
    """Index of the site's rows in "batch token ...": everything for ``"all"``, else one real token of each line.

    Raises:
        ShapeError: a line that is too short for the position.
    """
    if site.position == "all":
        return slice(None)
    counts = mask.sum(dim=1)
    wanted = counts + site.position if site.position < 0 else torch.full_like(counts, site.position)
    short = [int(i) for i in torch.nonzero((wanted < 0) | (wanted >= counts)).flatten()]
    if short:
        raise ShapeError(
            f"hooks: {site} asked, but line {short[0]} of the batch has {int(counts[short[0]])} real tokens "
            f"({len(short)} of {len(counts)} lines are too short)."
        )
    ranks = mask.cumsum(dim=1) - 1
    return torch.arange(len(mask)), ((ranks == wanted[:, None]) & mask.bool()).int().argmax(dim=1)


def _family(bare: Any) -> Family:
    return family_of(bare.config.model_type, where=type(bare).__name__)
