"""A checkpoint on disk: configuration, and where each tensor lies in its safetensors files.

Tensors are read at their place, not mapped: pages of a mapping would count as memory of the process.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from assay.errors import ModelError

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["FLOATS", "HEADS", "TYPES", "Checkpoint", "Slot", "is_buffer", "is_embedding", "open_checkpoint"]

FLOATS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
TYPES = {
    **FLOATS,
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool",
}  # fmt: skip
HEADS = ("lm_head.weight", "embed_out.weight")
_BUFFER = re.compile(r"(^|\.)((attention|attn)\.(bias|masked_bias)|rotary_emb\.\w*inv_freq|position_ids)$")
_EMBEDDING = re.compile(r"(^|\.)(embed_tokens|embed_in|wte)\.weight$")
_LONGEST_HEADER = 100_000_000


class Slot(NamedTuple):
    """Where one tensor lies: file, first byte, number of bytes, type as safetensors names it, shape."""

    file: Path
    start: int
    n_bytes: int
    dtype: str
    shape: tuple[int, ...]


@final
@dataclass(frozen=True)
class Checkpoint:
    """An opened folder. ``tensors`` take part in a merge, each once; ``left_out`` says why others do not.

    ``tied_head`` is the stored copy of an embedding that the configuration ties, if there is one.
    """

    name: str
    folder: Path
    config: dict[str, Any]
    tensors: dict[str, Slot]
    left_out: dict[str, str]
    tied_head: Slot | None = None

    @property
    def n_layers(self) -> int:
        """Blocks, by the configuration."""
        return int(self.config.get("num_hidden_layers", self.config.get("n_layer", 0)))

    def read(self, slot: Slot) -> Tensor:
        """One tensor. Raises: ModelError if its file ends before it does."""
        import torch

        tensor = torch.empty(slot.shape, dtype=getattr(torch, TYPES[slot.dtype]))
        with slot.file.open("rb", buffering=0) as file:
            file.seek(slot.start)
            view = tensor.reshape(-1).view(torch.uint8).numpy().data
            done = 0
            while done < slot.n_bytes:
                count = file.readinto(view[done:])
                if not count:
                    raise ModelError(f"merge: {slot.file} ends before its tensors do. Fetch it again.")
                done += count
        return tensor

    def vocabulary(self) -> str | None:
        """SHA-256 of the token strings with their ids, or of tokenizer.model; None if the folder has no tokenizer."""
        path = self.folder / "tokenizer.json"
        if path.is_file():
            content = _json(path)
            pairs = (content.get("model", {}).get("vocab"), content.get("added_tokens"))
            return hashlib.sha256(json.dumps(pairs, sort_keys=True).encode()).hexdigest()
        path = self.folder / "tokenizer.model"
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def open_checkpoint(name: str) -> Checkpoint:
    """The checkpoint in the folder ``name``; headers and configuration are read, no weight.

    Raises:
        ModelError: no folder, no config.json, no safetensors, a missing shard, a damaged header, or a tied head that
            the configuration does not tie.
    """
    folder = Path(name)
    if not folder.is_dir():
        raise ModelError(f"merge: {name!r} is not a folder. Download the model and give its folder.")
    config = _json(folder / "config.json")
    slots: dict[str, Slot] = {}
    for file in _files(folder):
        slots |= _slots(file)
    left_out = {one: "buffer" for one in slots if is_buffer(one)}
    head = next((one for one in HEADS if one in slots), None)
    tied = bool(config.get("tie_word_embeddings"))
    if head and tied:
        left_out[head] = "tied to the embedding"
    tensors = {one: slot for one, slot in slots.items() if one not in left_out}
    return Checkpoint(name, folder, config, tensors, left_out, slots[head] if head and tied else None)


def is_buffer(name: str) -> bool:
    """Whether a name is that of a causal mask, a mask value, rotary frequencies or position ids: no weight."""
    return bool(_BUFFER.search(name))


def is_embedding(name: str) -> bool:
    """Whether a name is that of the token embedding."""
    return bool(_EMBEDDING.search(name))


def _files(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        shards = _json(index).get("weight_map")
        names = sorted(set(shards.values())) if isinstance(shards, dict) else []
        files = [folder / Path(str(name)).name for name in names]
    else:
        files = [folder / "model.safetensors"]
    if missing := [file.name for file in files if not file.is_file()] or ([] if files else ["shards"]):
        raise ModelError(
            f"merge: {folder} lacks {', '.join(missing)}. Only safetensors are read; convert pickled weights first."
        )
    return files


def _slots(file: Path) -> dict[str, Slot]:
    size = file.stat().st_size
    with file.open("rb") as handle:
        head = handle.read(8)
        length = struct.unpack("<Q", head)[0] if len(head) == 8 else size
        if length > min(size - 8, _LONGEST_HEADER):
            raise ModelError(f"merge: {file} is no safetensors file, or it was cut. Fetch it again.")
        try:
            header = json.loads(handle.read(length))
        except ValueError as error:
            raise ModelError(f"merge: the header of {file} cannot be read ({error}). Fetch it again.") from error
    slots = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        if entry["dtype"] not in TYPES:
            raise ModelError(f"merge: tensor {name!r} of {file} is {entry['dtype']}, which cannot be merged.")
        if not 0 <= start <= end <= size - 8 - length:
            raise ModelError(f"merge: {file} ends before tensor {name!r} does. Fetch it again.")
        slots[name] = Slot(file, 8 + length + start, end - start, entry["dtype"], tuple(entry["shape"]))
    return slots


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"merge: {path} cannot be read ({error}). Give the folder of a transformers model.") from error
    if not isinstance(content, dict):
        raise ModelError(f"merge: {path} holds {type(content).__name__}, not an object.")
    return content
