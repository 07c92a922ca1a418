"""Hooked passes against transformers: plain forward, ``output_hidden_states``, ``output_attentions``, own hooks."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from assay.models.hooks import capture, noop
from assay.models.pretrained import PretrainedModel
from assay.models.sites import HookPoint, Site, at_every_layer
from assay.models.targets import bare_model, blocks_of
from assay.models.tiny import TINY_FAMILIES, tiny_pretrained
from assay.models.writing import Write, write

IDS = torch.tensor([[2, 50, 60, 70, 80, 90, 100], [2, 51, 61, 71, 0, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0]])
LAYERS = 3
EVERY = pytest.mark.parametrize("name", sorted(TINY_FAMILIES))


def opened(name: str) -> PretrainedModel:
    return tiny_pretrained(name, seed=3, width=64, n_layers=LAYERS)


@torch.no_grad()
def plain(pretrained: PretrainedModel, **asked: bool) -> object:
    return pretrained.model(input_ids=IDS, attention_mask=MASK, use_cache=False, **asked)


def heads_of(pretrained: PretrainedModel) -> list[Site]:
    heads = range(bare_model(pretrained).config.num_attention_heads)
    return [Site(HookPoint.HEAD_OUT, 1, head=head) for head in heads]


@EVERY
def test_a_hooked_pass_is_bitwise_the_plain_one(name: str) -> None:
    pretrained = opened(name)
    sites = [*at_every_layer(HookPoint.RESID_POST, n_layers=LAYERS), *heads_of(pretrained)]
    before = plain(pretrained).logits
    captured = capture(pretrained, sites, IDS, MASK)
    assert torch.equal(captured.logits, before)
    with noop(pretrained, sites):
        assert torch.equal(plain(pretrained).logits, before)
    theirs = plain(pretrained, output_hidden_states=True).hidden_states
    for layer in range(LAYERS - 1):
        assert torch.equal(captured[Site(HookPoint.RESID_POST, layer)], theirs[layer + 1])


def values(pretrained: PretrainedModel, rows: Tensor) -> Tensor:
    """v of every query head of layer 1, "batch head token size", from the normed rows that attention reads."""
    config, block = bare_model(pretrained).config, blocks_of(pretrained)[1]
    heads = config.num_attention_heads
    if config.model_type == "gpt_neox":
        packed = block.attention.query_key_value(block.input_layernorm(rows)).view(*rows.shape[:2], heads, 3, -1)
        return packed[:, :, :, 2].transpose(1, 2)
    v = block.self_attn.v_proj(block.input_layernorm(rows))
    v = v.view(*rows.shape[:2], config.num_key_value_heads, -1).transpose(1, 2)
    return v.repeat_interleave(heads // config.num_key_value_heads, dim=1)


@EVERY
def test_rows_of_heads_are_attention_times_values(name: str) -> None:
    pretrained = opened(name)
    pretrained.model.set_attn_implementation("eager")
    pre = Site(HookPoint.RESID_PRE, 1)
    captured = capture(pretrained, [pre, *heads_of(pretrained)], IDS, MASK)
    attention = plain(pretrained, output_attentions=True).attentions[1]
    with torch.no_grad():
        z = attention @ values(pretrained, captured[pre])
    real = MASK.bool()
    for head, site in enumerate(heads_of(pretrained)):
        torch.testing.assert_close(captured[site][real], z[:, head][real], rtol=1e-5, atol=1e-6)
        other = z[:, (head + 1) % len(heads_of(pretrained))]
        assert not torch.allclose(captured[site][real], other[real], rtol=1e-2)


@EVERY
def test_a_write_is_what_a_hook_of_torch_does(name: str) -> None:
    pretrained = opened(name)
    target = torch.randn(2, 7, 64, generator=torch.Generator().manual_seed(0))

    def hook(module: object, args: object, output: Tensor) -> Tensor:
        return output + 0.25 * (target - output)

    handle = blocks_of(pretrained)[1].register_forward_hook(hook)
    try:
        theirs = plain(pretrained).logits
    finally:
        handle.remove()
    ours = write(pretrained, [Write(Site(HookPoint.RESID_POST, 1), target, alpha=0.25)], IDS, MASK).logits
    assert torch.equal(ours, theirs)
    assert not torch.equal(ours, plain(pretrained).logits)
