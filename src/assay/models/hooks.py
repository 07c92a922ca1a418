"""Capturing rows at sites. A hook that only reads, or is disabled, leaves every logit bitwise as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import torch
from torch import Tensor, nn

from assay.axes import Float, Int
from assay.errors import ModelError, ShapeError
from assay.models.families import Family, Place, family_of
from assay.models.pretrained import PretrainedModel
from assay.models.sites import HookPoint, Site

if TYPE_CHECKING:
    from transformers import PreTrainedModel

__all__ = ["Captured", "blocks_of", "capture", "noop", "recording"]

Read = Callable[[Site, Tensor], Tensor]
Store = Callable[[Tensor], None]


@final
@dataclass(frozen=True)
class Captured:
    """What one forward pass left: ``captured[site]`` and the logits of the same pass.

    Rows have the axes "batch token d" where the site's position is "all", else "batch d".
    """

    rows: dict[Site, Tensor]
    logits: Float[Tensor, "batch token vocabulary"]

    def __getitem__(self, site: Site) -> Tensor:
        return self.rows[site]


def capture(
    model: PretrainedModel | PreTrainedModel,
    sites: Sequence[Site],
    input_ids: Int[Tensor, "batch token"],
    attention_mask: Int[Tensor, "batch token"] | None = None,
) -> Captured:
    """Copies of the rows at ``sites`` in one forward pass without gradients; no mask means no padding.

    The pass is bitwise the plain one: hooks read, copy and return nothing, and are removed whatever happens.
    A forward hook registered earlier by others runs first, so its edits are seen; it stays registered.

    Errors: ModelError for a layer or hook point that the model does not have or a site asked twice;
    ShapeError for ids and mask of unlike shapes or a position that a line is too short for.
    """
    mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
    if input_ids.ndim != 2 or mask.shape != input_ids.shape:
        raise ShapeError(
            f"capture: input_ids {tuple(input_ids.shape)} and attention_mask {tuple(mask.shape)}; "
            "both must be of the one shape (batch, token)."
        )
    places = {site.position: _token_index(site, mask) for site in sites if site.position != "all"}

    def copy(site: Site, hidden: Tensor) -> Tensor:
        if site.position == "all":
            return hidden.detach().clone()
        return hidden.detach()[torch.arange(len(hidden)), places[site.position]].clone()

    with torch.no_grad(), recording(model, sites, read=copy) as rows:
        output = _bare(model)(input_ids=input_ids, attention_mask=mask, use_cache=False)
    return Captured(rows=dict(rows), logits=output.logits)


@contextmanager
def recording(
    model: PretrainedModel | PreTrainedModel, sites: Sequence[Site], *, read: Read
) -> Iterator[dict[Site, Tensor]]:
    """While open, the next forward pass of ``model`` fills the yielded mapping with ``read(site, hidden)`` by site.

    ``hidden`` ("batch token d") is the model's own tensor: ``read`` must copy what it keeps, and change nothing.
    One forward pass only: a second one raises ModelError, because it would silently replace the first.
    Errors: ModelError as in ``capture``.
    """
    rows: dict[Site, Tensor] = {}

    def store(site: Site) -> Store:
        def keep(hidden: Tensor) -> None:
            if site in rows:
                raise ModelError(
                    f"recording: {site} was reached twice. Open a recording for each forward pass, and do not "
                    "generate inside it."
                )
            rows[site] = read(site, hidden)

        return keep

    with _hooked(model, sites, store):
        yield rows


@contextmanager
def noop(model: PretrainedModel | PreTrainedModel, sites: Sequence[Site]) -> Iterator[None]:
    """While open, hooks are registered at ``sites`` and do nothing: the control for what hooking itself changes.

    Errors: ModelError as in ``capture``.
    """
    with _hooked(model, sites, lambda site: lambda hidden: None):
        yield


def blocks_of(model: PretrainedModel | PreTrainedModel) -> nn.ModuleList:
    """The blocks of the model in order.

    Errors: ModelError for an unknown family, or if their number is not the configuration's ``num_hidden_layers``.
    """
    bare = _bare(model)
    blocks = bare.get_submodule(_family(bare).blocks)
    if not isinstance(blocks, nn.ModuleList) or len(blocks) != bare.config.num_hidden_layers:
        raise ModelError(
            f"{type(bare).__name__}: {_family(bare).blocks} is not the list of {bare.config.num_hidden_layers} blocks "
            "that the configuration announces. Open the model again; do not edit num_hidden_layers."
        )
    return blocks


def _bare(model: PretrainedModel | PreTrainedModel) -> Any:
    return model.model if isinstance(model, PretrainedModel) else model


def _family(bare: Any) -> Family:
    return family_of(bare.config.model_type, where=type(bare).__name__)


@contextmanager
def _hooked(
    model: PretrainedModel | PreTrainedModel, sites: Sequence[Site], store: Callable[[Site], Store]
) -> Iterator[None]:
    twice = sorted({str(site) for site in sites if list(sites).count(site) > 1})
    if twice:
        raise ModelError(f"hooks: asked twice for {', '.join(twice)}. Name every site once.")
    targets = [_target(model, site) for site in sites]
    with ExitStack() as handles:
        for site, (module, side) in zip(sites, targets, strict=True):
            handles.callback(_register(module, side, store(site), site).remove)
        yield


def _target(model: PretrainedModel | PreTrainedModel, site: Site) -> tuple[nn.Module, str]:
    bare = _bare(model)
    family, blocks = _family(bare), blocks_of(model)
    if site.layer >= len(blocks):
        raise ModelError(f"hooks: {site} asked, but {type(bare).__name__} has layers 0 to {len(blocks) - 1}.")
    if site.point is HookPoint.RESID_MID and family.parallel_field and getattr(bare.config, family.parallel_field):
        raise ModelError(
            f"hooks: {site} asked, but the blocks of this {family.name} model are parallel "
            f"({family.parallel_field}=True): attention and MLP read the same stream, nothing lies between them. "
            "Use resid_pre, attn_out, mlp_out or resid_post."
        )
    place: Place = family.places[site.point]
    return blocks[site.layer].get_submodule(place.module), place.side


def _register(module: nn.Module, side: str, keep: Store, site: Site) -> torch.utils.hooks.RemovableHandle:
    if side == "input":

        def before(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            keep(_tensor(args[0] if args else kwargs.get("hidden_states"), site))

        return module.register_forward_pre_hook(before, with_kwargs=True)

    def after(_: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        keep(_tensor(output[0] if isinstance(output, tuple) else output, site))

    return module.register_forward_hook(after)


def _tensor(value: object, site: Site) -> Tensor:
    if isinstance(value, Tensor) and value.ndim == 3:
        return value
    got = f"a tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
    raise ModelError(
        f"hooks: at {site} a tensor (batch, token, d) was expected, {got} came. "
        "The installed transformers builds this family in another way; use the pinned version."
    )


def _token_index(site: Site, mask: Tensor) -> Int[Tensor, " batch"]:
    position = int(site.position)
    counts = mask.sum(dim=1)
    wanted = counts + position if position < 0 else torch.full_like(counts, position)
    short = [int(i) for i in torch.nonzero((wanted < 0) | (wanted >= counts)).flatten()]
    if short:
        raise ShapeError(
            f"capture: {site} asked, but line {short[0]} of the batch has {int(counts[short[0]])} real tokens "
            f"({len(short)} of {len(counts)} lines are too short)."
        )
    ranks = mask.cumsum(dim=1) - 1
    return ((ranks == wanted[:, None]) & mask.bool()).int().argmax(dim=1)
