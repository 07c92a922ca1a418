"""Time of the alignment diagnostics on one core: OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/cka.py."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable

import numpy as np

from assay.diagnostics.cka import cka_interval, gram, layer_grid, shuffled_cka
from assay.seeds import stream

ITEMS, WIDTH, DRAWS, CLUSTERS = 1012, 640, 2000, 624


def seconds(name: str, function: Callable[[], object]) -> None:
    """Print the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    print(f"{best:8.3f} s  {name}", flush=True)


def main() -> None:
    """Time every figure of the README on random rows."""
    rng = stream(0, "benchmark", "cka")
    shared = rng.standard_normal((ITEMS, 50))
    rows = [shared @ rng.standard_normal((50, WIDTH)) + rng.standard_normal((ITEMS, WIDTH)) for _ in range(10)]
    clusters = [f"page {number}" for number in rng.integers(0, CLUSTERS, ITEMS)]
    grams = [gram(one) for one in rows]
    print(f"{ITEMS} items, width {WIDTH}, {DRAWS} draws of {len(set(clusters))} clusters, one core")
    seconds("one Gram", lambda: gram(rows[0]))
    seconds(
        "unbiased CKA with interval, from rows",
        lambda: cka_interval(gram(rows[0]), gram(rows[1]), clusters=clusters, draws=DRAWS, rng=stream(0, "draws")),
    )
    seconds("200 shuffles", lambda: shuffled_cka(grams[0], grams[1], draws=200, rng=stream(0, "shuffles")))
    layers = [grams[place % 10] for place in range(50)]
    seconds("grid of 31 x 19 layers, from Grams", lambda: layer_grid(layers[:31], layers[31:]))


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
