"""Tiny random models: the same bytes for the same parameters, and nobody else's random numbers moved."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from assay.errors import ConfigError
from assay.fetching import sha256_file
from assay.models.tiny import TINY_FAMILIES, TinyRandom, save_tiny, tiny_pretrained


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_the_same_parameters_give_the_same_bytes(tmp_path: Path, family: str) -> None:
    state = torch.random.get_rng_state()
    save_tiny(tmp_path / "a", TinyRandom(family, 1))
    assert torch.equal(torch.random.get_rng_state(), state)
    torch.rand(3)
    save_tiny(tmp_path / "b", TinyRandom(family, 1))
    save_tiny(tmp_path / "c", TinyRandom(family, 2))
    weights = [sha256_file(tmp_path / name / "model.safetensors") for name in "abc"]
    assert weights[0] == weights[1] != weights[2]
    torch.random.set_rng_state(state)


def test_parameters_decide_the_digest() -> None:
    sources = [
        TinyRandom("llama"),
        TinyRandom("llama", 1),
        TinyRandom("llama", width=64),
        TinyRandom("llama", n_layers=3),
    ]
    assert len({source.digest for source in [*sources, TinyRandom("mistral")]}) == 5
    assert TinyRandom("llama").digest == TinyRandom("llama", 0, 32, 2).digest
    assert len(TinyRandom("llama").digest) == 64


def test_a_source_is_ready_after_it_was_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    source, said = TinyRandom("qwen2", 5), []
    assert source.ready() is None
    assert source.fetch(progress=said.append) == source.ready()
    assert said == ["tiny random qwen2 (seed 5): width 32, 2 layers, made here"]


def test_the_tokenizer_is_of_bytes() -> None:
    tokenizer = tiny_pretrained("llama").tokenizer
    text = "Zażółć\n\tgęślą  你好 🙂<b>"
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert len(ids) == len(text.encode())
    assert tokenizer.decode(ids) == text
    assert max(ids) < 259


@pytest.mark.parametrize(
    ("family", "width", "n_layers", "word"),
    [("bert", 32, 2, "gpt_neox_sequential"), ("llama", 48, 2, "width 48"), ("llama", 32, 0, "0 layers")],
)
def test_impossible_parameters_are_refused(family: str, width: int, n_layers: int, word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        TinyRandom(family, 0, width, n_layers)
