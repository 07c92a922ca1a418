"""Named random streams: every draw belongs to a name, so that adding a step does not move the others' numbers."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


def stream_key(root: int, *name: str | int) -> int:
    """128-bit key of the stream: the head of SHA-256 over the root and the parts of the name, each with its length."""
    if isinstance(root, bool) or not isinstance(root, int):
        raise TypeError(f"stream: the root seed must be an integer, got {root!r}.")
    text = "\x1f".join([str(root), *(f"{type(part).__name__}:{part}" for part in name)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def stream(root: int, *name: str | int) -> np.random.Generator:
    """NumPy generator of the stream ``name`` under ``root``; equal names give equal draws on every platform."""
    return np.random.Generator(np.random.PCG64(stream_key(root, *name)))


def torch_stream(root: int, *name: str | int) -> torch.Generator:
    """CPU torch generator of the stream ``name`` under ``root``; torch is imported only here."""
    import torch

    return torch.Generator(device="cpu").manual_seed(stream_key(root, *name) % 2**63)
