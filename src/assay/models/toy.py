"""Toy decoder: pre-norm, learned positions, tied output, every head's contribution computed, every place a hook point.

A model of n layers has 3 + 6 n hook points: ``embed``, ``ln_f``, ``logits``, and in each block ``resid_pre``,
``head_out``, ``attn_out``, ``resid_mid``, ``mlp_out``, ``resid_post``. Between them these hold bitwise, because the
forward pass is written so::

    embed               = resid_pre of layer 0
    resid_post of l     = resid_pre of l + 1
    attn_out            = head_out.sum(2) + bias of the output projection
    resid_mid           = resid_pre + attn_out
    resid_post          = resid_mid + mlp_out
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, final

import torch
from torch import Tensor, nn

from assay.axes import Bool, Float, Int
from assay.errors import ConfigError, ModelError, ShapeError
from assay.seeds import stream

__all__ = ["Toy", "ToyConfig", "ToyOutput", "capture_points", "hook_points", "toy"]

_BLOCK_POINTS = ("resid_pre", "head_out", "attn_out", "resid_mid", "mlp_out", "resid_post")
_STD = 0.02


@final
@dataclass(frozen=True)
class ToyConfig:
    """Sizes of a toy decoder; the MLP is four times as wide as the stream. Defaults: 802,688 parameters.

    Parameters = n_layers (12 width^2 + 13 width) + 2 width + (vocabulary + positions) width.

    Raises:
        ConfigError: a size below 1, or heads that do not divide the width.
    """

    width: int = 128
    n_layers: int = 4
    n_heads: int = 4
    vocabulary: int = 23
    positions: int = 50

    def __post_init__(self) -> None:
        wrong = {name: size for name, size in asdict(self).items() if type(size) is not int or size < 1}
        if wrong:
            raise ConfigError(f"ToyConfig: {wrong}; every size is a whole number, 1 or more.")
        if self.width % self.n_heads:
            raise ConfigError(f"ToyConfig: {self.n_heads} heads do not divide the width {self.width}.")

    @property
    def n_parameters(self) -> int:
        """Number of parameters; the output shares the token embedding."""
        d = self.width
        return self.n_layers * (12 * d * d + 13 * d) + 2 * d + (self.vocabulary + self.positions) * d

    @property
    def model_type(self) -> str:
        """Name of the family, as configurations of transformers have it."""
        return "toy"

    @property
    def num_hidden_layers(self) -> int:
        """``n_layers``, under the name that configurations of transformers have."""
        return self.n_layers

    @property
    def num_attention_heads(self) -> int:
        """``n_heads``, under the name that configurations of transformers have."""
        return self.n_heads


class ToyOutput(NamedTuple):
    """What a forward pass returns, in the form of transformers."""

    logits: Float[Tensor, "batch token vocabulary"]


@final
class Attention(nn.Module):
    """Causal self-attention that returns each head's own contribution, before they are summed.

    ``qkv`` is packed head by head, as GPT-NeoX packs it; ``out`` maps all heads, and its bias is added after the sum.
    """

    def __init__(self, config: ToyConfig) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)

    def forward(
        self, x: Float[Tensor, "batch token d"], allowed: Bool[Tensor, "batch 1 token token"]
    ) -> Float[Tensor, "batch token head d"]:
        """Contribution z_h W_O,h of every head h."""
        batch, tokens, width = x.shape
        size = width // self.n_heads
        packed = self.qkv(x).view(batch, tokens, self.n_heads, 3, size)
        q, k, v = packed.permute(3, 0, 2, 1, 4)
        scores = (q @ k.transpose(-1, -2)) * size**-0.5
        z = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1) @ v
        by_head = z.permute(1, 0, 2, 3).reshape(self.n_heads, batch * tokens, size)
        weights = self.out.weight.view(width, self.n_heads, size).permute(1, 2, 0)
        return torch.bmm(by_head, weights).view(self.n_heads, batch, tokens, width).permute(1, 2, 0, 3)


@final
class Mlp(nn.Module):
    """down(GELU(up(x))), hidden width four times the stream."""

    def __init__(self, config: ToyConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.width, 4 * config.width)
        self.down = nn.Linear(4 * config.width, config.width)

    def forward(self, x: Float[Tensor, "batch token d"]) -> Float[Tensor, "batch token d"]:
        """What the MLP adds to the stream."""
        added: Tensor = self.down(nn.functional.gelu(self.up(x)))
        return added


@final
class Block(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x)), every intermediate passed through its hook point."""

    def __init__(self, config: ToyConfig) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(config.width)
        self.attention = Attention(config)
        self.norm_mlp = nn.LayerNorm(config.width)
        self.mlp = Mlp(config)
        self.resid_pre = nn.Identity()
        self.head_out = nn.Identity()
        self.attn_out = nn.Identity()
        self.resid_mid = nn.Identity()
        self.mlp_out = nn.Identity()
        self.resid_post = nn.Identity()

    def forward(
        self, x: Float[Tensor, "batch token d"], allowed: Bool[Tensor, "batch 1 token token"]
    ) -> Float[Tensor, "batch token d"]:
        """The stream as the block leaves it."""
        pre = self.resid_pre(x)
        heads = self.head_out(self.attention(self.norm_attention(pre), allowed))
        attn = self.attn_out(heads.sum(2) + self.attention.out.bias)
        mid = self.resid_mid(pre + attn)
        mlp = self.mlp_out(self.mlp(self.norm_mlp(mid)))
        post: Tensor = self.resid_post(mid + mlp)
        return post


