"""Llama, and Qwen2, whose blocks have the same parts under the same names."""

from __future__ import annotations

from assay.models.families.family import Family, Place, Projection
from assay.models.sites import HookPoint

LLAMA = Family(
    name="llama",
    model_types=("llama", "qwen2"),
    decoder="model",
    blocks="model.layers",
    embedding="model.embed_tokens",
    final_norm="model.norm",
    head="lm_head",
    attention="self_attn",
    mlp="mlp",
    places={
        HookPoint.RESID_PRE: Place("", "input"),
        HookPoint.HEAD_OUT: Place("self_attn.o_proj", "input"),
        HookPoint.ATTN_OUT: Place("self_attn", "output"),
        HookPoint.RESID_MID: Place("post_attention_layernorm", "input"),
        HookPoint.MLP_OUT: Place("mlp", "output"),
        HookPoint.RESID_POST: Place("", "output"),
    },
    projections={
        "q": Projection("self_attn.q_proj"),
        "k": Projection("self_attn.k_proj"),
        "v": Projection("self_attn.v_proj"),
        "o": Projection("self_attn.o_proj"),
        "gate": Projection("mlp.gate_proj"),
        "up": Projection("mlp.up_proj"),
        "down": Projection("mlp.down_proj"),
    },
)
