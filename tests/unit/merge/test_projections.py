"""Blocks are read and written through their family, and nothing else changes."""

import pytest
import torch

from assay.errors import ModelError, ShapeError
from assay.merge.projections import read_block, write_block
from assay.merge.transported import Linear
from assay.models.families.gpt_neox import GPT_NEOX
from assay.models.families.llama import LLAMA


def llama_block():
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=11,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=1,
        num_attention_heads=4,
        num_key_value_heads=2,
    )
    return LlamaForCausalLM(config).model.layers[0]


def test_read_and_write_back():
    block = llama_block()
    before = {name: tensor.clone() for name, tensor in block.state_dict().items()}
    weights = read_block(block, LLAMA)
    assert set(weights) == {"o", "up", "gate", "down"}
    assert weights["down"].weight.shape == (16, 24)
    write_block(block, LLAMA, weights=weights)
    assert all(torch.equal(before[name], tensor) for name, tensor in block.state_dict().items())
    write_block(block, LLAMA, weights={"up": Linear(weights["up"].weight + 1)})
    changed = [name for name, tensor in block.state_dict().items() if not torch.equal(before[name], tensor)]
    assert changed == ["mlp.up_proj.weight"]


def test_refused():
    block = llama_block()
    with pytest.raises(ShapeError, match=r"up.weight is \(2, 2\) .* the block has \(24, 16\)"):
        write_block(block, LLAMA, weights={"up": Linear(torch.zeros(2, 2))})
    with pytest.raises(ShapeError, match=r"up.bias is \(24,\) .* absent"):
        write_block(block, LLAMA, weights={"up": Linear(torch.zeros(24, 16), torch.zeros(24))})
    with pytest.raises(ModelError, match="gpt_neox has no matrix 'q' of its own"):
        write_block(block, GPT_NEOX, weights={"q": Linear(torch.zeros(2, 2))})
    with pytest.raises(ModelError, match="no matrix 'gate'"):
        write_block(block, GPT_NEOX, weights={"gate": Linear(torch.zeros(2, 2))})
