"""Transported merge of one block: donor weights carried through couplings, then fused into selected neurons.

Attention output, up, down and, between gated blocks, gate. All other tensors are not touched. What a rule leaves out is
said in the notes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple, final

import numpy as np
import torch
from torch import Tensor

from assay.axes import Float
from assay.controls.plans import PlanControl
from assay.errors import EstimateError, ShapeError
from assay.merge.carrying import Convention, carried_bias, carried_weight, working_dtype
from assay.merge.selection import Selection
from assay.transport.coupling import Coupling

__all__ = [
    "WEIGHT_INTERFACES",
    "BlockWeights",
    "Donor",
    "Form",
    "Fusion",
    "Interfaces",
    "Linear",
    "MergedBlock",
    "fused",
    "transported_block",
]

Form = Literal["convex", "additive"]


class Linear(NamedTuple):
    """A weight (out, in) and its bias, if it has one."""

    weight: Float[Tensor, "out in"]
    bias: Float[Tensor, " out"] | None = None


BlockWeights = Mapping[str, Linear]
"""The weights of a block by projection: "o", "up", "down", and "gate" where the MLP is gated."""


@final
@dataclass(frozen=True)
class Interfaces:
    """Couplings of one recipient layer with one donor layer at the five interfaces of a block.

    Inputs and outputs of the attention output, the true input of the first MLP matrix (after the norm), the input of
    the down projection, and the MLP's output.
    """

    attn_in: Coupling
    attn_out: Coupling
    mlp_in: Coupling
    mlp_hidden: Coupling
    mlp_out: Coupling

    def sham(self, control: PlanControl, *, rng: np.random.Generator) -> Interfaces:
        """Each interface through the control once, in the order of the fields, so that weights that share one agree."""
        return Interfaces(**{name: control.coupling(getattr(self, name), rng=rng) for name in self.__annotations__})


WEIGHT_INTERFACES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "o": ("attn_out", "attn_in"),
        "up": ("mlp_hidden", "mlp_in"),
        "gate": ("mlp_hidden", "mlp_in"),
        "down": ("mlp_out", "mlp_hidden"),
    }
)
"""The interfaces at the output and at the input of each projection."""


class Donor(NamedTuple):
    """One donor layer, its couplings with the recipient layer, and its share of what is carried."""

    weights: BlockWeights
    interfaces: Interfaces
    share: float


@final
@dataclass(frozen=True)
class Fusion:
    """How to fuse. ``selections`` by projection; a projection without one is not changed."""

    alpha: float
    form: Form
    convention: Convention
    selections: Mapping[str, Selection]


class MergedBlock(NamedTuple):
    """The recipient's weights after the merge, what was left out and why, and |carried| / |selected part| by weight."""

    weights: BlockWeights
    notes: tuple[str, ...]
    norm_ratios: Mapping[str, float]


def fused(
    weight: Float[Tensor, "out in"],
    carried: Float[Tensor, "rows columns"],
    *,
    alpha: float,
    selection: Selection,
    form: Form,
) -> Float[Tensor, "out in"]:
    """Convex W + alpha (D - W), or additive W + alpha D, on the selected part; computed in float32 or float64.

    ``carried`` is D on the selected part alone. The type of the weight is kept; alpha 0 and unselected entries keep
    their bits.

    Raises:
        ShapeError: a carried part of another shape than the selected one.
        EstimateError: an unknown form, or an alpha that is not finite.

    Source: Cui et al. (arXiv 2602.05495), equations 14 (convex) and 18 (additive), which agree only at alpha 0.
    """
    if form not in ("convex", "additive") or not np.isfinite(alpha):
        raise EstimateError(f"fused: form {form!r}, alpha {alpha}; 'convex' or 'additive', and a finite alpha.")
    result = weight.detach().clone()
    index = torch.from_numpy(selection.neurons)
    axis = 0 if selection.side == "out" else 1
    own = result.index_select(axis, index).to(working_dtype(weight))
    if carried.shape != own.shape:
        raise ShapeError(
            f"fused: carried {tuple(carried.shape)}, the selected part of the weight is {tuple(own.shape)}."
        )
    if alpha == 0 or not len(index):
        return result
    change = carried - own if form == "convex" else carried
    return result.index_copy_(axis, index, (own + alpha * change).to(weight.dtype))


def transported_block(
    recipient: BlockWeights,
    donors: Sequence[Donor],
    *,
    fusion: Fusion,
    control: PlanControl | None = None,
    rng: np.random.Generator | None = None,
) -> MergedBlock:
    """Fuse sum_m share_m Phi_out W_m Phi_in' into the selected neurons of each projection of ``recipient``.

    Gate: carried between gated blocks like up; kept if the donor has none; a donor's gate is left out if the recipient
    has none. Bias: carried on the selected rows where both sides have one, else the recipient's is kept unchanged. A
    control's ``rows`` acts before the couplings and is the caller's.

    Raises:
        EstimateError: no donors, shares that are negative or do not sum to 1, a control without ``rng``.
        ShapeError: couplings, weights or selections that do not fit; a selection for a projection that is not there.
    """
    _check(recipient, donors, fusion)
    if control is not None:
        if rng is None:
            raise EstimateError("transported_block: a control was given without rng. Pass a named stream.")
        donors = [one._replace(interfaces=one.interfaces.sham(control, rng=rng)) for one in donors]
    weights, notes, ratios = dict(recipient), [], {}
    if "gate" not in recipient and any("gate" in one.weights for one in donors):
        notes.append("gate: the recipient has none; the donor's is left out, up alone is carried")
    for name, selection in fusion.selections.items():
        if any(name not in one.weights for one in donors):
            notes.append(f"{name}: the donor has none; the recipient's is kept")
            continue
        merged = _projection(recipient[name], donors, name=name, fusion=fusion, selection=selection, control=control)
        weights[name] = merged.linear
        notes += merged.notes
        ratios[name] = merged.norm_ratio
    return MergedBlock(MappingProxyType(weights), tuple(notes), MappingProxyType(ratios))


