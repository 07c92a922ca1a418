"""Reading a checkpoint: where each tensor lies, what is no weight, and headers that cannot be right."""

import hashlib
import json
import struct

import pytest
import torch
from safetensors.torch import load_file, save_file

from assay.errors import ModelError
from assay.merge.checkpoint import Slot, is_buffer, is_embedding, open_checkpoint
from tests.unit.merge.checkpoints import CONFIG, VOCABULARY, weights, write

TYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8]
TYPES += [torch.uint8, torch.bool]


def raw(folder, header, data=b"", *, length=None):
    """A safetensors file of these bytes."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return str(folder)


def entry(start, end, *, dtype="U8", shape=None):
    return {"dtype": dtype, "shape": [end - start] if shape is None else shape, "data_offsets": [start, end]}


def test_slots_are_read_from_the_header(tmp_path):
    header = {"__metadata__": {"format": "pt"}, "w": entry(0, 4), "v": entry(4, 8, dtype="F16", shape=[1, 2])}
    text = json.dumps(header).encode()
    opened = open_checkpoint(raw(tmp_path / "a", header, b"abcdefgh"))
    file = tmp_path / "a" / "model.safetensors"
    assert opened.tensors == {
        "w": Slot(file, 8 + len(text), 4, "U8", (4,)),
        "v": Slot(file, 12 + len(text), 4, "F16", (1, 2)),
    }
    assert opened.read(opened.tensors["w"]).tolist() == list(b"abcd")
    assert (opened.name, opened.folder, opened.config) == (str(tmp_path / "a"), tmp_path / "a", CONFIG)
    assert (opened.left_out, opened.tied_head, opened.n_layers) == ({}, None, 3)


def test_every_type_is_read_as_it_was_written(tmp_path):
    tensors = {str(kind): torch.arange(6).reshape(2, 3).to(kind) for kind in TYPES}
    tensors |= {"empty": torch.zeros(0, 3), "scalar": torch.tensor(2.5)}
    opened = open_checkpoint(str(write(tmp_path / "a", tensors)))
    for name, tensor in tensors.items():
        found = opened.read(opened.tensors[name])
        assert (found.dtype, found.shape) == (tensor.dtype, tensor.shape)
        assert torch.equal(found, tensor)


def test_a_header_may_fill_the_file_and_no_more(tmp_path):
    text = json.dumps({"w": entry(0, 0)}).encode()
    assert open_checkpoint(raw(tmp_path / "a", text)).tensors["w"].n_bytes == 0
    for wrong in (len(text) + 1, 100_000_001, 2**64 - 1):
        with pytest.raises(ModelError, match="is no safetensors file, or it was cut"):
            open_checkpoint(raw(tmp_path / "a", text, length=wrong))
    (tmp_path / "a/model.safetensors").write_bytes(b"1234567")
    with pytest.raises(ModelError, match="is no safetensors file, or it was cut"):
        open_checkpoint(str(tmp_path / "a"))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"w": entry(0, 5)}, "ends before tensor 'w' does"),
        ({"w": entry(3, 2, shape=[0])}, "ends before tensor 'w' does"),
        ({"w": entry(-1, 3)}, "ends before tensor 'w' does"),
        ({"v": entry(0, 4), "w": entry(0, 2, dtype="F8")}, "tensor 'w' of .* is F8"),
        (b"{x}", "the header of .* cannot be read"),
    ],
    ids=str,
)
def test_headers_that_cannot_be_right(tmp_path, header, message):
    with pytest.raises(ModelError, match=message):
        open_checkpoint(raw(tmp_path / "a", header, b"abcd"))


def test_a_file_that_was_cut_after_it_was_opened(tmp_path):
    opened = open_checkpoint(raw(tmp_path / "a", {"w": entry(0, 4)}, b"abcd"))
    file = tmp_path / "a/model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ModelError, match=f"{file} ends before its tensors do"):
        opened.read(opened.tensors["w"])


def test_shards_are_those_of_the_index(tmp_path):
    folder = write(tmp_path / "a", weights(0), shards=3)
    save_file({"not": torch.zeros(1)}, folder / "model-00009-of-00003.safetensors")
    opened = open_checkpoint(str(folder))
    assert set(opened.tensors) == set(weights(0))
    for name, tensor in weights(0).items():
        assert torch.equal(opened.read(opened.tensors[name]), tensor)
    (folder / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(ModelError, match=f"{folder} lacks model-00002-of-00003.safetensors. Only"):
        open_checkpoint(str(folder))
    (folder / "model-00003-of-00003.safetensors").unlink()
    with pytest.raises(
        ModelError, match=r"lacks model-00002-of-00003.safetensors, model-00003-of-00003.safetensors\. "
    ):
        open_checkpoint(str(folder))
    for index in ({"weight_map": {}}, {"weight_map": [1]}, {}):
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        with pytest.raises(ModelError, match=f"{folder} lacks shards. Only"):
            open_checkpoint(str(folder))


def test_an_index_cannot_lead_out_of_its_folder(tmp_path):
    folder = write(tmp_path / "a", weights(0))
    save_file(weights(1), tmp_path / "model.safetensors")
    index = {"weight_map": dict.fromkeys(weights(0), "../model.safetensors")}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    opened = open_checkpoint(str(folder))
    assert {slot.file for slot in opened.tensors.values()} == {folder / "model.safetensors"}


def test_no_folder_and_no_configuration(tmp_path):
    with pytest.raises(ModelError, match="'nowhere' is not a folder"):
        open_checkpoint("nowhere")
    folder = write(tmp_path / "a", weights(0))
    (folder / "config.json").write_text("[1]")
    with pytest.raises(ModelError, match=f"{folder}/config.json holds list, not an object"):
        open_checkpoint(str(folder))
    (folder / "config.json").write_bytes(b'{"name": "\xff"}')
    with pytest.raises(ModelError, match=f"{folder}/config.json cannot be read"):
        open_checkpoint(str(folder))
    (folder / "config.json").unlink()
    with pytest.raises(ModelError, match=f"{folder}/config.json cannot be read"):
        open_checkpoint(str(folder))


@pytest.mark.parametrize("head", ["lm_head.weight", "embed_out.weight"])
@pytest.mark.parametrize("tied", [True, False, None])
def test_a_tied_head_is_left_out(tmp_path, head, tied):
    tensors = {"model.embed_tokens.weight": torch.ones(2, 2), head: torch.ones(2, 2), "x.position_ids": torch.ones(2)}
    config = {} if tied is None else {"tie_word_embeddings": tied}
    opened = open_checkpoint(str(write(tmp_path / "a", tensors, **config)))
    expected = {"x.position_ids": "buffer"} | ({head: "tied to the embedding"} if tied else {})
    assert opened.left_out == expected
    assert set(opened.tensors) == set(tensors) - set(expected)
    assert (opened.tied_head is not None) == bool(tied)
    if tied:
        assert torch.equal(opened.read(opened.tied_head), torch.ones(2, 2))


def test_a_tie_without_a_stored_head(tmp_path):
    tensors = {"model.embed_tokens.weight": torch.ones(2, 2)}
    opened = open_checkpoint(str(write(tmp_path / "a", tensors, tie_word_embeddings=True)))
    assert (opened.tied_head, opened.left_out, set(opened.tensors)) == (None, {}, set(tensors))


@pytest.mark.parametrize(
    ("config", "n"), [({"num_hidden_layers": 5, "n_layer": 7}, 5), ({"n_layer": 7}, 7), ({}, 0)], ids=str
)
def test_the_number_of_layers(tmp_path, config, n):
    folder = write(tmp_path / "a", weights(0))
    (folder / "config.json").write_text(json.dumps(config))
    assert open_checkpoint(str(folder)).n_layers == n


def test_names():
    buffers = ["h.0.attn.bias", "attention.masked_bias", "x.rotary_emb.inv_freq", "rotary_emb.original_inv_freq"]
    for name in (*buffers, "position_ids"):
        assert is_buffer(name) is True
    for name in ("h.0.attn.c_attn.bias", "attention.dense.bias", "x.position_ids.weight", "head.bias"):
        assert is_buffer(name) is False
    for name in ("model.embed_tokens.weight", "gpt_neox.embed_in.weight", "wte.weight"):
        assert is_embedding(name) is True
    for name in ("lm_head.weight", "wpe.weight", "embed_tokens.bias", "my_embed_in.weight"):
        assert is_embedding(name) is False


def test_vocabularies_are_token_strings_with_ids(tmp_path):
    folder = write(tmp_path / "a", weights(0))

    def digest(content):
        (folder / "tokenizer.json").write_text(json.dumps(content))
        return open_checkpoint(str(folder)).vocabulary()

    plain = {"model": {"vocab": VOCABULARY, "type": "BPE"}, "added_tokens": [{"id": 11}]}
    pairs = json.dumps([VOCABULARY, [{"id": 11}]], sort_keys=True).encode()
    assert digest(plain) == hashlib.sha256(pairs).hexdigest()
    turned = {"model": {"vocab": dict(reversed(VOCABULARY.items())), "type": "Unigram"}, "added_tokens": [{"id": 11}]}
    assert digest(turned) == digest(plain)
    assert digest(plain | {"added_tokens": []}) != digest(plain)
    assert digest({}) == hashlib.sha256(b"[null, null]").hexdigest()


def test_a_sentencepiece_model_is_the_vocabulary_if_there_is_no_other(tmp_path):
    folder = write(tmp_path / "a", weights(0), tokens=None)
    assert open_checkpoint(str(folder)).vocabulary() is None
    (folder / "tokenizer.model").write_bytes(b"pieces")
    assert open_checkpoint(str(folder)).vocabulary() == hashlib.sha256(b"pieces").hexdigest()
    (folder / "tokenizer.json").write_text("{}")
    assert open_checkpoint(str(folder)).vocabulary() == hashlib.sha256(b"[null, null]").hexdigest()


def test_what_is_written_is_what_safetensors_reads(tmp_path):
    folder = write(tmp_path / "a", weights(3))
    opened = open_checkpoint(str(folder))
    for name, tensor in load_file(folder / "model.safetensors").items():
        assert torch.equal(opened.read(opened.tensors[name]), tensor)
