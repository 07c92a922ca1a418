"""The checkpoint of a training: one safetensors file, replaced as a whole, the same bytes for the same content."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from assay.errors import ModelError

__all__ = ["CHECKPOINT", "Checkpoint", "load_trained", "read_checkpoint", "write_checkpoint"]

CHECKPOINT = "checkpoint.safetensors"


class Checkpoint(NamedTuple):
    """Tensors by name (``model.*``, ``optimizer.*``, ``losses``), and what the training was."""

    tensors: dict[str, Tensor]
    identity: dict[str, Any]


def write_checkpoint(path: Path, tensors: Mapping[str, Tensor], *, identity: Mapping[str, Any]) -> None:
    """Write ``path`` at once or not at all: a kill leaves the earlier file as it was."""
    whole = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
    # One metadata key: safetensors writes several in an order that changes from process to process.
    content = safetensors.torch.save(whole, metadata={"assay": json.dumps(identity, sort_keys=True)})
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def read_checkpoint(path: Path) -> Checkpoint:
    """The content of ``path``.

    Raises:
        ModelError: no such file, a truncated one, or one that no training wrote.
    """
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            identity: dict[str, Any] = json.loads((file.metadata() or {})["assay"])
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(
            f"training: {path} is not a checkpoint of a training ({type(error).__name__}: {error}). Remove it, and "
            "the training starts again from step 0."
        ) from error
    return Checkpoint(tensors, identity)


def load_trained(model: nn.Module, path: Path) -> int:
    """Copy the weights of the checkpoint ``path`` into ``model``; returns the number of steps they were trained.

    Raises:
        ModelError: a damaged file, or weights of other names or shapes.
    """
    tensors = read_checkpoint(path).tensors
    weights = dict(model.named_parameters())
    stored = {name.removeprefix("model."): part for name, part in tensors.items() if name.startswith("model.")}
    unlike = set(stored) ^ set(weights) | {n for n in set(stored) & set(weights) if stored[n].shape != weights[n].shape}
    if unlike:
        raise ModelError(
            f"training: {path} and this {type(model).__name__} differ in {sorted(unlike)[:5]} ({len(unlike)} weights). "
            "Give the model that was trained."
        )
    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(stored[name])
    return len(tensors["losses"])
