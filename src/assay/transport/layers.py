"""Which donor layers a recipient layer reads, and how much: a coupling of layers from the costs of their plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import EstimateError, ShapeError
from assay.transport.coupling import BarycentricMap, Coupling
from assay.transport.plan import Plan
from assay.transport.sinkhorn import entropic_plan

__all__ = ["donor_shares", "effective_layers", "layer_costs", "layer_plan"]


def layer_costs(plans: Sequence[Sequence[Plan]]) -> Float[NDArray, "layer_recipient layer_donor"]:
    """<C, Q> of the plan of every recipient layer with every donor layer; in units of the neuron cost.

    Comparable only between plans of the same widths, number of probe rows and epsilon.

    Raises:
        ShapeError: no plans, or rows of different lengths.
        ConvergenceError: a plan that has no converged status.
    """
    if not plans or not plans[0] or len({len(row) for row in plans}) != 1:
        raise ShapeError(
            f"layer_costs: rows of {[len(row) for row in plans]} plans; one plan for every pair of layers is needed."
        )
    for plan in (plan for row in plans for plan in row):
        plan.checked()
    return np.array([[plan.cost for plan in row] for row in plans])


def layer_plan(
    costs: Float[NDArray, "layer_recipient layer_donor"],
    *,
    eta: float,
    normalise: Literal["none", "median"],
) -> Plan:
    """Entropic plan of the layer costs with both marginals uniform: rows sum to 1/L, columns to 1/M.

    ``median``: costs minus their minimum, divided by the median of the rest of that, as the released code of Cui et al.
    does; ``none``: as their paper says. At eta 0.1 the latter is close to a uniform average of all layers, because
    layer costs differ by a few hundredths.

    Raises:
        EstimateError: an unknown normalisation, or a median of 0; else as `assay.transport.sinkhorn.entropic_plan`.

    Source: Cui et al. (arXiv 2602.05495), section 4.
    """
    values = np.asarray(costs, dtype=np.float64)
    if normalise == "median":
        values = values - values.min()
        median = float(np.median(values))
        if not median > 0:
            raise EstimateError(
                f"layer_plan: the median of {values.size} shifted layer costs is {median}; there is no scale to divide "
                "by. Say normalise='none'."
            )
        values = values / median
    elif normalise != "none":
        raise EstimateError(f"layer_plan: normalise {normalise!r}; there are 'none' and 'median'.")
    return entropic_plan(values, epsilon=eta)


def effective_layers(before: Coupling, after: Coupling) -> Float[NDArray, "layer_recipient layer_donor"]:
    """Elementwise sqrt(P_pre P_post) of the layer couplings from input-side and output-side activations.

    No longer a coupling: its rows sum to at most 1/L. Errors: ShapeError for different numbers of layers.
    """
    if before.matrix.shape != after.matrix.shape:
        raise ShapeError(f"effective_layers: layer couplings of shape {before.matrix.shape} and {after.matrix.shape}.")
    return np.asarray(np.sqrt(before.matrix) * np.sqrt(after.matrix))


def donor_shares(weights: Float[NDArray, "layer_recipient layer_donor"], *, n_donor_layers: int) -> BarycentricMap:
    """For each recipient layer the ``n_donor_layers`` heaviest donor layers, shares scaled to sum to 1.

    Every donor layer can be chosen, whichever model is deeper, and no recipient layer is left with nothing. Ties go to
    the lower layer; more than there are takes all.

    Raises:
        ShapeError, EstimateError: not a nonnegative matrix, fewer than 1 layer asked for, a row without weight.
    """
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim != 2 or 0 in given.shape:
        raise ShapeError(f"donor_shares: weights of shape {given.shape}; (layer_recipient, layer_donor) is needed.")
    if n_donor_layers < 1 or not (np.isfinite(given).all() and (given >= 0).all()):
        raise EstimateError(
            f"donor_shares: {n_donor_layers} donor layers, weights from {given.min()} to {given.max()}; at least 1 "
            "layer, and finite weights of at least 0."
        )
    order = np.argsort(-given, axis=1, kind="stable")[:, :n_donor_layers]
    kept = np.zeros_like(given)
    np.put_along_axis(kept, order, np.take_along_axis(given, order, axis=1), axis=1)
    sums = kept.sum(axis=1)
    if not (sums > 0).all():
        raise EstimateError(f"donor_shares: recipient layer {int(np.argmin(sums))} has no donor layer with weight.")
    return BarycentricMap(kept / sums[:, None])
