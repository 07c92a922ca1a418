"""The toy decoder: size, hook points, identities, padding, initialisation."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from torch import Tensor

from assay.errors import ConfigError, ModelError, ShapeError
from assay.models.families import family_of
from assay.models.families.toy import TOY
from assay.models.hooks import blocks_of, capture
from assay.models.sites import STREAM_POINTS, Site
from assay.models.toy import Toy, ToyConfig, capture_points, hook_points, toy

SMALL = ToyConfig(width=32, n_layers=2, n_heads=4)
IDS = torch.tensor([[1, 5, 16, 7, 18, 9], [1, 6, 15, 8, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])


def identities(model: Toy, points: dict[str, Tensor]) -> list[bool]:
    """The five identities between hook points, one truth value a place."""
    layers = range(model.config.n_layers)
    biases = [block.attention.out.bias for block in model.blocks]
    return [
        torch.equal(points["embed"], points["resid_pre.0"]),
        *(torch.equal(points[f"resid_post.{a}"], points[f"resid_pre.{b}"]) for a, b in pairwise(layers)),
        *(torch.equal(points[f"attn_out.{i}"], points[f"head_out.{i}"].sum(2) + biases[i]) for i in layers),
        *(torch.equal(points[f"resid_mid.{i}"], points[f"resid_pre.{i}"] + points[f"attn_out.{i}"]) for i in layers),
        *(torch.equal(points[f"resid_post.{i}"], points[f"resid_mid.{i}"] + points[f"mlp_out.{i}"]) for i in layers),
    ]


def test_four_layers_have_802688_parameters_and_27_hook_points() -> None:
    model = Toy(ToyConfig())
    assert sum(weight.numel() for weight in model.parameters()) == ToyConfig().n_parameters == 802_688
    assert len(hook_points(ToyConfig())) == len(set(hook_points(ToyConfig()))) == 27
    assert ToyConfig(width=96).n_parameters == 454_560
    assert ToyConfig(n_layers=6).n_parameters == 1_199_232


def test_every_hook_point_is_captured_and_the_identities_hold_bitwise() -> None:
    model = toy(ToyConfig(), seed=1).requires_grad_(requires_grad=False)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(0)))
    points = capture_points(model, hook_points(model.config), IDS, MASK)
    assert tuple(points) == hook_points(model.config)
    assert all(identities(model, points))
    assert points["head_out.0"].shape == (2, 6, 4, 128)
    assert torch.equal(points["logits"], model(IDS, MASK).logits)
    assert torch.equal(points["logits"], torch.nn.functional.linear(points["ln_f"], model.tokens.weight))
    assert all(points[name].abs().mean() > 0.01 for name in points)
    assert not any(module._forward_hooks for module in model.modules())
    twin = {**points, "attn_out.1": points["attn_out.1"] + 1e-6}
    assert not all(identities(model, twin))


def test_sites_of_the_toy_are_those_of_every_family() -> None:
    model = toy(SMALL, seed=0)
    names = [(point, layer) for layer in range(2) for point in STREAM_POINTS]
    captured = capture(model, [Site(point, layer) for point, layer in names], IDS, MASK)
    points = capture_points(model, hook_points(SMALL), IDS, MASK)
    for point, layer in names:
        assert torch.equal(captured[Site(point, layer)], points[f"{point}.{layer}"])
    assert torch.equal(captured.logits, points["logits"])
    assert family_of("toy", where="here") is TOY
    assert len(blocks_of(model)) == 2
    for path in (TOY.embedding, TOY.final_norm, TOY.head, TOY.decoder):
        model.get_submodule(path)
    for projection in TOY.projections.values():
        assert model.blocks[0].get_submodule(projection.module).weight.ndim == 2


def test_the_packed_projections_are_where_the_family_says() -> None:
    model = toy(SMALL, seed=0)
    attention = model.blocks[0].attention
    x = torch.randn(1, 3, 32, generator=torch.Generator().manual_seed(0))
    parts = {key: attention.qkv.weight.view(4, 3, 8, 32)[:, TOY.projections[key].part[0]] for key in ("q", "k", "v")}  # type: ignore[index]
    q, k, v = (torch.einsum("btd,hcd->bhtc", x, parts[key]) for key in ("q", "k", "v"))
    weights = (q @ k.mT / 8**0.5).masked_fill(~torch.ones(3, 3).tril().bool(), -torch.inf).softmax(-1)
    by_hand = torch.einsum("bhtc,dhc->bthd", weights @ v, attention.out.weight.view(32, 4, 8))
    allowed = torch.ones(3, 3, dtype=torch.bool).tril()[None, None]
    torch.testing.assert_close(attention(x, allowed), by_hand, atol=1e-6, rtol=1e-5)


def test_padding_on_either_side_changes_no_real_row() -> None:
    model = toy(SMALL, seed=0)
    right = model(IDS, MASK).logits
    left = model(torch.tensor([[0, 0, 1, 6, 15, 8]]), torch.tensor([[0, 0, 1, 1, 1, 1]])).logits
    alone = model(IDS[1:, :4]).logits
    torch.testing.assert_close(left[0, 2:], right[1, :4], atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(alone[0], right[1, :4], atol=1e-6, rtol=1e-5)
    assert torch.equal(model(IDS).logits, model(IDS, torch.ones_like(IDS)).logits)
    assert bool(torch.isfinite(left).all())
    later = model(IDS.clone().index_fill_(1, torch.tensor([5]), 3)).logits
    assert torch.equal(later[:, :5], model(IDS).logits[:, :5])


def test_the_first_weights_depend_on_sizes_and_seed_alone() -> None:
    one, again, other = (dict(toy(SMALL, seed=seed).state_dict()) for seed in (3, 3, 4))
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not torch.equal(one["tokens.weight"], other["tokens.weight"])
    assert abs(float(one["blocks.0.mlp.up.weight"].std()) - 0.02) < 0.002
    assert abs(float(one["blocks.0.mlp.down.weight"].std()) - 0.01) < 0.001


def test_wrong_calls_are_refused() -> None:
    model = toy(SMALL, seed=0)
    with pytest.raises(ConfigError, match="3 heads do not divide the width 32"):
        ToyConfig(width=32, n_heads=3)
    with pytest.raises(ConfigError, match="'n_layers': 0"):
        ToyConfig(n_layers=0)
    with pytest.raises(ShapeError, match="at most 50 tokens"):
        model(torch.zeros(1, 51, dtype=torch.long))
    with pytest.raises(ShapeError, match=r"attention_mask \(1, 6\)"):
        model(IDS, MASK[:1])
    with pytest.raises(ModelError, match="has no cache"):
        model(IDS, use_cache=True)
    for names in (["resid_end.0"], ["embed", "embed"], ["resid_pre.2"]):
        with pytest.raises(ConfigError, match=r"name each of embed, resid_pre\.0"):
            capture_points(model, names, IDS)
