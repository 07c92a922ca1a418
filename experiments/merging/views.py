"""A view is one model reading one language: its rows at every layer, and what reading costs it in nats."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import ConfigError
from assay.models.pretrained import open_pretrained
from assay.models.scoring import read_rows
from assay.models.weights_source import source_of
from assay.tasks.text import ParallelText, help_corpus, help_corpus_digest, synthetic_text, synthetic_text_digest


@dataclass(frozen=True)
class View:
    """One model (as `assay.models.weights_source.source_of` spells it) and one language, on the first ``sentences``."""

    model: str
    language: str
    text: str
    sentences: int

    @property
    def name(self) -> str:
        """The view in keys and figures, such as ``gemma3-270m-en``."""
        return re.sub(r"[^A-Za-z0-9]+", "-", f"{self.model}-{self.language}")


def text_of(name: str, sentences: int) -> ParallelText:
    """The parallel text that a configuration names.

    Raises:
        ConfigError: for a name other than ``help-corpus`` and ``synthetic``.
    """
    if name == "help-corpus":
        return help_corpus("devtest").take(sentences)
    if name == "synthetic":
        return synthetic_text(sentences)
    raise ConfigError(f"text {name!r} is not known. Use help-corpus or synthetic.")


def text_digest(name: str, sentences: int) -> str:
    """Digest of ``text_of(name, sentences)``, known before anything is fetched."""
    if name == "help-corpus":
        return help_corpus_digest("devtest", sentences)
    if name == "synthetic":
        return synthetic_text_digest(sentences)
    raise ConfigError(f"text {name!r} is not known. Use help-corpus or synthetic.")


def read_view(view: View) -> dict[str, Any]:
    """Rows (layer, item, d) pooled over the tokens of each sentence, and its nats, tokens, bytes and cluster."""
    text = text_of(view.text, view.sentences)
    read = read_rows(open_pretrained(source_of(view.model)), text.sentences[view.language])
    clusters = {name: number for number, name in enumerate(dict.fromkeys(text.clusters))}
    return {
        "rows": read.rows,
        "nats": read.scores.nats,
        "tokens": read.scores.tokens,
        "bytes": read.scores.bytes,
        "clusters": np.array([clusters[name] for name in text.clusters]),
    }
