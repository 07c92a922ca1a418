"""Time of retrieval on one core: OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/retrieval.py."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from itertools import permutations
from typing import Literal

import numpy as np

from assay.diagnostics.retrieval import retrieval, retrieval_split, retrieval_view, shuffled_retrieval
from assay.seeds import stream

ITEMS, WIDTH, CLUSTERS, VIEWS = 1012, 640, 624, 10


def main() -> None:
    """Ten random views with a shared part: both directions of 45 pairs, matched and sham."""
    rng = stream(0, "benchmark", "retrieval")
    shared = rng.standard_normal((ITEMS, 50))
    clusters = [f"page {number}" for number in rng.integers(0, CLUSTERS, ITEMS)]
    split = retrieval_split(clusters, rng=stream(0, "split"))
    rows = [shared @ rng.standard_normal((50, WIDTH)) + 2 * rng.standard_normal((ITEMS, WIDTH)) for _ in range(VIEWS)]
    print(f"{VIEWS} views of {ITEMS} items, width {WIDTH}: {len(split.fit)} fit, {len(split.test)} test, one core")
    kinds: tuple[Literal["ridge", "procrustes"], ...] = ("ridge", "procrustes")
    for kind in kinds:
        start = time.perf_counter()
        views = [retrieval_view(one, split) for one in rows]
        matched, sham = [], []
        for donor, recipient in permutations(views, 2):
            matched.append(retrieval(donor, recipient, map_kind=kind).csls.rate)
            sham.append(shuffled_retrieval(donor, recipient, rng=stream(0, "sham"), map_kind=kind).csls.rate)
        spent = time.perf_counter() - start
        print(f"{spent:8.3f} s  90 directions, {kind}: mean CSLS P@1 {np.mean(matched):.3f}, sham {np.mean(sham):.4f}")


if __name__ == "__main__":
    main()
