"""Whole checkpoints: bytes, shards, tied heads, buffers, integers, refusals before a weight, and what is recorded."""

import hashlib
import json
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from assay.errors import ConfigError, DataError, ModelError
from assay.merge.operator import OPERATORS
from assay.merge.recipe import parse_recipe
from assay.merge.streaming import MERGE_RECORD, merge_checkpoints
from tests.unit.merge.checkpoints import CONFIG, VOCABULARY, weights, write

LINEAR = """
merge_method: linear
models:
  - {model: ROOT/a, parameters: {weight: 0.25}}
  - {model: ROOT/b, parameters: {weight: 0.75}}
"""
DARE = """
merge_method: dare_ties
base_model: ROOT/a
models:
  - {model: ROOT/b, parameters: {weight: 1.0, density: 0.5}}
  - {model: ROOT/c, parameters: {weight: 1.0, density: 0.5}}
"""


def recipe(text, root):
    return parse_recipe(text.replace("ROOT", str(root)), list(OPERATORS))


def merge(text, root, out="out", **options):
    return merge_checkpoints(recipe(text, root), root / out, **options)


@pytest.fixture
def root(tmp_path):
    for seed, name in enumerate("abc"):
        write(tmp_path / name, weights(seed))
    return tmp_path


def test_every_tensor_is_the_operator_on_the_inputs(root):
    report = merge(LINEAR, root)
    result = load_file(root / "out/model.safetensors")
    a, b = weights(0), weights(1)
    assert set(result) == set(a)
    for name, tensor in result.items():
        torch.testing.assert_close(tensor, 0.25 * a[name] + 0.75 * b[name])
        assert report.tensors[name].sha256 == hashlib.sha256(tensor.numpy().tobytes()).hexdigest()
    record = json.loads((root / "out" / MERGE_RECORD).read_text())
    head = record["tensors"]["lm_head.weight"]
    assert head["operator"] == {"name": "linear", "normalize": True}
    assert head["per_input"] == {"weight": [0.25, 0.75]}
    assert (root / "out/tokenizer.json").read_bytes() == (root / "a/tokenizer.json").read_bytes()


@pytest.mark.parametrize("text", [LINEAR, DARE], ids=["linear", "dare_ties"])
def test_shards_change_no_byte(text, root, tmp_path):
    merge(text, root)
    for seed, name in enumerate("abc"):
        (root / name).rename(root / f"whole_{name}")
        write(root / name, weights(seed), shards=seed + 2)
    merge(text, root, "again")
    whole = (root / "out/model.safetensors").read_bytes()
    assert (root / "again/model.safetensors").read_bytes() == whole
    merge(text, root, "parts", shard_bytes=700)
    index = json.loads((root / "parts/model.safetensors.index.json").read_text())
    parts = {}
    for file in set(index["weight_map"].values()):
        assert (root / "parts" / file).stat().st_size < 2000
        parts |= load_file(root / "parts" / file)
    single = load_file(root / "out/model.safetensors")
    assert set(parts) == set(single) == set(index["weight_map"])
    assert all(torch.equal(parts[name], single[name]) for name in single)


def test_another_seed_is_another_merge(root):
    """The twin of the equal bytes."""
    merge(DARE, root)
    merge(DARE, root, "again", seed=1)
    one, other = (root / out / "model.safetensors" for out in ("out", "again"))
    assert one.read_bytes() != other.read_bytes()


def test_buffers_and_integers(root):
    for name, mask in (("a", 1), ("b", 2)):
        tensors = weights("ab".index(name))
        tensors["model.layers.0.attention.bias"] = torch.full((3,), float(mask))
        tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.ones(2)
        tensors["model.steps"] = torch.tensor([7])
        (root / name).rename(root / f"plain_{name}")
        write(root / name, tensors)
    report = merge(LINEAR, root)
    result = load_file(root / "out/model.safetensors")
    assert "model.layers.0.attention.bias" not in result
    assert result["model.steps"].tolist() == [7]
    assert report.left_out[f"{root}/a"] == {
        "model.layers.0.attention.bias": "buffer",
        "model.layers.0.self_attn.rotary_emb.inv_freq": "buffer",
    }
    (root / "b").rename(root / "old_b")
    write(root / "b", tensors | {"model.steps": torch.tensor([8])})
    with pytest.raises(ModelError, match="integers that differ"):
        merge(LINEAR, root, "never")


