"""The toy decoder of ``assay.models.toy``: every hook point is a module of its own, so places are its names."""

from __future__ import annotations

from assay.models.families.family import Family, Place, Projection
from assay.models.sites import HookPoint

TOY = Family(
    name="toy",
    model_types=("toy",),
    decoder="",
    blocks="blocks",
    embedding="tokens",
    final_norm="ln_f",
    head="logits",
    attention="attention",
    mlp="mlp",
    places={point: Place(point.value, "output") for point in HookPoint},
    projections={
        "q": Projection("attention.qkv", (0, 3)),
        "k": Projection("attention.qkv", (1, 3)),
        "v": Projection("attention.qkv", (2, 3)),
        "o": Projection("attention.out"),
        "up": Projection("mlp.up"),
        "down": Projection("mlp.down"),
    },
)
