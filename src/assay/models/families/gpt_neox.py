"""GPT-NeoX (Pythia): q, k and v packed head by head; attention and MLP side by side unless the configuration says not.

A parallel block computes mlp(ln2(x)) + attn(ln1(x)) + x, in this order of summation.
"""

from __future__ import annotations

from assay.models.families.family import Family, Place, Projection
from assay.models.sites import HookPoint

GPT_NEOX = Family(
    name="gpt_neox",
    model_types=("gpt_neox",),
    decoder="gpt_neox",
    blocks="gpt_neox.layers",
    embedding="gpt_neox.embed_in",
    final_norm="gpt_neox.final_layer_norm",
    head="lm_head",
    attention="attention",
    mlp="mlp",
    places={
        HookPoint.RESID_PRE: Place("", "input"),
        HookPoint.HEAD_OUT: Place("attention.dense", "input"),
        HookPoint.ATTN_OUT: Place("post_attention_dropout", "output"),
        HookPoint.RESID_MID: Place("post_attention_layernorm", "input"),
        HookPoint.MLP_OUT: Place("post_mlp_dropout", "output"),
        HookPoint.RESID_POST: Place("", "output"),
    },
    projections={
        "q": Projection("attention.query_key_value", (0, 3)),
        "k": Projection("attention.query_key_value", (1, 3)),
        "v": Projection("attention.query_key_value", (2, 3)),
        "o": Projection("attention.dense"),
        "up": Projection("mlp.dense_h_to_4h"),
        "down": Projection("mlp.dense_4h_to_h"),
    },
    parallel_field="use_parallel_residual",
)