def tied(root, name, seed, *, head):
    tensors = weights(seed)
    if head == "none":
        del tensors["lm_head.weight"]
    elif head == "same":
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()
    (root / name).rename(root / f"untied_{name}")
    write(root / name, tensors, tie_word_embeddings=True)


def test_tied_heads_are_one_tensor(root):
    tied(root, "a", 0, head="same")
    tied(root, "b", 1, head="none")
    report = merge(LINEAR, root)
    assert "lm_head.weight" not in load_file(root / "out/model.safetensors")
    assert report.left_out[f"{root}/a"] == {"lm_head.weight": "tied to the embedding"}
    assert json.loads((root / "out/config.json").read_text())["tie_word_embeddings"] is True


def test_a_tie_that_is_none_is_refused(root):
    tied(root, "a", 0, head="different")
    tied(root, "b", 1, head="none")
    with pytest.raises(ModelError, match="its stored head differs"):
        merge(LINEAR, root)


def test_tied_and_untied_are_refused(root):
    tied(root, "b", 1, head="same")
    with pytest.raises(ModelError, match="tie_word_embeddings: False and True"):
        merge(LINEAR, root)


CHANGED = {
    "hidden_size": 16, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 16,
    "hidden_act": "gelu", "rms_norm_eps": 1e-3, "vocab_size": 12, "sliding_window": 128, "num_hidden_layers": 4,
    "rope_parameters": {"rope_theta": 5e5, "rope_type": "default"}, "model_type": "mistral",
}  # fmt: skip


@pytest.mark.parametrize("field", CHANGED)
def test_configurations_are_compared_before_weights(field, root):
    (root / "b/config.json").write_text(json.dumps({**CONFIG, field: CHANGED[field]}))
    size = (root / "b/model.safetensors").stat().st_size
    with (root / "b/model.safetensors").open("r+b") as file:
        file.seek(size - 8)
        file.write(b"\xff" * 8)
    field = {"rms_norm_eps": "norm_eps", "rope_parameters": "rope"}.get(field, field)
    with pytest.raises(ModelError, match=rf"not of one architecture(.|\n)*{field}: "):
        merge(LINEAR, root)
    assert not (root / "out").exists()


def test_spellings_of_one_architecture_are_equal(root):
    """transformers 4 wrote rope_theta and left out the defaults."""
    older = {key: value for key, value in CONFIG.items() if key not in ("rope_parameters", "head_dim", "dtype")}
    (root / "b/config.json").write_text(json.dumps({**older, "rope_theta": 10000.0, "torch_dtype": "float32"}))
    merge(LINEAR, root)


def test_vocabularies_are_compared(root):
    other = {**VOCABULARY, "t0": 1, "t1": 0}
    (root / "b").rename(root / "old_b")
    write(root / "b", weights(1), tokens=other)
    with pytest.raises(ModelError, match="different vocabularies"):
        merge(LINEAR, root)
    merge(LINEAR, root, vocabulary="exclude")
    result = load_file(root / "out/model.safetensors")
    assert torch.equal(result["lm_head.weight"], weights(0)["lm_head.weight"])
    assert not torch.equal(result["model.norm.weight"], weights(0)["model.norm.weight"])


def test_a_vocabulary_of_another_size_is_excluded(root):
    (root / "b").rename(root / "old_b")
    more = {**VOCABULARY, "t11": 11}
    write(root / "b", weights(1, vocabulary=12), tokens=more, vocab_size=12)
    with pytest.raises(ModelError, match="vocab_size: 11 and 12"):
        merge(LINEAR, root)
    merge(LINEAR, root, vocabulary="exclude")
    result = load_file(root / "out/model.safetensors")
    assert torch.equal(result["model.embed_tokens.weight"], weights(0)["model.embed_tokens.weight"])