class _Projection(NamedTuple):
    linear: Linear
    notes: list[str]
    norm_ratio: float


def _projection(
    own: Linear,
    donors: Sequence[Donor],
    *,
    name: str,
    fusion: Fusion,
    selection: Selection,
    control: PlanControl | None,
) -> _Projection:
    kind = working_dtype(own.weight)
    axis, index = (0 if selection.side == "out" else 1), torch.from_numpy(selection.neurons)
    part = own.weight.detach().index_select(axis, index).to(kind)
    carried = part.new_zeros(part.shape)
    for one in donors:
        out, into = (getattr(one.interfaces, side) for side in WEIGHT_INTERFACES[name])
        moved = carried_weight(
            one.weights[name].weight, out=out, into=into, convention=fusion.convention, selection=selection
        )
        if moved.shape != part.shape:
            raise ShapeError(
                f"transported_block: {name} carried to {tuple(moved.shape)}, the recipient's selected part is "
                f"{tuple(part.shape)}. The couplings are for another recipient layer."
            )
        carried += one.share * moved
    alpha = fusion.alpha * (1.0 if control is None else control.dose)
    if control is not None and part.numel():
        carried = control.carried(carried, part)
    weight = fused(own.weight, carried, alpha=alpha, selection=selection, form=fusion.form)
    notes = _vanished(carried, own.weight, name) if alpha != 0 else []
    bias, bias_notes = _bias(own, donors, name=name, fusion=fusion, selection=selection, alpha=alpha, control=control)
    norm = float(part.norm())
    return _Projection(
        Linear(weight, bias), notes + bias_notes, float(carried.norm()) / norm if norm > 0 else float("nan")
    )


def _bias(
    own: Linear,
    donors: Sequence[Donor],
    *,
    name: str,
    fusion: Fusion,
    selection: Selection,
    alpha: float,
    control: PlanControl | None,
) -> tuple[Tensor | None, list[str]]:
    """The bias after the rule, and a note where it was kept though one side has one."""
    if selection.side == "in":
        return own.bias, [f"{name}: bias kept, the selection is on the input side"] if own.bias is not None else []
    given = [bias for one in donors if (bias := one.weights[name].bias) is not None]
    if own.bias is None or len(given) < len(donors):
        missing = "recipient" if own.bias is None else "donor"
        none_at_all = own.bias is None and not given
        return own.bias, [] if none_at_all else [f"{name}: bias kept as it is, the {missing} has none"]
    carried = torch.zeros(len(own.bias), dtype=working_dtype(own.bias))
    for one, bias in zip(donors, given, strict=True):
        out = getattr(one.interfaces, WEIGHT_INTERFACES[name][0])
        carried += one.share * carried_bias(bias, out=out, convention=fusion.convention)
    chosen = carried[torch.from_numpy(selection.neurons)][:, None]
    if control is not None and chosen.numel():
        own_part = own.bias.detach()[torch.from_numpy(selection.neurons)][:, None].to(chosen.dtype)
        chosen = control.carried(chosen, own_part)
    column = fused(own.bias[:, None], chosen, alpha=alpha, selection=selection, form=fusion.form)
    return column[:, 0], []


def _vanished(carried: Tensor, weight: Tensor, name: str) -> list[str]:
    """A note where what is carried does not exist in the weight's own type."""
    if not bool((carried != 0).any()) or bool((carried.to(weight.dtype) != 0).any()):
        return []
    return [
        f"{name}: every carried entry is 0 in {str(weight.dtype).removeprefix('torch.')} (largest "
        f"{float(carried.abs().max()):.1e}); what is left of the merge is a shrink. Use barycentric maps."
    ]


def _check(recipient: BlockWeights, donors: Sequence[Donor], fusion: Fusion) -> None:
    shares = [one.share for one in donors]
    if not donors or min(shares) < 0 or not abs(sum(shares) - 1) <= 1e-6:
        raise EstimateError(
            f"transported_block: donor shares {shares}; at least one donor, shares of at least 0 that sum to 1. "
            "Take them from donor_shares."
        )
    unknown = set(fusion.selections) - (set(recipient) & set(WEIGHT_INTERFACES))
    if unknown:
        raise ShapeError(
            f"transported_block: selections for {sorted(unknown)}; this block has {sorted(recipient)}, and "
            f"{', '.join(WEIGHT_INTERFACES)} can be carried."
        )
