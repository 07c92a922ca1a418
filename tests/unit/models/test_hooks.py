"""Capturing leaves the forward pass as it was and sees what really flows, in every family."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from assay.errors import ModelError, ShapeError
from assay.models.hooks import blocks_of, capture, noop, recording
from assay.models.pretrained import PretrainedModel
from assay.models.sites import STREAM_POINTS, HookPoint, Site, at_every_layer
from assay.models.tiny import TINY_FAMILIES, tiny_pretrained

SEQUENTIAL = [name for name in TINY_FAMILIES if name != "gpt_neox"]
IDS = torch.tensor([[2, 50, 60, 70, 80, 90, 100], [2, 51, 61, 71, 0, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0, 0]])
Tiny = Callable[[str], PretrainedModel]


def every_site(name: str) -> list[Site]:
    points = [point for point in STREAM_POINTS if name in SEQUENTIAL or point is not HookPoint.RESID_MID]
    return [site for point in points for site in at_every_layer(point, n_layers=3)]


def plain(pretrained: PretrainedModel) -> Tensor:
    with torch.no_grad():
        logits: Tensor = pretrained.model(input_ids=IDS, attention_mask=MASK, use_cache=False).logits
    return logits


def hook_counts(pretrained: PretrainedModel) -> Iterator[int]:
    for module in pretrained.model.modules():
        yield len(module._forward_hooks) + len(module._forward_pre_hooks)


@pytest.mark.parametrize("name", TINY_FAMILIES)
def test_capture_and_noop_are_bitwise_the_plain_pass(tiny: Tiny, name: str) -> None:
    pretrained = tiny(name)
    before = plain(pretrained)
    captured = capture(pretrained, every_site(name), IDS, MASK)
    assert torch.equal(captured.logits, before)
    assert set(captured.rows) == set(every_site(name))
    with noop(pretrained, every_site(name)):
        assert sum(hook_counts(pretrained)) == len(every_site(name))
        assert torch.equal(plain(pretrained), before)
    assert torch.equal(plain(pretrained), before)
    assert sum(hook_counts(pretrained)) == 0
    assert torch.equal(capture(pretrained.model, [], IDS, MASK).logits, before)


@pytest.mark.parametrize("name", TINY_FAMILIES)
def test_a_hook_that_writes_is_told_from_the_plain_pass(tiny: Tiny, name: str) -> None:
    pretrained = tiny(name)
    before = plain(pretrained)

    def write(module: nn.Module, args: Any, output: Tensor) -> Tensor:
        return output + 1e-3 * output.roll(1, dims=-1)

    handle = blocks_of(pretrained)[1].register_forward_hook(write)
    try:
        assert not torch.equal(plain(pretrained), before)
    finally:
        handle.remove()


@pytest.mark.parametrize("name", SEQUENTIAL)
def test_a_sequential_block_adds_up(tiny: Tiny, name: str) -> None:
    captured = capture(tiny(name), every_site(name), IDS, MASK)
    for layer in range(3):
        pre, attn, mid, mlp, post = (captured[Site(point, layer)] for point in STREAM_POINTS)
        assert torch.equal(pre + attn, mid)
        assert torch.equal(mid + mlp, post)
        assert attn.abs().mean() > 0.01
        assert mlp.abs().mean() > 0.01


def test_a_parallel_block_adds_up_and_has_no_middle(tiny: Tiny) -> None:
    captured = capture(tiny("gpt_neox"), every_site("gpt_neox"), IDS, MASK)
    for layer in range(3):
        pre, attn, mlp, post = (captured[Site(p, layer)] for p in STREAM_POINTS if p is not HookPoint.RESID_MID)
        assert torch.equal(mlp + attn + pre, post)
    with pytest.raises(ModelError, match=r"resid_mid\.0 asked.*parallel.*use_parallel_residual=True"):
        capture(tiny("gpt_neox"), [Site(HookPoint.RESID_MID, 0)], IDS)


@pytest.mark.parametrize("name", TINY_FAMILIES)
def test_layers_chain_and_agree_with_output_hidden_states(tiny: Tiny, name: str) -> None:
    pretrained = tiny_pretrained(name, seed=3, width=64, n_layers=3)
    captured = capture(pretrained, every_site(name), IDS, MASK)
    with torch.no_grad():
        theirs = pretrained.model(input_ids=IDS, attention_mask=MASK, output_hidden_states=True).hidden_states
        embedded = pretrained.model.get_submodule(pretrained.family.embedding)(IDS)
        last = captured[Site(HookPoint.RESID_POST, 2)]
        normed = pretrained.model.get_submodule(pretrained.family.final_norm)(last)
    assert torch.equal(captured[Site(HookPoint.RESID_PRE, 0)], embedded)
    for layer in range(2):
        assert torch.equal(captured[Site(HookPoint.RESID_POST, layer)], captured[Site(HookPoint.RESID_PRE, layer + 1)])
        assert torch.equal(captured[Site(HookPoint.RESID_POST, layer)], theirs[layer + 1])
    assert torch.equal(normed, theirs[3])
    assert not torch.allclose(last, theirs[3])


def test_what_was_captured_is_a_copy(tiny: Tiny) -> None:
    pretrained = tiny("llama")
    clean = capture(pretrained, [Site(HookPoint.RESID_POST, 0)], IDS, MASK)[Site(HookPoint.RESID_POST, 0)]

    def edit_in_place(module: nn.Module, args: tuple[Tensor, ...]) -> None:
        args[0].add_(1.0)

    handle = blocks_of(pretrained)[1].register_forward_pre_hook(edit_in_place)
    try:
        captured = capture(pretrained, [Site(HookPoint.RESID_POST, 0)], IDS, MASK)
    finally:
        handle.remove()
    assert torch.equal(captured[Site(HookPoint.RESID_POST, 0)], clean)


def test_foreign_hooks_stay_and_own_ones_go_even_after_an_error(tiny: Tiny) -> None:
    pretrained = tiny("llama")
    fired: list[str] = []

    def foreign(module: nn.Module, args: Any, output: Tensor) -> None:
        fired.append("foreign")

    handle = blocks_of(pretrained)[0].register_forward_hook(foreign)
    try:
        sites = every_site("llama")
        capture(pretrained, sites, IDS, MASK)
        assert fired == ["foreign"]
        with pytest.raises(IndexError):
            capture(pretrained, sites, torch.tensor([[10**6]]))
        with pytest.raises(KeyError, match="mine"), recording(pretrained, sites, read=lambda site, hidden: hidden):
            raise KeyError("mine")
        assert sum(hook_counts(pretrained)) == 1
    finally:
        handle.remove()


@pytest.mark.parametrize("side", ["right", "left"])
def test_positions_count_real_tokens(tiny: Tiny, side: str) -> None:
    ids, mask = (IDS, MASK) if side == "right" else (IDS.clone(), MASK.clone())
    if side == "left":
        ids[1], mask[1] = IDS[1].roll(3), MASK[1].roll(3)
    sites = [Site(HookPoint.RESID_POST, 1, position) for position in ("all", 0, 2, -1)]
    every, first, third, last = (capture(tiny("llama"), sites, ids, mask)[site] for site in sites)
    start = [0, 0 if side == "right" else 3]
    assert torch.equal(first, every[[0, 1], start])
    assert torch.equal(third, every[[0, 1], [2, start[1] + 2]])
    assert torch.equal(last, every[[0, 1], [6, start[1] + 3]])


@pytest.mark.parametrize("position", [4, -5])
def test_a_line_too_short_for_a_position_is_named(tiny: Tiny, position: int) -> None:
    with pytest.raises(ShapeError, match=r"line 1 of the batch has 4 real tokens \(1 of 2 lines"):
        capture(tiny("llama"), [Site(HookPoint.RESID_POST, 1, position)], IDS, MASK)


def test_wrong_calls_are_refused(tiny: Tiny) -> None:
    site = Site(HookPoint.RESID_POST, 0)
    with pytest.raises(ModelError, match=r"resid_post\.3 asked, but LlamaForCausalLM has layers 0 to 2"):
        capture(tiny("llama"), [Site(HookPoint.RESID_POST, 3)], IDS)
    with pytest.raises(ModelError, match=r"asked twice for resid_post\.0"):
        capture(tiny("llama"), [site, site], IDS)
    with pytest.raises(ShapeError, match=r"input_ids \(2, 7\) and attention_mask \(1, 7\)"):
        capture(tiny("llama"), [site], IDS, MASK[:1])
    with recording(tiny("llama"), [site], read=lambda site, hidden: hidden.clone()):
        plain(tiny("llama"))
        with pytest.raises(ModelError, match=r"resid_post\.0 was reached twice"):
            plain(tiny("llama"))


def test_an_edited_number_of_layers_is_noticed() -> None:
    pretrained = tiny_pretrained("llama", n_layers=2)
    pretrained.model.config.num_hidden_layers = 1
    with pytest.raises(ModelError, match=r"is not the list of 1 blocks"):
        blocks_of(pretrained)
