"""Families as data: every path exists, and the named projections are what the blocks compute with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from assay.errors import ModelError
from assay.models.families import FAMILIES, family_of
from assay.models.hooks import blocks_of, capture
from assay.models.pretrained import PretrainedModel
from assay.models.sites import HookPoint, Site
from assay.models.tiny import TINY_FAMILIES

IDS = torch.tensor([[2, 50, 60, 70, 80, 90]])


@pytest.mark.parametrize("name", TINY_FAMILIES)
def test_every_path_leads_to_a_module(tiny: Callable[[str], PretrainedModel], name: str) -> None:
    pretrained = tiny(name)
    family = pretrained.family
    for path in (family.decoder, family.blocks, family.embedding, family.final_norm, family.head):
        pretrained.model.get_submodule(path)
    assert pretrained.model.get_submodule(family.embedding) is pretrained.model.get_input_embeddings()
    assert pretrained.model.get_submodule(family.head) is pretrained.model.get_output_embeddings()
    for block in blocks_of(pretrained):
        for path in (family.attention, family.mlp, *(place.module for place in family.places.values())):
            block.get_submodule(path)
    assert set(family.places) == set(HookPoint)


@pytest.mark.parametrize("name", TINY_FAMILIES)
def test_the_mlp_recomputed_from_its_projections(tiny: Callable[[str], PretrainedModel], name: str) -> None:
    pretrained = tiny(name)
    family, block = pretrained.family, blocks_of(pretrained)[1]
    parallel = name == "gpt_neox"
    read = Site(HookPoint.RESID_PRE if parallel else HookPoint.RESID_MID, 1)
    out = Site(HookPoint.MLP_OUT, 1)
    captured = capture(pretrained, [read, out], IDS)
    parts: dict[str, Any] = {key: block.get_submodule(family.projections[key].module) for key in family.projections}
    norms: dict[str, Any] = dict(block.named_children())
    if family.name == "gpt_neox":
        hidden = parts["down"](functional.gelu(parts["up"](norms["post_attention_layernorm"](captured[read]))))
    elif family.name == "gemma3":
        normed = norms["pre_feedforward_layernorm"](captured[read])
        inner = functional.gelu(parts["gate"](normed), approximate="tanh") * parts["up"](normed)
        hidden = norms["post_feedforward_layernorm"](parts["down"](inner))
    else:
        normed = norms["post_attention_layernorm"](captured[read])
        hidden = parts["down"](functional.silu(parts["gate"](normed)) * parts["up"](normed))
    torch.testing.assert_close(captured[out], hidden)


@pytest.mark.parametrize("name", TINY_FAMILIES)
def test_attention_at_the_first_token_is_its_value_projected(tiny: Callable[[str], PretrainedModel], name: str) -> None:
    """The first token attends to itself alone, so attn_out there is o(v(norm(x))), heads repeated over their group."""
    pretrained = tiny(name)
    family, block, config = pretrained.family, blocks_of(pretrained)[1], pretrained.model.config
    pre, out = Site(HookPoint.RESID_PRE, 1, 0), Site(HookPoint.ATTN_OUT, 1, 0)
    captured = capture(pretrained, [pre, out], IDS)
    modules: dict[str, Any] = dict(block.named_children())
    value = _projected(pretrained, "v", modules["input_layernorm"](captured[pre]))
    heads = value.view(1, -1, 16)
    heads = heads.repeat_interleave(config.num_attention_heads // heads.shape[1], dim=1)
    hidden = block.get_submodule(family.projections["o"].module)(heads.reshape(1, -1))
    if family.name == "gemma3":
        hidden = modules["post_attention_layernorm"](hidden)
    torch.testing.assert_close(captured[out], hidden)


def _projected(pretrained: PretrainedModel, key: str, rows: Tensor) -> Tensor:
    projection = pretrained.family.projections[key]
    packed: Tensor = blocks_of(pretrained)[1].get_submodule(projection.module)(rows)
    if projection.part is None:
        return packed
    i, n = projection.part
    return packed.view(len(rows), -1, n, 16)[:, :, i].reshape(len(rows), -1)


def test_an_unknown_model_type_lists_the_families() -> None:
    assert family_of("qwen2", where="here") is FAMILIES["llama"]
    for wrong in ("bert", None, ["llama"]):
        with pytest.raises(ModelError, match=r"here: model_type .*gemma3_text, gpt_neox, llama, mistral, qwen2"):
            family_of(wrong, where="here")