@final
class Toy(nn.Module):
    """The decoder. Made by ``toy(config, seed=...)``; called as models of transformers are, keyword by keyword."""

    def __init__(self, config: ToyConfig) -> None:
        super().__init__()
        self.config = config
        self.tokens = nn.Embedding(config.vocabulary, config.width)
        self.places = nn.Embedding(config.positions, config.width)
        self.embed = nn.Identity()
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layers))
        self.ln_f = nn.LayerNorm(config.width)
        self.logits = nn.Identity()

    def forward(
        self,
        input_ids: Int[Tensor, "batch token"],
        attention_mask: Int[Tensor, "batch token"] | None = None,
        *,
        use_cache: bool = False,
    ) -> ToyOutput:
        """Logits of the next token. Positions count the real tokens of a line from 0, whichever side is padded.

        Without a mask nothing is padding; the pass is then bitwise that of a mask of ones.

        Raises:
            ModelError: ``use_cache=True``; there is no cache.
            ShapeError: ids or mask of another shape, or more tokens than positions.
        """
        if use_cache:
            raise ModelError("toy: use_cache=True asked, a toy model has no cache. Pass the whole line again.")
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        if input_ids.ndim != 2 or mask.shape != input_ids.shape or input_ids.shape[1] > self.config.positions:
            raise ShapeError(
                f"toy: input_ids {tuple(input_ids.shape)}, attention_mask {tuple(mask.shape)}; both must be of the one "
                f"shape (batch, token) with at most {self.config.positions} tokens."
            )
        x = self.embed(self.tokens(input_ids) + self.places((mask.cumsum(dim=1) - 1).clamp(min=0)))
        allowed = _allowed(mask.bool())
        for block in self.blocks:
            x = block(x, allowed)
        return ToyOutput(self.logits(nn.functional.linear(self.ln_f(x), self.tokens.weight)))


def toy(config: ToyConfig, *, seed: int) -> Toy:
    """A toy decoder at step 0; its weights depend on ``config`` and ``seed`` alone, never on what it will learn.

    Matrices and embeddings are normal with standard deviation 0.02, the projections that write to the residual stream
    0.02 / sqrt(2 n_layers); biases 0, norms 1. Equal on every platform.

    Source: the initialisation of GPT-2 (Radford et al. 2019).
    """
    model = Toy(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim < 2:
                parameter.fill_(1.0 if name.endswith("weight") else 0.0)
                continue
            writes = name.endswith(("attention.out.weight", "mlp.down.weight"))
            std = _STD / (2 * config.n_layers) ** 0.5 if writes else _STD
            draws = stream(seed, "toy", *asdict(config).values(), name).standard_normal(tuple(parameter.shape))
            parameter.copy_(torch.from_numpy(std * draws))
    return model


def hook_points(config: ToyConfig) -> tuple[str, ...]:
    """Names of the 3 + 6 n_layers hook points in order of computation, ``resid_mid.2`` for the one of layer 2."""
    blocks = (f"{point}.{layer}" for layer in range(config.n_layers) for point in _BLOCK_POINTS)
    return ("embed", *blocks, "ln_f", "logits")


def capture_points(
    model: Toy,
    names: Sequence[str],
    input_ids: Int[Tensor, "batch token"],
    attention_mask: Int[Tensor, "batch token"] | None = None,
) -> dict[str, Tensor]:
    """Copies of the tensors at hook points, by name, in one forward pass without gradients.

    Axes: "batch token d"; of ``head_out`` "batch token head d"; of ``logits`` "batch token vocabulary".
    Residual rows and contributions can also be had through ``assay.models.hooks.capture`` and ``Site``.

    Raises:
        ConfigError: an unknown name, or one asked twice.
        ShapeError: as the forward pass.
    """
    unknown = sorted(set(names) - set(hook_points(model.config)))
    if unknown or len(set(names)) != len(names):
        raise ConfigError(
            f"capture_points: {unknown or list(names)}; name each of {', '.join(hook_points(model.config))} once."
        )
    found: dict[str, Tensor] = {}
    with ExitStack() as handles, torch.no_grad():
        for name, module in _modules(model, names):

            def keep(_: nn.Module, args: Any, output: Tensor, name: str = name) -> None:
                found[name] = output.detach().clone()

            handles.callback(module.register_forward_hook(keep).remove)
        model(input_ids, attention_mask)
    return found


def _modules(model: Toy, names: Sequence[str]) -> Iterator[tuple[str, nn.Module]]:
    for name in names:
        point, _, layer = name.partition(".")
        yield name, model.get_submodule(f"blocks.{layer}.{point}" if layer else point)


def _allowed(real: Bool[Tensor, "batch token"]) -> Bool[Tensor, "batch 1 token token"]:
    """Who may look at whom: real tokens before it, and every token itself (so that padding stays finite)."""
    tokens = real.shape[1]
    causal = torch.ones(tokens, tokens, dtype=torch.bool, device=real.device).tril()
    itself = torch.eye(tokens, dtype=torch.bool, device=real.device)
    return ((causal & real[:, None, :]) | itself)[:, None]
