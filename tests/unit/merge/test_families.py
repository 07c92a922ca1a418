"""Checkpoints as transformers 5 writes them: every family merges, and what comes out is opened by transformers."""

import pytest
import torch

from assay.merge.operator import OPERATORS
from assay.merge.recipe import parse_recipe
from assay.merge.streaming import merge_checkpoints
from assay.models.pretrained import open_pretrained
from assay.models.tiny import TINY_FAMILIES, TinyRandom, save_tiny
from assay.models.weights_source import LocalFolder

TIES = """
merge_method: ties
base_model: ROOT/m0
models:
  - {model: ROOT/m1, parameters: {weight: 0.6, density: 0.5}}
  - {model: ROOT/m2, parameters: {weight: 0.4, density: [0.2, 0.8]}}
"""
STACK = """
merge_method: passthrough
slices:
  - sources: [{model: ROOT/m0, layer_range: [0, 2]}]
  - sources: [{model: ROOT/m1, layer_range: [1, 2]}]
"""


@pytest.mark.parametrize("family", TINY_FAMILIES)
def test_merged_models_open(family, tmp_path):
    for seed in range(3):
        (tmp_path / f"m{seed}").mkdir()
        save_tiny(tmp_path / f"m{seed}", TinyRandom(family, seed))
    for name, text, n_layers in (("ties", TIES, 2), ("stack", STACK, 3)):
        merge_checkpoints(parse_recipe(text.replace("ROOT", str(tmp_path)), list(OPERATORS)), tmp_path / name)
        opened = open_pretrained(LocalFolder(tmp_path / name))
        assert opened.n_layers == n_layers
        tokens = torch.arange(12).reshape(1, 12)
        assert bool(torch.isfinite(opened.model(tokens).logits).all())
