"""Site: hook point x layer x position. The only spelling of a place in a model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeGuard, final

from assay.errors import ConfigError

__all__ = ["STREAM_POINTS", "HookPoint", "Position", "Site", "at_every_layer"]

Position = int | Literal["all"]


class HookPoint(StrEnum):
    """A named tensor of one block; all have the axes "batch token d", heads one by one.

    ``resid_pre``   the residual stream as the block receives it; of layer 0: the embeddings (Gemma: scaled)
    ``head_out``    what one attention head gives, in the tensor that the model holds for it: in models of transformers
                    z_h, the weighted values before the output projection, as wide as a head; in a toy decoder
                    z_h W_O,h, the head's contribution to the residual stream
    ``attn_out``    what attention adds to the residual stream (after a post-norm, where a family has one)
    ``resid_mid``   the residual stream between attention and MLP; does not exist in a parallel block
    ``mlp_out``     what the MLP adds to the residual stream (after a post-norm, where a family has one)
    ``resid_post``  the residual stream as the block leaves it; of the last layer: before the final norm
    """

    RESID_PRE = "resid_pre"
    HEAD_OUT = "head_out"
    ATTN_OUT = "attn_out"
    RESID_MID = "resid_mid"
    MLP_OUT = "mlp_out"
    RESID_POST = "resid_post"


STREAM_POINTS = tuple(point for point in HookPoint if point is not HookPoint.HEAD_OUT)
"""The points of the residual stream and of what is added to it: every one but the heads."""


@final
@dataclass(frozen=True, order=True)
class Site:
    """One place: the hook point, the layer (from 0), the position among the real tokens of a line, and the head.

    ``position`` is ``"all"`` (every token of the batch, padding included: "batch token d") or the index of a real
    token, counted without padding; negative from the end, so -1 is the last real token ("batch d").
    ``head`` is the query head (from 0) of ``head_out``, and of no other point.
    ``resid_post`` of the last layer is not the last of transformers' ``output_hidden_states``, which is normed.

    Errors: ConfigError for an unknown hook point, a negative layer or head, another position, a head where there is
    none, or ``head_out`` without its head.
    """

    point: HookPoint
    layer: int
    position: Position = "all"
    head: int | None = None

    def __post_init__(self) -> None:
        if self.point not in tuple(HookPoint):
            raise ConfigError(f"Site: unknown hook point {self.point!r}. There are {', '.join(HookPoint)}.")
        object.__setattr__(self, "point", HookPoint(self.point))
        if not _is_index(self.layer) or self.layer < 0:
            raise ConfigError(f"Site: layer {self.layer!r} is not a layer number; layers count from 0.")
        if self.position != "all" and not _is_index(self.position):
            raise ConfigError(f"Site: position {self.position!r} is neither 'all' nor the index of a token.")
        of_head = self.point is HookPoint.HEAD_OUT
        if of_head and not (_is_index(self.head) and self.head >= 0):
            raise ConfigError(f"Site: head {self.head!r} is not a head number; heads of head_out count from 0.")
        if not of_head and self.head is not None:
            raise ConfigError(f"Site: head {self.head!r} at {self.point}; only head_out has heads.")

    def __str__(self) -> str:
        head = "" if self.head is None else f".{self.head}"
        where = "" if self.position == "all" else f"[{self.position}]"
        return f"{self.point}.{self.layer}{head}{where}"


def at_every_layer(point: HookPoint, *, n_layers: int) -> tuple[Site, ...]:
    """The sites of one hook point (not of a head) at layers 0 to ``n_layers - 1``, all positions."""
    return tuple(Site(point, layer) for layer in range(n_layers))


def _is_index(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
