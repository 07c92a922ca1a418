"""Writing safetensors whose header is known before the first tensor: each tensor goes straight to its place."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.errors import ModelError

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["SHARD_BYTES", "Shape", "Shard", "sharded", "write_shards"]

SHARD_BYTES = 5_000_000_000
_WIDTHS = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}


class Shape(NamedTuple):
    """Name, type as safetensors names it, and shape of one tensor to come."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        """Bytes of the tensor."""
        count = _WIDTHS[self.dtype]
        for size in self.shape:
            count *= size
        return count


class Shard(NamedTuple):
    """One file to come and its tensors in order."""

    file: str
    tensors: tuple[Shape, ...]


def sharded(shapes: Sequence[Shape], *, shard_bytes: int = SHARD_BYTES) -> list[Shard]:
    """Files of at most ``shard_bytes`` (a larger tensor has one of its own); tensors by width of type, then by name."""
    groups: list[list[Shape]] = [[]]
    size = 0
    for one in sorted(shapes, key=lambda one: (-_WIDTHS[one.dtype], one.name)):
        if groups[-1] and size + one.n_bytes > shard_bytes:
            groups.append([])
            size = 0
        groups[-1].append(one)
        size += one.n_bytes
    if len(groups) == 1:
        return [Shard("model.safetensors", tuple(groups[0]))]
    return [
        Shard(f"model-{place:05d}-of-{len(groups):05d}.safetensors", tuple(one))
        for place, one in enumerate(groups, start=1)
    ]


def write_shards(folder: Path, shards: Sequence[Shard], make: Callable[[str], Tensor]) -> dict[str, str]:
    """Write every tensor that ``make`` gives by name, one at a time; the SHA-256 of each tensor's bytes by name.

    Raises:
        ModelError: a tensor of another size than its header says, or a disk that is full.
    """
    digests: dict[str, str] = {}
    try:
        for shard in shards:
            with (folder / shard.file).open("wb", buffering=0) as file:
                _all_of(file, _header(shard.tensors))
                for one in shard.tensors:
                    data = _bytes(make(one.name))
                    if data.nbytes != one.n_bytes:
                        raise ModelError(
                            f"merge: tensor {one.name!r} has {data.nbytes} bytes, {one.n_bytes} announced."
                        )
                    digests[one.name] = hashlib.sha256(data).hexdigest()
                    _all_of(file, data)
                    del data
    except OSError as error:
        raise ModelError(f"merge: {folder} cannot be written ({error.strerror}). Free some space.") from error
    if len(shards) > 1:
        _write_index(folder, shards)
    return digests


def _all_of(file: FileIO, data: bytes | memoryview) -> None:
    view = memoryview(data)
    while len(view):
        view = view[file.write(view) :]


def _bytes(tensor: Tensor) -> memoryview:
    import torch

    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().data


def _header(tensors: Sequence[Shape]) -> bytes:
    entries: dict[str, Mapping[str, object]] = {"__metadata__": {"format": "pt"}}
    start = 0
    for one in tensors:
        end = start + one.n_bytes
        entries[one.name] = {"dtype": one.dtype, "shape": list(one.shape), "data_offsets": [start, end]}
        start = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def _write_index(folder: Path, shards: Sequence[Shard]) -> None:
    total = sum(one.n_bytes for shard in shards for one in shard.tensors)
    places = {one.name: shard.file for shard in shards for one in shard.tensors}
    content = {"metadata": {"total_size": total}, "weight_map": dict(sorted(places.items()))}
    (folder / "model.safetensors.index.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
