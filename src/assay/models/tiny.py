"""Tiny random models of every family with a byte-level tokenizer, made here: for tests and for the tier ``tiny``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, final

from assay.errors import ConfigError
from assay.fetching import cache_root, install_folder
from assay.models.pretrained import PretrainedModel, open_pretrained, quiet
from assay.seeds import torch_stream

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

__all__ = ["TINY_FAMILIES", "TinyRandom", "save_tiny", "tiny_pretrained"]

_VERSION = 1
_SPECIALS = ("<pad>", "<eos>", "<bos>")
_VOCABULARY = 256 + len(_SPECIALS)

TINY_FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "mistral": ("mistral", {"sliding_window": 16}),
    "qwen2": ("qwen2", {}),
    "gemma3": ("gemma3_text", {"sliding_window": 16, "query_pre_attn_scalar": 16, "final_logit_softcapping": 2.0}),
    "gpt_neox": ("gpt_neox", {"use_parallel_residual": True, "num_key_value_heads": None}),
    "gpt_neox_sequential": ("gpt_neox", {"use_parallel_residual": False, "num_key_value_heads": None}),
}


@final
@dataclass(frozen=True)
class TinyRandom:
    """A source of random weights: same fields, same bytes. Width is that of the residual stream, in heads of 16.

    Tokens are bytes; ``qwen2`` and the GPT-NeoX kinds have no BOS token, the others have one.
    Errors: ConfigError for an unknown family, a width that is no multiple of 32, or no layer.
    """

    family: str
    seed: int = 0
    width: int = 32
    n_layers: int = 2

    def __post_init__(self) -> None:
        if self.family not in TINY_FAMILIES:
            raise ConfigError(f"TinyRandom: family {self.family!r}; there are {', '.join(TINY_FAMILIES)}.")
        if self.width <= 0 or self.width % 32 or self.n_layers < 1:
            raise ConfigError(
                f"TinyRandom: width {self.width}, {self.n_layers} layers; give a multiple of 32 and at least 1 layer."
            )

    @property
    def label(self) -> str:
        return f"tiny random {self.family} (seed {self.seed})"

    @property
    def digest(self) -> str:
        text = json.dumps({**asdict(self), "version": _VERSION}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def describe(self) -> str:
        return f"{self.label}: width {self.width}, {self.n_layers} layers, made here"

    def ready(self) -> Path | None:
        return self._folder if self._folder.is_dir() else None

    def fetch(self, *, progress: Callable[[str], None] | None = None) -> Path:
        if progress is not None:
            progress(self.describe())
        return install_folder(lambda folder: save_tiny(folder, self), self._folder)

    @property
    def _folder(self) -> Path:
        return cache_root() / "models" / f"tiny-{self.family}-{self.digest[:12]}"


def tiny_pretrained(family: str, *, seed: int = 0, width: int = 32, n_layers: int = 2) -> PretrainedModel:
    """The tiny random model of these parameters, opened like any other. Errors: ConfigError as ``TinyRandom``."""
    return open_pretrained(TinyRandom(family, seed, width, n_layers))


def save_tiny(folder: Path, source: TinyRandom) -> None:
    """Write the model of ``source`` and its tokenizer into ``folder`` as transformers would."""
    with quiet():
        _model(source).save_pretrained(folder)
        _tokenizer(source).save_pretrained(folder)


def _model(source: TinyRandom) -> PreTrainedModel:
    import torch
    import transformers

    causal: Any = transformers.AutoModelForCausalLM
    model_type, options = TINY_FAMILIES[source.family]
    settings = {
        "vocab_size": _VOCABULARY,
        "hidden_size": source.width,
        "intermediate_size": 2 * source.width,
        "num_hidden_layers": source.n_layers,
        "num_attention_heads": source.width // 16,
        "num_key_value_heads": source.width // 32,
        "head_dim": 16,
        "max_position_embeddings": 1024,
        "pad_token_id": 0,
        "eos_token_id": 1,
        "bos_token_id": 2 if _has_bos(source.family) else None,
    }
    config = transformers.AutoConfig.for_model(model_type, **{**settings, **options})
    with torch.random.fork_rng(devices=[]):
        model: PreTrainedModel = causal.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            draws = torch_stream(source.seed, "tiny", source.family, source.width, source.n_layers, name)
            noise = torch.empty_like(parameter).normal_(generator=draws)
            if parameter.ndim == 2:
                parameter.copy_(noise / parameter.shape[1] ** 0.5)
            else:
                parameter.add_(0.1 * noise)
    return model


def _tokenizer(source: TinyRandom) -> PreTrainedTokenizerFast:
    import transformers
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate([*_SPECIALS, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in _SPECIALS])
    names = {"pad_token": "<pad>", "eos_token": "<eos>"}
    if _has_bos(source.family):
        names["bos_token"] = "<bos>"
    fast: Any = transformers.PreTrainedTokenizerFast
    return cast("PreTrainedTokenizerFast", fast(tokenizer_object=tokenizer, **names))


def _has_bos(family: str) -> bool:
    return family not in ("qwen2", "gpt_neox", "gpt_neox_sequential")
