"""Small checkpoints written by hand, in the families' names, for the tests of streaming."""

import json

import torch
from safetensors.torch import save_file

from assay.seeds import torch_stream

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 8,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 4,
    "intermediate_size": 12,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-6,
    "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"},
    "vocab_size": 11,
    "tie_word_embeddings": False,
    "dtype": "float32",
}
VOCABULARY = {f"t{place}": place for place in range(11)}


def weights(seed, *, layers=3, dtype=torch.float32, vocabulary=11):
    shapes = {
        "model.embed_tokens.weight": (vocabulary, 8),
        "model.norm.weight": (8,),
        "lm_head.weight": (vocabulary, 8),
    }
    for layer in range(layers):
        block = f"model.layers.{layer}"
        shapes |= {
            f"{block}.self_attn.q_proj.weight": (8, 8),
            f"{block}.self_attn.k_proj.weight": (4, 8),
            f"{block}.mlp.down_proj.weight": (8, 12),
            f"{block}.input_layernorm.weight": (8,),
        }
    return {
        name: torch.randn(shape, generator=torch_stream(seed, "weights", name)).to(dtype)
        for name, shape in shapes.items()
    }


def write(folder, tensors, *, shards=1, tokens=VOCABULARY, **config):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({**CONFIG, **config}))
    if tokens is not None:
        (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": tokens}, "added_tokens": []}))
    if shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return folder
    names = sorted(tensors, key=lambda name: hash(name[::-1]))
    places = {}
    for shard in range(shards):
        file = f"model-{shard + 1:05d}-of-{shards:05d}.safetensors"
        mine = {name: tensors[name] for name in names[shard::shards]}
        save_file(mine, folder / file)
        places |= dict.fromkeys(mine, file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))
    return folder
