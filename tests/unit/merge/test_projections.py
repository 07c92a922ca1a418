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


class Neox(torch.nn.Module):
    """The parts of a GPT-NeoX block that are carried, with biases, in a narrow type."""

    def __init__(self):
        super().__init__()
        self.attention = torch.nn.ModuleDict(
            {"dense": torch.nn.Linear(4, 4), "query_key_value": torch.nn.Linear(4, 12)}
        )
        self.mlp = torch.nn.ModuleDict({"dense_h_to_4h": torch.nn.Linear(4, 8), "dense_4h_to_h": torch.nn.Linear(8, 4)})
        self.to(torch.bfloat16)


def test_biases_are_read_and_written():
    block = Neox()
    read = read_block(block, GPT_NEOX)
    assert list(read) == ["o", "up", "down"]
    assert read["o"].weight.shape == (4, 4)
    assert torch.equal(read["down"].bias, block.mlp["dense_4h_to_h"].bias)
    assert not read["up"].weight.requires_grad
    assert not read["up"].bias.requires_grad
    read["up"].weight.add_(1)
    read["up"].bias.add_(1)
    assert torch.equal(block.mlp["dense_h_to_4h"].weight + 1, read["up"].weight)
    before = {name: tensor.clone() for name, tensor in block.state_dict().items()}
    write_block(block, GPT_NEOX, weights={"up": read["up"]})
    changed = [name for name, tensor in block.state_dict().items() if not torch.equal(before[name], tensor)]
    assert changed == ["mlp.dense_h_to_4h.weight", "mlp.dense_h_to_4h.bias"]
    assert torch.equal(block.mlp["dense_h_to_4h"].bias, read["up"].bias)
    assert block.mlp["dense_h_to_4h"].bias.requires_grad
    assert (read_block(llama_block(), LLAMA)["o"].bias, set(read_block(llama_block(), LLAMA))) == (
        None,
        {"o", "up", "gate", "down"},
    )


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (
            {"o": Linear(torch.zeros(4, 4), torch.zeros(4))},
            ShapeError,
            r"^write_block: o\.weight is \(4, 4\) of torch\.float32, the block has \(4, 4\) of torch\.bfloat16\.",
        ),
        (
            {"o": Linear(torch.zeros(4, 4, dtype=torch.bfloat16))},
            ShapeError,
            r"^write_block: o\.bias is absent, the block has \(4,\) of torch\.bfloat16\.",
        ),
        (
            {"o": Linear(torch.zeros(4, 4, dtype=torch.bfloat16), torch.zeros(3, dtype=torch.bfloat16))},
            ShapeError,
            r"^write_block: o\.bias is \(3,\) of torch\.bfloat16, the block has",
        ),
        ({"q": Linear(torch.zeros(4, 4))}, ModelError, r"^projections: gpt_neox has no matrix 'q' of its own"),
        ({"gate": Linear(torch.zeros(4, 4))}, ModelError, r"^projections: gpt_neox has no matrix 'gate' of its own"),
    ],
)
def test_what_is_refused_changes_nothing(weights, error, message):
    block = Neox()
    before = {name: tensor.clone() for name, tensor in block.state_dict().items()}
    good = {"up": Linear(*(part + 1 for part in read_block(block, GPT_NEOX)["up"]))}
    with pytest.raises(error, match=message):
        write_block(block, GPT_NEOX, weights=good | weights)
    assert all(torch.equal(before[name], tensor) for name, tensor in block.state_dict().items())


def test_modules_of_another_kind():
    block = Neox()
    block.attention["dense"] = torch.nn.Identity()
    with pytest.raises(ModelError, match=r"^projections: attention\.dense of gpt_neox is a Identity, not a Linear\."):
        read_block(block, GPT_NEOX)


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
