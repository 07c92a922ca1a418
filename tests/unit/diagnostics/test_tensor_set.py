"""The tensor set: each rule of inclusion once, and why each of the others is out."""

import numpy as np
import pytest

from assay.diagnostics.tensor_set import GROUPS, float64_chunks, group_by_name, tensor_set
from assay.errors import ShapeError


def gpt_neox(seed=0, vocabulary=40, width=8):
    rng = np.random.default_rng(seed)
    layer = "gpt_neox.layers.0."
    return {
        "gpt_neox.embed_in.weight": rng.standard_normal((vocabulary, width)),
        layer + "attention.query_key_value.weight": rng.standard_normal((3 * width, width)),
        layer + "attention.query_key_value.bias": rng.standard_normal(3 * width),
        layer + "attention.bias": np.tril(np.ones((1, 1, 16, 16))),
        layer + "attention.masked_bias": np.array(-1e9),
        layer + "attention.rotary_emb.inv_freq": np.ones(2),
        layer + "input_layernorm.weight": np.ones(width),
        layer + "input_layernorm.bias": np.zeros(width),
        "gpt_neox.steps": np.arange(3),
        "embed_out.weight": rng.standard_normal((vocabulary, width)),
    }


def test_buffers_and_integers_are_out_and_groups_are_told():
    found = tensor_set(gpt_neox(0), gpt_neox(1), vocabulary="shared")
    assert {t.name.rsplit(".", 2)[-2] + "." + t.name.rsplit(".", 1)[-1]: t.group for t in found.tensors} == {
        "embed_in.weight": "embedding",
        "embed_out.weight": "embedding",
        "query_key_value.weight": "matrix",
        "query_key_value.bias": "bias",
        "input_layernorm.weight": "gain",
        "input_layernorm.bias": "bias",
    }
    assert {out.name.rsplit(".", 1)[-1]: out.reason for out in found.excluded} == {
        "bias": "a buffer (causal mask)",
        "masked_bias": "a buffer",
        "inv_freq": "a buffer",
        "steps": "int64 is no floating type",
    }
    assert found.n_params == 2 * 320 + 192 + 24 + 8 + 8


def test_other_vocabularies_leave_embeddings_and_heads_out_but_not_positions():
    made = [{**gpt_neox(seed), "transformer.wpe.weight": np.ones((4, 8))} for seed in (0, 1)]
    found = tensor_set(*made, vocabulary="different")
    assert [t.name for t in found.tensors if t.group == "embedding"] == ["transformer.wpe.weight"]
    assert {out.name for out in found.excluded if out.reason == "the vocabularies differ"} == {
        "gpt_neox.embed_in.weight",
        "embed_out.weight",
    }


@pytest.mark.parametrize("side", ["donor", "recipient"])
def test_tied_weights_count_once_whichever_side_ties_them(side):
    tied = gpt_neox(0)
    tied["embed_out.weight"] = tied["gpt_neox.embed_in.weight"]
    both = (tied, gpt_neox(1)) if side == "donor" else (gpt_neox(1), tied)
    found = tensor_set(*both, vocabulary="shared")
    assert ("embed_out.weight", f"tied to gpt_neox.embed_in.weight in the {side}") in found.excluded


def test_sources_that_read_at_each_access_are_not_taken_for_tied():
    """Memory of a tensor that was dropped is used again for the next; its address says nothing."""

    class Reader(dict):
        def __getitem__(self, name):
            return super().__getitem__(name).copy()

    made = Reader(gpt_neox(0)), Reader(gpt_neox(1))
    names = {t.name for t in tensor_set(*made, vocabulary="shared").tensors}
    assert {"embed_out.weight", "gpt_neox.embed_in.weight"} <= names
    said = tensor_set(*made, vocabulary="shared", tied={"embed_out.weight": "gpt_neox.embed_in.weight"})
    assert ("embed_out.weight", "tied to gpt_neox.embed_in.weight") in said.excluded


def test_torch_modules_with_tied_heads():
    import torch

    embed, head = torch.nn.Embedding(7, 4), torch.nn.Linear(4, 7, bias=False)
    head.weight = embed.weight
    state = torch.nn.ModuleDict({"lm_head": head, "embed_tokens": embed}).state_dict()
    found = tensor_set(dict(state), dict(state), vocabulary="shared")
    assert [t.name for t in found.tensors] == ["embed_tokens.weight"]


def test_what_only_one_side_has_or_has_otherwise_is_named():
    donor = {"a.weight": np.ones((2, 2)), "b.weight": np.ones((2, 2)), "c.weight": np.ones((2, 2))}
    recipient = {"a.weight": np.ones((2, 2)), "b.weight": np.ones((2, 3)), "d.weight": np.ones(1)}
    found = tensor_set(donor, recipient, vocabulary="shared")
    assert [t.name for t in found.tensors] == ["a.weight"]
    assert dict(found.excluded) == {
        "b.weight": "shape (2, 2) in the donor, (2, 3) in the recipient",
        "c.weight": "only the donor holds it",
        "d.weight": "only the recipient holds it",
    }
    with pytest.raises(ShapeError, match="of 2 tensors none"):
        tensor_set({"x": np.ones(1)}, {"y": np.ones(1)}, vocabulary="shared")


def test_a_subset_of_groups_says_what_it_leaves_out():
    found = tensor_set(gpt_neox(0), gpt_neox(1), vocabulary="shared")
    matrices = found.of("matrix")
    assert {t.group for t in matrices.tensors} == {"matrix"}
    assert len(matrices.excluded) == len(found.excluded) + len(found.tensors) - len(matrices.tensors)


@pytest.mark.parametrize(
    ("name", "shape", "group"),
    [
        ("model.embed_tokens.weight", (9, 4), "embedding"),
        ("lm_head.weight", (9, 4), "embedding"),
        ("model.layers.0.self_attn.q_proj.weight", (4, 4), "matrix"),
        ("model.layers.0.self_attn.q_norm.weight", (4,), "gain"),
        ("model.norm.weight", (4,), "gain"),
        ("transformer.h.0.ln_1.weight", (4,), "gain"),
        ("transformer.ln_f.weight", (4,), "gain"),
        ("layers.0.attention.b_O", (4,), "bias"),
        ("conv.weight", (4, 1, 3), "matrix"),
        ("layer_scale", (4,), "other"),
    ],
)
def test_groups_by_name(name, shape, group):
    assert group_by_name(name, shape) == group
    assert group in GROUPS


def test_a_user_can_name_groups():
    found = tensor_set(gpt_neox(0), gpt_neox(1), vocabulary="shared", group_of=lambda name, shape: "other")
    assert {t.group for t in found.tensors} == {"other"}


def test_chunks_are_float64_for_every_type():
    import torch

    for tensor in (np.arange(6, dtype=np.float16).reshape(2, 3), torch.arange(6).to(torch.bfloat16).reshape(2, 3)):
        (chunk,) = float64_chunks(tensor)
        assert chunk.dtype == np.float64
        assert chunk.tolist() == [0, 1, 2, 3, 4, 5]
    assert [len(chunk) for chunk in float64_chunks(np.zeros(2**20 + 5, dtype=np.float32))] == [2**20, 5]
