"""Writing rows at sites: x becomes x + alpha (target - x), where x is what the model computed there.

alpha = 0 leaves the model's tensor untouched, alpha = 1 assigns the target: both bitwise. (x + (target - x) differs
from the target in a third of all float32 entries.) The stream goes on from the written row: after a write at
``resid_mid`` both the MLP and the residual connection read it. Hooks run in the order of their registration, so a
capture opened inside ``writing`` sees the written rows, and of two writes at one tensor the later sees the earlier.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from assay.axes import Bool, Int
from assay.errors import ConfigError, ModelError, ShapeError
from assay.models.hooks import Captured, capture
from assay.models.sites import HookPoint, Site
from assay.models.targets import Model, Target, real_mask, row_index, target

__all__ = ["Write", "write", "writing"]

Edit = Callable[[Tensor], Tensor]
Change = Callable[[object], Tensor | None]


@final
@dataclass(frozen=True, eq=False)
class Write:
    """One write: where, what, how strongly, and at which tokens.

    ``target`` is the rows to write, of exactly the shape, dtype and device of the site's rows, or a function that makes
    them from a copy of the present rows (an ablation, an adapter); it is not called when ``alpha`` is 0. ``tokens``,
    for position "all" only, says where: other rows stay bitwise as they were.

    Raises:
        ConfigError: alpha not finite, or ``tokens`` with a position.
    """

    site: Site
    target: Tensor | Edit
    alpha: float = 1.0
    tokens: Bool[Tensor, "batch token"] | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.alpha):
            raise ConfigError(f"Write: alpha {self.alpha} at {self.site}; give a finite number.")
        if self.tokens is not None and (self.site.position != "all" or self.tokens.dtype != torch.bool):
            raise ConfigError(
                f"Write: tokens ({self.tokens.dtype}) at {self.site}; they are boolean and go with position 'all'."
            )


def write(
    model: Model,
    writes: Sequence[Write],
    input_ids: Int[Tensor, "batch token"],
    attention_mask: Int[Tensor, "batch token"] | None = None,
    *,
    sites: Sequence[Site] = (),
) -> Captured:
    """One forward pass without gradients with ``writes``; its logits, and the rows at ``sites`` after the writes.

    Raises:
        ModelError, ShapeError: as ``writing`` and ``capture``.
    """
    mask = real_mask(input_ids, attention_mask)
    with writing(model, writes, mask):
        return capture(model, sites, input_ids, mask)


@contextmanager
def writing(model: Model, writes: Sequence[Write], attention_mask: Int[Tensor, "batch token"]) -> Iterator[None]:
    """While open, every forward pass of ``model`` on lines of this mask is written to.

    Hooks of others stay; own ones are removed whatever happens.

    Raises:
        ModelError: a layer, head or hook point that the model does not have; a site written twice; or, on leaving
            without another error, a write that no forward pass reached.
        ShapeError: from the forward pass, a target that does not fit the rows; a line too short for a position.
    """
    sites = [one.site for one in writes]
    twice = sorted({str(site) for site in sites if sites.count(site) > 1})
    if twice:
        raise ModelError(f"writing: two writes at {', '.join(twice)}. Give one write a site.")
    reached: set[str] = set()
    with ExitStack() as handles:
        for one in writes:
            handles.callback(_register(model, one, attention_mask, reached).remove)
        yield
    missed = [str(site) for site in sites if str(site) not in reached]
    if missed:
        raise ModelError(
            f"writing: no forward pass reached {', '.join(missed)}. Call the model itself inside (model(...), not "
            "model.forward(...)), or leave the write out."
        )


def _register(model: Model, one: Write, mask: Tensor, reached: set[str]) -> torch.utils.hooks.RemovableHandle:
    rows, place = row_index(one.site, mask), target(model, one.site)

    def edit(value: object) -> Tensor | None:
        reached.add(str(one.site))
        return _written(one, place, value, rows, mask)

    if place.side == "output":
        return place.module.register_forward_hook(lambda _, args, output: _replace(output, edit))
    change = _overwrite if one.site.point is HookPoint.RESID_MID else _pass_on
    return place.module.register_forward_pre_hook(lambda _, args, kwargs: change(args, kwargs, edit), with_kwargs=True)


def _replace(output: Any, edit: Change) -> Any:
    first = output[0] if isinstance(output, tuple) else output
    new = edit(first)
    if new is None:
        return None
    return (new, *output[1:]) if isinstance(output, tuple) else new


def _pass_on(args: tuple[Any, ...], kwargs: dict[str, Any], edit: Change) -> Any:
    new = edit(args[0] if args else kwargs.get("hidden_states"))
    if new is None:
        return None
    return ((new, *args[1:]), kwargs) if args else ((), {**kwargs, "hidden_states": new})


def _overwrite(args: tuple[Any, ...], kwargs: dict[str, Any], edit: Change) -> None:
    # Families read resid_mid at the input of a norm; the residual connection holds the same tensor. A replaced input
    # would reach the MLP alone, so the tensor itself is changed.
    value = args[0] if args else kwargs.get("hidden_states")
    new = edit(value)
    if new is not None and isinstance(value, Tensor):
        value.copy_(new)


def _written(one: Write, place: Target, value: object, rows: Any, mask: Tensor) -> Tensor | None:
    """A copy of what the module holds with the rows of the site written, or None where nothing is to be written."""
    held = place.tensor(value)
    if held.shape[:2] != mask.shape:
        raise ShapeError(
            f"writing: at {one.site} {tuple(held.shape[:2])} tokens came, the mask has {tuple(mask.shape)}. "
            "Pass whole lines (use_cache=False) of the mask that writing was opened with."
        )
    if one.tokens is not None and one.tokens.shape != mask.shape:
        raise ShapeError(f"writing: tokens {tuple(one.tokens.shape)} at {one.site}, lines of {tuple(mask.shape)}.")
    present = place.rows(value)[rows]
    if one.alpha == 0.0:
        if isinstance(one.target, Tensor):
            _fitting(one, one.target, present)
        return None
    wanted = one.target if isinstance(one.target, Tensor) else one.target(present.clone())
    _fitting(one, wanted, present)
    new = wanted if one.alpha == 1.0 else present + one.alpha * (wanted - present)
    whole = held.clone()
    hidden = place.rows(whole)
    if one.tokens is None:
        hidden[rows] = new
    else:
        hidden[one.tokens] = new[one.tokens]
    return whole.flatten(2) if isinstance(value, Tensor) and value.ndim < whole.ndim else whole


def _fitting(one: Write, target: object, present: Tensor) -> None:
    if not isinstance(target, Tensor):
        raise ShapeError(f"writing: the target at {one.site} is {type(target).__name__}; a tensor is needed.")
    asked = (tuple(present.shape), present.dtype, present.device)
    came = (tuple(target.shape), target.dtype, target.device)
    if asked != came:
        raise ShapeError(
            f"writing: at {one.site} rows of shape {asked[0]} in {asked[1]} on {asked[2]} are computed, the target has "
            f"shape {came[0]} in {came[1]} on {came[2]}. Map and cast it before it is written."
        )
