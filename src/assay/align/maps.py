"""`MAPS`: every way to fit a map from donor rows to recipient rows. A new one is a file, a function and an entry here.

The laws in ``tests/laws/test_maps.py`` run over the table; an entry says by its family which of them it promises.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol, final, runtime_checkable

from assay.align.affine import AffineMap
from assay.align.cca import fit_cca, fit_cca_swap
from assay.align.identity import fit_identity
from assay.align.procrustes import fit_procrustes
from assay.align.ridge import fit_ridge
from assay.axes import Float, NDArray

Family = Literal["fixed", "isometry", "swap", "regression"]
"""What an entry promises beyond the laws that hold for all.

==========  ==========================================================================================
family      promise
==========  ==========================================================================================
fixed       does not look at the values of the rows; needs equal widths
isometry    orthonormal rows or columns; carries mean to mean; turns with rotations of either side
swap        carries mean to mean; turns with rotations; need not keep lengths
regression  as swap, and never has more variance than the recipient; a direction that the recipient
            rows do not follow is annihilated (its image is 0)
==========  ==========================================================================================
"""


@runtime_checkable
class FitMap(Protocol):
    """Fits a map on paired rows; options, if any, are keywords with defaults."""

    def __call__(
        self, donor: Float[NDArray, "row d_donor"], recipient: Float[NDArray, "row d_recipient"], /
    ) -> AffineMap: ...


@final
@dataclass(frozen=True)
class MapKind:
    """An entry of the table: the function that fits, and the family whose laws it keeps."""

    fit: FitMap
    family: Family


MAPS: Mapping[str, MapKind] = MappingProxyType(
    {
        "identity": MapKind(fit_identity, "fixed"),
        "procrustes": MapKind(fit_procrustes, "isometry"),
        "ridge": MapKind(fit_ridge, "regression"),
        "cca": MapKind(fit_cca, "regression"),
        "cca_swap": MapKind(fit_cca_swap, "swap"),
    }
)
