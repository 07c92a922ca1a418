"""Gemma 3 (text): the parts of Llama, with a norm after attention and after the MLP as well.

What a sublayer adds to the residual stream is the output of its post-norm, so ``attn_out`` and ``mlp_out`` are read
there. Embeddings are scaled by the square root of the width inside the embedding module.
"""

from __future__ import annotations

from dataclasses import replace

from assay.models.families.family import Place
from assay.models.families.llama import LLAMA
from assay.models.sites import HookPoint

GEMMA3 = replace(
    LLAMA,
    name="gemma3",
    model_types=("gemma3_text",),
    places={
        **LLAMA.places,
        HookPoint.ATTN_OUT: Place("post_attention_layernorm", "output"),
        HookPoint.RESID_MID: Place("pre_feedforward_layernorm", "input"),
        HookPoint.MLP_OUT: Place("post_feedforward_layernorm", "output"),
    },
    softcap_field="final_logit_softcapping",
)
