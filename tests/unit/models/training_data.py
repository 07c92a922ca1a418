"""Batches that tests train on: made from the step, picklable, tiny."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay.axes import NDArray
from assay.seeds import stream


class Batch(NamedTuple):
    input_ids: NDArray
    attention_mask: NDArray
    targets: NDArray


@dataclass(frozen=True)
class Successors:
    """Lines of random tokens; the token after t is (t + 1) mod vocabulary at scored positions."""

    seed: int = 0
    vocabulary: int = 7
    unscored: bool = False

    @property
    def digest(self) -> str:
        return f"successors {self.seed} {self.vocabulary} {self.unscored}"

    def __call__(self, step: int) -> Batch:
        ids = stream(self.seed, "successors", step).integers(self.vocabulary, size=(8, 5))
        targets = (ids + 1) % self.vocabulary
        targets[:, ::2] = -100
        return Batch(ids, np.ones_like(ids), np.full_like(ids, -100) if self.unscored else targets)