def test_a_stack_of_layers(root):
    text = """
merge_method: passthrough
slices:
  - sources: [{model: ROOT/a, layer_range: [0, 2]}]
  - sources: [{model: ROOT/b, layer_range: [1, 3]}]
"""
    merge(text, root)
    result = load_file(root / "out/model.safetensors")
    assert json.loads((root / "out/config.json").read_text())["num_hidden_layers"] == 4
    down = "model.layers.{}.mlp.down_proj.weight"
    assert torch.equal(result[down.format(1)], weights(0)[down.format(1)])
    assert torch.equal(result[down.format(2)], weights(1)[down.format(1)])
    assert torch.equal(result["lm_head.weight"], weights(1)["lm_head.weight"])
    with pytest.raises(ConfigError, match="which has 3 layers"):
        merge(text.replace("[1, 3]", "[1, 4]"), root, "never")


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64"])
def test_types(name, root):
    merge(f"{LINEAR}out_dtype: {name}\n", root)
    result = load_file(root / "out/model.safetensors")
    assert {str(tensor.dtype) for tensor in result.values()} == {f"torch.{name}"}
    assert json.loads((root / "out/config.json").read_text())["dtype"] == name


def test_refusals_leave_nothing(root):
    tensors = weights(1)
    tensors["model.norm.weight"][0] = float("nan")
    (root / "b").rename(root / "old_b")
    write(root / "b", tensors)
    with pytest.raises(DataError, match=r"'model.norm.weight' of .*/b"):
        merge(LINEAR, root)
    assert sorted(path.name for path in root.iterdir()) == ["a", "b", "c", "old_b"]
    (root / "out").mkdir()
    with pytest.raises(ConfigError, match="is there already"):
        merge(LINEAR, root)


BAD = {
    "no folder": (lambda root: (root / "b").rename(root / "gone"), "is not a folder"),
    "no weights": (lambda root: (root / "b/model.safetensors").unlink(), "Only safetensors"),
    "cut": (lambda root: (root / "b/model.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0{"), "it was cut"),
    "no header": (lambda root: (root / "b/model.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{x"), "header of"),
    "no configuration": (lambda root: (root / "b/config.json").write_text("[]"), "not an object"),
}


@pytest.mark.parametrize("case", BAD)
def test_damaged_checkpoints(case, root):
    damage, message = BAD[case]
    damage(root)
    with pytest.raises(ModelError, match=message):
        merge(LINEAR, root)


def test_a_file_that_ends_early(root):
    path = root / "b/model.safetensors"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ModelError, match="ends before tensor"):
        merge(LINEAR, root)


def test_missing_tensors_are_not_made_up(root):
    tensors = weights(1)
    del tensors["model.layers.1.mlp.down_proj.weight"]
    (root / "b").rename(root / "old_b")
    write(root / "b", tensors)
    with pytest.raises(ModelError, match=r"has a tensor 'model.layers.1.mlp.down_proj.weight' and .*/b' has none"):
        merge(LINEAR, root)


def test_model_scope_over_a_checkpoint(root):
    text = DARE.replace("dare_ties", "ties") + "parameters: {scope: model}\n"
    merge(text, root)
    kept = json.loads((root / "out" / MERGE_RECORD).read_text())["tensors"]["model.norm.weight"]["operator"]["scope"]
    assert kept == "model"
    with pytest.raises(ConfigError, match="one weight and density"):
        merge(text.replace("density: 0.5", "density: [0.5, 0.6]"), root, "never")


MEMORY = """
import resource, sys
from pathlib import Path
import torch
from assay.merge.operator import OPERATORS
from assay.merge.recipe import parse_recipe
from assay.merge.streaming import merge_checkpoints
OPERATORS["ties"]
recipe = parse_recipe(Path(sys.argv[1]).read_text(), list(OPERATORS))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
merge_checkpoints(recipe, Path(sys.argv[2]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_stays_near_one_tensor_of_each_input(tmp_path):
    """48 MB in 12 tensors of 4 MB; three inputs. The whole of the inputs would be 144 MB."""
    tensors = {f"model.layers.{layer}.mlp.down_proj.weight": torch.randn(1024, 1024) for layer in range(12)}
    for name in "abc":
        write(tmp_path / name, tensors, num_hidden_layers=12)
    text = DARE.replace("dare_ties", "ties").replace("ROOT", str(tmp_path))
    (tmp_path / "recipe.yml").write_text(text)
    command = [sys.executable, "-c", MEMORY, str(tmp_path / "recipe.yml"), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 60_000
