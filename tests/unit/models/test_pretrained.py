"""Opening: what is unsafe or incomplete is refused before the weights are read, and nothing is made up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from assay.errors import ModelError
from assay.models.pretrained import open_pretrained, preflight
from assay.models.tiny import TINY_FAMILIES, TinyRandom, save_tiny, tiny_pretrained
from assay.models.weights_source import LocalFolder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_tiny(tmp_path / "model", TinyRandom("llama"))
    return tmp_path / "model"


def edit(path: Path, **fields: object) -> None:
    content = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**content, **fields}))


@pytest.mark.parametrize("name", TINY_FAMILIES)
def test_an_opened_model_is_still_float32_and_eager(name: str) -> None:
    opened = tiny_pretrained(name, width=64, n_layers=3)
    assert not opened.model.training
    assert not any(parameter.requires_grad for parameter in opened.model.parameters())
    assert {parameter.dtype for parameter in opened.model.parameters()} == {torch.float32}
    assert opened.model.config._attn_implementation == "eager"
    assert (opened.n_layers, opened.width, opened.family.name) == (
        3,
        64,
        name.removesuffix("_sequential").replace("qwen2", "llama"),
    )
    assert opened.label == f"tiny random {name} (seed 0)"


def test_a_local_folder_opens_to_the_saved_tensors(folder: Path) -> None:
    opened = open_pretrained(LocalFolder(folder))
    state = opened.model.state_dict()
    for name, tensor in load_file(folder / "model.safetensors").items():
        assert torch.equal(state[name], tensor)
    assert (opened.label, opened.digest) == ("model", LocalFolder(folder).digest)


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def broken_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "lla')


def listed_config(folder: Path) -> None:
    (folder / "config.json").write_text("[]")


def code_in_config(folder: Path) -> None:
    edit(folder / "config.json", auto_map={"AutoModel": "evil.Model"})


def code_in_tokenizer(folder: Path) -> None:
    edit(folder / "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.T", None]})


def unknown_family(folder: Path) -> None:
    edit(folder / "config.json", model_type="bert")


def quantised(folder: Path) -> None:
    edit(folder / "config.json", quantization_config={"quant_method": "gptq"})


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def missing_shard(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    edit(folder / "model.safetensors.index.json", weight_map={"a": "model-00001-of-00002.safetensors"})


def no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def no_folder(folder: Path) -> None:
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        (no_folder, "is not a folder"),
        (no_config, r"config\.json does not exist"),
        (broken_config, r"config\.json cannot be read as JSON"),
        (listed_config, "holds list, not an object"),
        (code_in_config, r"config\.json has auto_map"),
        (code_in_tokenizer, r"tokenizer_config\.json has auto_map"),
        (unknown_family, r"'bert' belongs to no known family\. Known: gemma3_text"),
        (quantised, "quantised weights"),
        (pickled, r"pickled weights only \(pytorch_model\.bin\)"),
        (no_weights, r"no model\.safetensors"),
        (missing_shard, r"lacks model-00001-of-00002\.safetensors"),
        (no_tokenizer, "no tokenizer"),
    ],
)
def test_preflight_names_the_path_and_what_to_do(folder: Path, damage: Callable[[Path], None], word: str) -> None:
    assert preflight(folder).name == "llama"
    damage(folder)
    with pytest.raises(ModelError, match=word) as caught:
        open_pretrained(LocalFolder(folder)) if folder.exists() else preflight(folder)
    assert str(folder) in str(caught.value)


def test_a_missing_tensor_is_not_made_up(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors.pop("model.layers.1.mlp.down_proj.weight")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"1 missing keys .*model\.layers\.1\.mlp\.down_proj\.weight"):
        open_pretrained(LocalFolder(folder))


def test_a_tensor_too_many_is_not_passed_over(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    save_file(
        {**tensors, "model.layers.9.extra": torch.ones(2)}, folder / "model.safetensors", metadata={"format": "pt"}
    )
    with pytest.raises(ModelError, match=r"1 unexpected keys .*model\.layers\.9\.extra"):
        open_pretrained(LocalFolder(folder))


def test_a_configuration_of_another_width_is_refused(folder: Path) -> None:
    edit(folder / "config.json", intermediate_size=96)
    with pytest.raises(ModelError, match=str(folder)):
        open_pretrained(LocalFolder(folder))


def test_a_truncated_weights_file_is_named(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ModelError, match=r"cannot be opened .*fetch the model again"):
        open_pretrained(LocalFolder(folder))


def test_opening_leaves_the_settings_of_transformers_alone() -> None:
    from transformers.utils import logging

    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    tiny_pretrained("llama")
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


def test_without_docstrings_the_reason_is_told(tmp_path: Path) -> None:
    script = (
        "from assay.models.tiny import tiny_pretrained\n"
        "from assay.errors import ModelError\n"
        "try: tiny_pretrained('llama')\n"
        "except ModelError as error: print(error)\n"
    )
    command = [sys.executable, "-OO", "-c", script]
    environment = {**os.environ, "ASSAY_CACHE": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "transformers cannot be used under python -OO" in done.stdout
    assert not list((tmp_path / "models").glob("tiny*[!k]"))
