"""Time of the resampling statistics beside their peers, one thread, medians: python benchmarks/resampling.py."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from assay.seeds import stream
from assay.stats.arrangements import item_arrangements, label_arrangements
from assay.stats.bca import bca_paired_difference
from assay.stats.bootstrap import paired_difference
from assay.stats.correlation import pair_entries, spearman_table

ITEMS, CLUSTERS, DRAWS = 1800, 400, 2000
ENTRIES, SIDE, PERMUTATIONS = 10, 11, 20_000


def seconds(name: str, function: Callable[[], object], *, repeats: int = 5, cells: int = 1) -> float:
    """Print and return the median of the repeats; with ``cells``, one cell is timed and counted so often."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    median = float(np.median(times)) * cells
    print(f"{median:10.4f} s  {name}", flush=True)
    return median


def bootstrap() -> None:
    """Paired difference with a percentile interval, as counts times cluster totals and as a loop over resamples."""
    rng = stream(0, "benchmark", "bootstrap")
    clusters = np.concatenate([np.arange(CLUSTERS), rng.integers(0, CLUSTERS, ITEMS - CLUSTERS)])
    first, second = rng.standard_normal((2, ITEMS)) + rng.standard_normal((2, CLUSTERS))[:, clusters]
    names = [f"program {one}" for one in clusters]
    members = [np.flatnonzero(clusters == one) for one in range(CLUSTERS)]

    def loop() -> tuple[float, float]:
        draw, found = stream(0, "draws"), np.empty(DRAWS)
        difference = first - second
        for place in range(DRAWS):
            picked = np.concatenate([members[one] for one in draw.integers(0, CLUSTERS, CLUSTERS)])
            found[place] = difference[picked].mean()
        low, high = np.quantile(found, [0.025, 0.975])
        return float(low), float(high)

    def ours() -> tuple[float, float]:
        found = paired_difference(first, second, clusters=names, draws=DRAWS, rng=stream(0, "draws"))
        return found.low, found.high

    def bca() -> object:
        options = {"clusters": names, "draws": DRAWS, "rng": stream(0, "draws")}
        return bca_paired_difference(first, second, estimand="item-weighted", **options)

    np.testing.assert_allclose(ours(), loop(), rtol=1e-10)
    print(f"paired cluster bootstrap, {ITEMS} items, {CLUSTERS} clusters, {DRAWS} draws (equal ends)")
    mine = seconds("assay paired_difference", ours, repeats=9)
    seconds("assay bca_paired_difference", bca, repeats=9)
    print(f"{seconds('loop over numpy', loop) / mine:10.1f} times faster than the loop")


def spearman() -> None:
    """Table of Spearman correlations with permutation p, beside scipy cell by cell."""
    rng = stream(0, "benchmark", "spearman")
    first, second = rng.standard_normal((2, ENTRIES, SIDE))

    def table() -> object:
        orders = item_arrangements(ENTRIES, draws=PERMUTATIONS, rng=stream(0, "orders"))
        return spearman_table(first, second, arrangements=orders)

    def around_spearmanr() -> object:
        def statistic(left: np.ndarray) -> float:
            return float(stats.spearmanr(left, second[:, 0]).statistic)

        return stats.permutation_test(
            (first[:, 0],), statistic, permutation_type="pairings", n_resamples=PERMUTATIONS, rng=stream(0, "orders")
        )

    def of_ranks() -> object:
        ranks = [stats.rankdata(side[:, 0]) for side in (first, second)]
        return stats.pearsonr(*ranks, method=stats.PermutationMethod(n_resamples=PERMUTATIONS, rng=stream(0, "orders")))

    cells = SIDE * SIDE
    print(f"Spearman table {SIDE} x {SIDE} over {ENTRIES} entries, {PERMUTATIONS} permutations, orders drawn anew")
    mine = seconds("assay item_arrangements and spearman_table", table, repeats=9)
    plain = seconds(
        f"scipy permutation_test around spearmanr, one cell x {cells}", around_spearmanr, repeats=1, cells=cells
    )
    quick = seconds(f"scipy pearsonr of ranks with PermutationMethod, one cell x {cells}", of_ranks, cells=cells)
    print(f"{plain / mine:10.1f} times faster than permutation_test around spearmanr")
    print(f"{quick / mine:10.1f} times faster than scipy's fastest way")

    matrices = rng.standard_normal((2, SIDE, 24, 24))
    sides = [pair_entries(one + one.transpose(0, 2, 1)) for one in matrices]
    print(f"the same table over 24 models (276 pairs), {PERMUTATIONS} label permutations (no peer)")
    seconds(
        "assay label_arrangements and spearman_table",
        lambda: spearman_table(
            *sides, arrangements=label_arrangements(24, draws=PERMUTATIONS, rng=stream(0, "orders"))
        ),
        repeats=3,
    )


def main() -> None:
    """Print every figure."""
    bootstrap()
    print()
    spearman()


if __name__ == "__main__":
    main()
