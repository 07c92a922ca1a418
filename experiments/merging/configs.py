"""Configurations of the merging study: one frozen dataclass an experiment, one function a tier."""

from __future__ import annotations

from dataclasses import dataclass, replace

LANGUAGES = ("en", "zh", "pt", "pl", "it")


@dataclass(frozen=True)
class Representations:
    """What `merging.representations` compares, and how carefully.

    ``models`` are spelled as `assay.models.weights_source.source_of` reads them. ``text`` is ``help-corpus`` (its
    held-out devtest split) or ``synthetic``; its first ``sentences`` in the order of the hashes of their ids are read.
    ``draws`` is for every cluster bootstrap, ``shuffles`` for the sham and p-value of the last layers, and
    ``mean_shuffles`` for the mean shams: at each depth, and among sentences of like length. ``fit_share`` of the
    clusters fit the retrieval maps and choose the best layer pair; the rest score both.
    """

    models: tuple[str, ...] = ("smollm2-135m", "gemma3-270m")
    languages: tuple[str, ...] = LANGUAGES
    text: str = "help-corpus"
    sentences: int = 1012
    draws: int = 2000
    shuffles: int = 999
    mean_shuffles: int = 20
    fit_share: float = 0.5
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
        models=("tiny:llama:1", "tiny:gemma3:2"),
        languages=("en", "pt"),
        text="synthetic",
        sentences=120,
        draws=200,
        shuffles=99,
        mean_shuffles=4,
    )
