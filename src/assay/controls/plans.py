"""Shams of a transported merge, each taking one thing away: rows, correspondence, norm, content, or the dose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, final, runtime_checkable

import numpy as np

from assay.axes import Float, NDArray
from assay.errors import EstimateError
from assay.transport.coupling import Coupling

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "PLAN_CONTROLS",
    "PlanControl",
    "identity_coupling",
    "norm_matched",
    "plan_shuffled",
    "sample_shuffled",
    "shrink",
    "uniform",
]


def sample_shuffled(donor: Float[NDArray, "row n_donor"], *, rng: np.random.Generator) -> Float[NDArray, "row n_donor"]:
    """The donor's probe rows in random order: costs, plans and layer coupling are then those of chance at this number
    of rows. Pairing by chance has a low cost too, the lower the fewer rows there are."""
    return np.asarray(donor[rng.permutation(len(donor))])


def plan_shuffled(coupling: Coupling, *, rng: np.random.Generator) -> Coupling:
    """The coupling with its donor columns in random order: same rows sums, singular values and concentration."""
    order = rng.permutation(coupling.matrix.shape[1])
    return Coupling(
        coupling.matrix[:, order], coupling.row_marginal, coupling.column_marginal[order], tolerance=coupling.tolerance
    )


def uniform(coupling: Coupling, *, rng: np.random.Generator) -> Coupling:
    """Every pair in proportion to its marginals, a b': carries means only; the limit of large epsilon."""
    matrix = np.outer(coupling.row_marginal, coupling.column_marginal)
    return Coupling(matrix, coupling.row_marginal, coupling.column_marginal, tolerance=coupling.tolerance)


def identity_coupling(coupling: Coupling, *, rng: np.random.Generator) -> Coupling:
    """Neuron i with neuron i: carries a donor of the recipient's own shape unchanged.

    Raises:
        EstimateError: different widths or marginals, between which there is no identity.
    """
    n, m = coupling.matrix.shape
    if n != m or np.abs(coupling.row_marginal - coupling.column_marginal).sum() > coupling.tolerance:
        raise EstimateError(
            f"identity_coupling: {n} recipient and {m} donor neurons; only equal widths with equal marginals have one."
        )
    return Coupling(
        np.diag(coupling.row_marginal), coupling.row_marginal, coupling.column_marginal, tolerance=coupling.tolerance
    )


def shrink(carried: Tensor, weight: Tensor) -> Tensor:
    """Nothing is carried: what a convex fusion then does is (1 - alpha) W on the selected part."""
    return carried.new_zeros(carried.shape)


def norm_matched(carried: Tensor, weight: Tensor) -> Tensor:
    """The carried weight with the Frobenius norm of the recipient's selected part: direction without scale.

    Raises:
        EstimateError: a carried weight of norm 0.
    """
    norm = float(carried.double().norm())
    if not norm > 0:
        raise EstimateError("norm_matched: the carried weight is 0; no factor gives it a norm. Use shrink for that.")
    return carried * (float(weight.double().norm()) / norm)


@runtime_checkable
class _ShamsRows(Protocol):
    def __call__(self, donor: NDArray, *, rng: np.random.Generator) -> NDArray: ...


@runtime_checkable
class _ShamsCoupling(Protocol):
    def __call__(self, coupling: Coupling, *, rng: np.random.Generator) -> Coupling: ...


@runtime_checkable
class _ShamsCarried(Protocol):
    def __call__(self, carried: Tensor, weight: Tensor) -> Tensor: ...


def _same_rows(donor: NDArray, *, rng: np.random.Generator) -> NDArray:
    return donor


def _same_coupling(coupling: Coupling, *, rng: np.random.Generator) -> Coupling:
    return coupling


def _same_carried(carried: Tensor, weight: Tensor) -> Tensor:
    return carried


@final
@dataclass(frozen=True)
class PlanControl:
    """What a control changes, and what it isolates; everything else is as in the merge it belongs to.

    ``rows`` acts before the costs, ``coupling`` on each interface once, ``carried`` on the sum over donor layers, and
    ``dose`` multiplies alpha.
    """

    isolates: str
    rows: _ShamsRows = _same_rows
    coupling: _ShamsCoupling = _same_coupling
    carried: _ShamsCarried = _same_carried
    dose: float = 1.0


PLAN_CONTROLS: Mapping[str, PlanControl] = MappingProxyType(
    {
        "alpha0": PlanControl("no change at all", dose=0.0),
        "shrink": PlanControl("the (1 - alpha) shrink of a convex fusion", carried=shrink),
        "uniform": PlanControl("transfer of means and bulk scale", coupling=uniform),
        "plan_shuffled": PlanControl("correspondence, at equal norms", coupling=plan_shuffled),
        "sample_shuffled": PlanControl("correlations by chance at this number of rows", rows=sample_shuffled),
        "norm_matched": PlanControl("scale against direction", carried=norm_matched),
        "identity": PlanControl("the machinery, with donor = recipient", coupling=identity_coupling),
    }
)
