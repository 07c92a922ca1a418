"""Configurations of the merging study: one frozen dataclass an experiment, one function a tier."""

from __future__ import annotations

from dataclasses import dataclass, replace

LANGUAGES = ("en", "zh", "pt", "pl", "it")


@dataclass(frozen=True)
class Representations:
    """What `merging.representations` compares, and how carefully."""

    models: tuple[str, ...] = ("smollm2", "gemma3")
    """Names in `experiments.merging.views.SOURCES`."""
    languages: tuple[str, ...] = LANGUAGES
    text: str = "help-corpus"
    """``help-corpus`` (its held-out devtest split) or ``synthetic``."""
    sentences: int = 1012
    """Sentences a language, the first ones in the order of the hashes of their ids."""
    draws: int = 2000
    """Draws of every cluster bootstrap."""
    shuffles: int = 999
    """Shuffled pairings behind each sham and each p-value of the last layers."""
    layer_shuffles: int = 10
    """Shuffled pairings behind the sham of each point of the layer curves."""
    fit_share: float = 0.5
    """Share of the clusters that fit the retrieval maps and choose the layer pair; the others are scored."""
    seed: int = 20_261
    kind: str = "exploratory"


def open_weights() -> Representations:
    """Tier ``open``: SmolLM2-135M and Gemma 3 270M on the 1,012 held-out sentences of five languages."""
    return Representations()


def quick() -> Representations:
    """Tier ``quick``: the same models on the first 256 of these sentences."""
    return replace(open_weights(), sentences=256)


def tiny() -> Representations:
    """Tier ``tiny``: random models and synthetic text, for tests."""
    return replace(
        open_weights(),
        models=("tiny-llama", "tiny-gemma3"),
        languages=("en", "pt"),
        text="synthetic",
        sentences=40,
        draws=200,
        shuffles=99,
        layer_shuffles=2,
    )
