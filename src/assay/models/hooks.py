"""Capturing rows at sites. A hook that only reads, or is disabled, leaves every logit bitwise as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from assay.axes import Float, Int
from assay.errors import ModelError
from assay.models.sites import Site
from assay.models.targets import Model, bare_model, blocks_of, observe, real_mask, row_index, target

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
    model: Model,
    sites: Sequence[Site],
    input_ids: Int[Tensor, "batch token"],
    attention_mask: Int[Tensor, "batch token"] | None = None,
) -> Captured:
    """Copies of the rows at ``sites`` in one forward pass without gradients; no mask means no padding.

    The pass is bitwise the plain one: hooks read, copy and return nothing, and are removed whatever happens.
    A forward hook registered earlier by others runs first, so its edits are seen; it stays registered.

    Errors: ModelError for a layer, head or hook point that the model does not have or a site asked twice;
    ShapeError for ids and mask of unlike shapes or a position that a line is too short for.
    """
    mask = real_mask(input_ids, attention_mask)
    index = {site: row_index(site, mask) for site in sites}

    def copy(site: Site, hidden: Tensor) -> Tensor:
        return hidden.detach()[index[site]].clone(memory_format=torch.contiguous_format)

    with torch.no_grad(), recording(model, sites, read=copy) as rows:
        output = bare_model(model)(input_ids=input_ids, attention_mask=mask, use_cache=False)
    return Captured(rows=dict(rows), logits=output.logits)


@contextmanager
def recording(model: Model, sites: Sequence[Site], *, read: Read) -> Iterator[dict[Site, Tensor]]:
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
def noop(model: Model, sites: Sequence[Site]) -> Iterator[None]:
    """While open, hooks are registered at ``sites`` and do nothing: the control for what hooking itself changes.

    Errors: ModelError as in ``capture``.
    """
    with _hooked(model, sites, lambda site: lambda hidden: None):
        yield


@contextmanager
def _hooked(model: Model, sites: Sequence[Site], store: Callable[[Site], Store]) -> Iterator[None]:
    twice = sorted({str(site) for site in sites if list(sites).count(site) > 1})
    if twice:
        raise ModelError(f"hooks: asked twice for {', '.join(twice)}. Name every site once.")
    places = [target(model, site) for site in sites]
    with ExitStack() as handles:
        for place in places:
            handles.callback(observe(place, store(place.site)).remove)
        yield
