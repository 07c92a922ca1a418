"""Written files: byte by byte what safetensors writes and reads, in shards that no tensor is torn by."""

import hashlib
import json
import struct

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from assay.errors import ModelError
from assay.merge.writer import Shape, Shard, sharded, write_shards

NAMES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def shapes(tensors):
    return [Shape(name, NAMES[tensor.dtype], tuple(tensor.shape)) for name, tensor in tensors.items()]


def written(folder, tensors, **options):
    shards = sharded(shapes(tensors), **options)
    return shards, write_shards(folder, shards, tensors.__getitem__)


@pytest.mark.parametrize("kind", NAMES, ids=str)
def test_every_type_comes_back(kind, tmp_path):
    tensors = {"w": torch.arange(6).reshape(3, 2).to(kind), "scalar": torch.tensor(1).to(kind)}
    tensors["turned"] = tensors["w"].T
    _, digests = written(tmp_path, tensors)
    back = load_file(tmp_path / "model.safetensors")
    assert set(back) == set(tensors)
    for name, tensor in tensors.items():
        assert back[name].dtype == kind
        assert torch.equal(back[name], tensor)
        data = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        assert digests[name] == hashlib.sha256(data).hexdigest()


def test_empty_tensors(tmp_path):
    _, digests = written(tmp_path, {"w": torch.zeros(0, 3), "v": torch.ones(1)})
    assert load_file(tmp_path / "model.safetensors")["w"].shape == (0, 3)
    assert digests["w"] == hashlib.sha256(b"").hexdigest()


def test_the_bytes_of_a_file(tmp_path):
    """Header of a multiple of 8 bytes, filled with blanks; wide types first, so that every tensor lies aligned."""
    tensors = {"a": torch.tensor([1], dtype=torch.int8), "b": torch.tensor([2.0], dtype=torch.float64)}
    written(tmp_path, tensors | {"c": torch.tensor([3], dtype=torch.int8)})
    header = (
        '{"__metadata__":{"format":"pt"},"b":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},'
        '"a":{"dtype":"I8","shape":[1],"data_offsets":[8,9]},"c":{"dtype":"I8","shape":[1],"data_offsets":[9,10]}}'
    )
    padded = header.encode() + b" " * (-len(header) % 8)
    assert len(padded) > len(header)
    expected = struct.pack("<Q", len(padded)) + padded + struct.pack("<d", 2.0) + b"\x01\x03"
    assert (tmp_path / "model.safetensors").read_bytes() == expected
    with safe_open(tmp_path / "model.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt"}


def test_bytes_are_counted():
    assert Shape("w", "F32", (2, 3)).n_bytes == 24
    assert Shape("w", "BF16", ()).n_bytes == 2
    assert Shape("w", "F64", (0, 3)).n_bytes == 0


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (120, ["wxyz"]),
        (119, ["wxy", "z"]),
        (100, ["wxy", "z"]),
        (80, ["wx", "yz"]),
        (79, ["w", "xy", "z"]),
        (1, ["w", "x", "y", "z"]),
    ],
)
def test_shards_are_filled_up_to_their_limit(limit, expected):
    given = [Shape("z", "I8", (20,)), Shape("y", "I16", (10,)), Shape("x", "F32", (10,)), Shape("w", "F64", (5,))]
    found = sharded(given, shard_bytes=limit)
    assert ["".join(one.name for one in shard.tensors) for shard in found] == expected
    n = len(expected)
    names = [f"model-{place:05d}-of-{n:05d}.safetensors" for place in range(1, n + 1)]
    assert [shard.file for shard in found] == (["model.safetensors"] if n == 1 else names)


def test_five_gigabytes_a_shard_by_default():
    given = [Shape(name, "I8", (2_500_000_000,)) for name in "abc"]
    assert [[one.name for one in shard.tensors] for shard in sharded(given)] == [["a", "b"], ["c"]]


def test_no_tensors_are_an_empty_file():
    assert sharded([]) == [Shard("model.safetensors", ())]


def test_the_index_of_shards(tmp_path):
    tensors = {name: torch.full((2,), float(place)) for place, name in enumerate("cab")}
    written(tmp_path, tensors, shard_bytes=16)
    text = (tmp_path / "model.safetensors.index.json").read_text(encoding="utf-8")
    first, second = (f"model-0000{place}-of-00002.safetensors" for place in (1, 2))
    content = {"metadata": {"total_size": 24}, "weight_map": {"a": first, "b": first, "c": second}}
    assert text == json.dumps(content, indent=2) + "\n"
    assert load_file(tmp_path / second).keys() == {"c"}


def test_one_file_has_no_index(tmp_path):
    written(tmp_path, {"a": torch.ones(1)})
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_another_size_than_announced(tmp_path):
    shards = sharded([Shape("w", "F32", (3,))])
    with pytest.raises(ModelError, match=r"tensor 'w' has 8 bytes, 12 announced"):
        write_shards(tmp_path, shards, lambda name: torch.ones(2))


def test_a_folder_that_cannot_be_written(tmp_path):
    shards = sharded([Shape("w", "F32", (1,))])
    with pytest.raises(ModelError, match=rf"{tmp_path}/none cannot be written \(No such file or directory\)"):
        write_shards(tmp_path / "none", shards, lambda name: torch.ones(1))
