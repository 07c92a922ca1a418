"""Donor weights in the recipient's shape: out-map, weight, in-map, with the input side scaled by its own rule."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from assay.axes import Float, NDArray
from assay.errors import EstimateError, ShapeError
from assay.merge.selection import Selection
from assay.transport.coupling import BarycentricMap, Coupling

__all__ = ["Convention", "carried_bias", "carried_weight", "sd_ratio", "working_dtype"]

Convention = Literal["function", "seed", "published"]


def working_dtype(weight: Tensor) -> torch.dtype:
    """float64 for float64 weights, else float32: a carried float16 entry may be smaller than float16 holds."""
    return torch.float64 if weight.dtype == torch.float64 else torch.float32


def carried_weight(
    weight: Float[Tensor, "out_donor in_donor"],
    *,
    out: Coupling,
    into: Coupling,
    convention: Convention,
    selection: Selection | None = None,
) -> Float[Tensor, "rows columns"]:
    """Phi_out W Phi_in', whole or only the selected rows or columns, in float32 (float64 for float64 weights).

    ``function``: both maps are barycentric, Phi_in' from recipient inputs to donor inputs; a recipient that is the
    donor with every neuron doubled computes the same function. ``seed``: Phi_in scaled by the recipient's width, which
    multiplies the weight by in_recipient / in_donor. ``published``: the couplings as they are (rows sum to 1/n), which
    makes the weight about 1 / (n_out n_in) of what it was.

    Raises:
        ShapeError: couplings that are not for the donor's widths, or a selection outside the recipient's.
        EstimateError: an unknown convention.
    """
    _widths(weight, out=out, into=into)
    left, right = _maps(out, into, convention)
    if selection is not None:
        width = (left.shape[0], right.shape[1])[selection.side == "in"]
        if selection.neurons.size and not 0 <= selection.neurons.min() <= selection.neurons.max() < width:
            raise ShapeError(
                f"carried_weight: selected {selection.side} neurons up to {selection.neurons.max()}, the recipient has "
                f"{width}. Select on the interface of that side."
            )
        left, right = (
            (left[selection.neurons], right) if selection.side == "out" else (left, right[:, selection.neurons])
        )
    kind = working_dtype(weight)
    first, last = (torch.from_numpy(np.ascontiguousarray(part)).to(kind) for part in (left, right))
    middle = weight.detach().to(kind)
    if selection is not None and selection.side == "in":
        return first @ (middle @ last)
    return (first @ middle) @ last


def carried_bias(
    bias: Float[Tensor, " out_donor"], *, out: Coupling, convention: Convention
) -> Float[Tensor, " out_recipient"]:
    """Phi_out b, in float32 (float64 for float64). Errors as `carried_weight`."""
    if bias.ndim != 1 or bias.shape[0] != out.matrix.shape[1]:
        raise ShapeError(
            f"carried_bias: a bias of shape {tuple(bias.shape)}, the coupling is for {out.matrix.shape[1]} donor "
            "neurons."
        )
    left, _ = _maps(out, out, convention)
    kind = working_dtype(bias)
    return torch.from_numpy(np.ascontiguousarray(left)).to(kind) @ bias.detach().to(kind)


def sd_ratio(
    phi: BarycentricMap, *, recipient_sd: Float[NDArray, " n_to"], donor_sd: Float[NDArray, " n_from"]
) -> Float[NDArray, " n_to"]:
    """s_i = sd_recipient,i / sum_j Phi_ij sd_donor,j: what a correlation cost forgets.

    Rows of a carried weight may be multiplied by the ratio of their output side, columns divided by that of their input
    side.

    Raises:
        ShapeError, EstimateError: widths that differ from the map's, or standard deviations that are not all above 0.
    """
    mixed, own = phi.applied(donor_sd), np.asarray(recipient_sd)
    if own.shape != mixed.shape:
        raise ShapeError(f"sd_ratio: {own.shape} recipient deviations for a map to {mixed.shape[0]} neurons.")
    if not (np.isfinite(own).all() and np.isfinite(mixed).all() and (own > 0).all() and (mixed > 0).all()):
        raise EstimateError(
            "sd_ratio: a standard deviation is 0 or not finite; a neuron that does not vary has no ratio. Leave the "
            "ratios off, or deselect it."
        )
    return np.asarray(own / mixed)


def _maps(out: Coupling, into: Coupling, convention: Convention) -> tuple[NDArray, NDArray]:
    """Phi_out (out_recipient, out_donor) and Phi_in' (in_donor, in_recipient)."""
    if convention == "function":
        return out.barycentric().matrix, into.reversed.barycentric().matrix
    if convention == "seed":
        return out.barycentric().matrix, into.barycentric().matrix.T
    if convention == "published":
        return out.matrix, into.matrix.T
    raise EstimateError(f"carried_weight: convention {convention!r}; there are 'function', 'seed' and 'published'.")


def _widths(weight: Tensor, *, out: Coupling, into: Coupling) -> None:
    fits = (out.matrix.shape[1], into.matrix.shape[1])
    if weight.ndim != 2 or tuple(weight.shape) != fits:
        raise ShapeError(
            f"carried_weight: a donor weight of shape {tuple(weight.shape)}; the couplings are for {fits[0]} donor "
            f"outputs and {fits[1]} donor inputs. Fit them on the layer you carry."
        )
