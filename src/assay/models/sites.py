"""Site: hook point x layer x position. The only spelling of a place in a model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, final

from assay.errors import ConfigError

__all__ = ["HookPoint", "Position", "Site", "at_every_layer"]

Position = int | Literal["all"]


class HookPoint(StrEnum):
    """A named tensor of one block; all have the axes "batch token d".

    ``resid_pre``   the residual stream as the block receives it; of layer 0: the embeddings (Gemma: scaled)
    ``attn_out``    what attention adds to the residual stream (after a post-norm, where a family has one)
    ``resid_mid``   the residual stream between attention and MLP; does not exist in a parallel block
    ``mlp_out``     what the MLP adds to the residual stream (after a post-norm, where a family has one)
    ``resid_post``  the residual stream as the block leaves it; of the last layer: before the final norm
    """

    RESID_PRE = "resid_pre"
    ATTN_OUT = "attn_out"
    RESID_MID = "resid_mid"
    MLP_OUT = "mlp_out"
    RESID_POST = "resid_post"


@final
@dataclass(frozen=True, order=True)
class Site:
    """One place: the hook point, the layer (from 0), and the position among the real tokens of a line.

    ``position`` is ``"all"`` (every token of the batch, padding included: "batch token d") or the index of a real
    token, counted without padding; negative from the end, so -1 is the last real token ("batch d").
    ``resid_post`` of the last layer is not the last of transformers' ``output_hidden_states``, which is normed.

    Errors: ConfigError for an unknown hook point, a negative layer or another position.
    """

    point: HookPoint
    layer: int
    position: Position = "all"

    def __post_init__(self) -> None:
        if self.point not in tuple(HookPoint):
            raise ConfigError(f"Site: unknown hook point {self.point!r}. There are {', '.join(HookPoint)}.")
        object.__setattr__(self, "point", HookPoint(self.point))
        if not _is_index(self.layer) or self.layer < 0:
            raise ConfigError(f"Site: layer {self.layer!r} is not a layer number; layers count from 0.")
        if self.position != "all" and not _is_index(self.position):
            raise ConfigError(f"Site: position {self.position!r} is neither 'all' nor the index of a token.")

    def __str__(self) -> str:
        where = "" if self.position == "all" else f"[{self.position}]"
        return f"{self.point}.{self.layer}{where}"


def at_every_layer(point: HookPoint, *, n_layers: int) -> tuple[Site, ...]:
    """The sites of one hook point at layers 0 to ``n_layers - 1``, all positions."""
    return tuple(Site(point, layer) for layer in range(n_layers))


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
