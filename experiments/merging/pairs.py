"""One pair of views compared: alignment of the last layers and of all layers, and retrieval of translations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from assay.axes import Float, Int, NDArray
from assay.diagnostics.cka import (
    Gram,
    cka_draws,
    gram,
    layer_grid,
    linear_cka,
    shuffled_cka,
    shuffled_expectation,
    unbiased_cka,
)
from assay.diagnostics.retrieval import (
    RetrievalSplit,
    retrieval,
    retrieval_split,
    retrieval_view,
    shuffled_retrieval,
)
from assay.errors import EstimateError
from assay.runs import ArtifactArray, Count
from assay.seeds import stream
from assay.stats.bootstrap import cluster_flag, percentile_estimate
from assay.stats.permutation import permutation_p
from experiments.merging.configs import Representations


@dataclass(frozen=True)
class Pair:
    """Two views by name, the arrays that `read_view` returned for them, and how carefully to compare."""

    donor: str
    recipient: str
    group: str
    donor_rows: ArtifactArray
    recipient_rows: ArtifactArray
    clusters: ArtifactArray
    recipient_bytes: ArtifactArray
    config: Representations


class Sides(NamedTuple):
    """Rows of both views, and the cluster and the length of every sentence."""

    donor: Float[NDArray, "layer item d_donor"]
    recipient: Float[NDArray, "layer item d_recipient"]
    clusters: Int[NDArray, " item"]
    recipient_bytes: Int[NDArray, " item"]


LENGTH_BINS = 10


def compare(pair: Pair) -> dict[str, Any]:
    """Everything that the study says about one pair of views."""
    sides = Sides(pair.donor_rows.load(), pair.recipient_rows.load(), pair.clusters.load(), pair.recipient_bytes.load())
    split = retrieval_split(
        list(sides.clusters), rng=stream(pair.config.seed, "split"), fit_share=pair.config.fit_share
    )
    donor, recipient = ([gram(rows) for rows in side] for side in sides[:2])
    chosen = best_layers(pair, sides, split)
    found = translations(pair, sides, split, layers=(-1, -1), name="last")
    found |= translations(pair, sides, split, layers=(chosen["best_donor"], chosen["best_recipient"]), name="best")
    return last_layers(pair, sides, donor[-1], recipient[-1]) | by_depth(pair, donor, recipient) | chosen | found


def last_layers(pair: Pair, sides: Sides, donor: Gram, recipient: Gram) -> dict[str, Any]:
    """CKA of the last layers with its interval, beside the same after shuffling the recipient's sentences.

    All pairs are resampled alike (one stream), so that means and differences over pairs can be formed draw by draw.
    """
    config, names = pair.config, (pair.donor, pair.recipient)
    order = stream(config.seed, "sham").permutation(donor.n)
    clusters = list(sides.clusters)
    matched, sham = (
        cka_draws(donor, side, clusters=clusters, draws=config.draws, rng=stream(config.seed, "bootstrap"))
        for side in (recipient, recipient.shuffled(order))
    )
    shuffled = shuffled_cka(donor, recipient, draws=config.shuffles, rng=stream(config.seed, "shuffle", *names))
    scaled = cka_draws(
        *(gram(standardised(side[-1])) for side in sides[:2]),
        clusters=clusters,
        draws=config.draws,
        rng=stream(config.seed, "bootstrap"),
    )
    low, high = np.quantile(shuffled, [0.025, 0.975])
    flag = cluster_flag(len(set(clusters)))
    return {
        "cka": percentile_estimate(matched.value, matched.drawn, n=donor.n, flag=flag),
        "sham": float(shuffled.mean()),
        "sham_low": float(low),
        "sham_high": float(high),
        "sham_length": like_length(pair, sides, donor, recipient),
        "p": permutation_p(matched.value, shuffled),
        "difference": percentile_estimate(matched.value - sham.value, matched.drawn - sham.drawn, n=donor.n, flag=flag),
        "cka_standardised": scaled.value,
        "cka_biased": linear_cka(donor, recipient),
        "cka_biased_sham": shuffled_expectation(donor, recipient),
        "drawn": matched.drawn,
        "drawn_standardised": scaled.drawn,
    }


def like_length(pair: Pair, sides: Sides, donor: Gram, recipient: Gram) -> float:
    """Mean CKA after shuffling the recipient's sentences among those of like length (tenths of the UTF-8 bytes).

    What this sham keeps is similarity that needs no translation: that long sentences lie apart from short ones.
    """
    by_length = np.array_split(np.argsort(sides.recipient_bytes, kind="stable"), LENGTH_BINS)
    values = []
    for draw in range(pair.config.mean_shuffles):
        rng = stream(pair.config.seed, "length-sham", pair.donor, pair.recipient, draw)
        order = np.arange(donor.n)
        for alike in by_length:
            order[alike] = rng.permutation(alike)
        values.append(unbiased_cka(donor, recipient.shuffled(order)))
    return float(np.mean(values))


def by_depth(pair: Pair, donor: list[Gram], recipient: list[Gram]) -> dict[str, Any]:
    """CKA of layers at equal relative depth, as many depths as the shallower model has layers, and its sham."""
    steps = min(len(donor), len(recipient))
    at = [[int(k * (len(side) - 1) / (steps - 1) + 0.5) for k in range(steps)] for side in (donor, recipient)]
    sham = np.zeros((pair.config.mean_shuffles, steps))
    for draw in range(pair.config.mean_shuffles):
        order = stream(pair.config.seed, "layer-sham", pair.donor, pair.recipient, draw).permutation(donor[0].n)
        sham[draw] = [unbiased_cka(donor[i], recipient[j].shuffled(order)) for i, j in zip(*at, strict=True)]
    return {
        "depth_donor": np.array(at[0]),
        "depth_recipient": np.array(at[1]),
        "depth_cka": layer_grid(donor, recipient)[at[0], at[1]],
        "depth_sham": sham.mean(axis=0),
    }


def best_layers(pair: Pair, sides: Sides, split: RetrievalSplit) -> dict[str, Any]:
    """The layer pair of highest CKA on the fit sentences, scored on the test sentences against the last layers."""
    on_fit = [[gram(rows[split.fit]) for rows in side] for side in sides[:2]]
    grid = layer_grid(*on_fit)
    donor_layer, recipient_layer = (int(i) for i in np.unravel_index(np.nanargmax(grid), grid.shape))
    best, last = (
        cka_draws(
            gram(sides.donor[i][split.test]),
            gram(sides.recipient[j][split.test]),
            clusters=list(split.test_clusters),
            draws=pair.config.draws,
            rng=stream(pair.config.seed, "best-layers"),
        )
        for i, j in ((donor_layer, recipient_layer), (-1, -1))
    )
    n, flag = len(split.test), cluster_flag(len(set(split.test_clusters)))
    return {
        "best_donor": donor_layer,
        "best_recipient": recipient_layer,
        "best_cka": percentile_estimate(best.value, best.drawn, n=n, flag=flag),
        "best_minus_last": percentile_estimate(best.value - last.value, best.drawn - last.drawn, n=n, flag=flag),
        "drawn_best_minus_last": best.drawn - last.drawn,
        "test_clusters": sides.clusters[split.test],
    }


def translations(
    pair: Pair, sides: Sides, split: RetrievalSplit, *, layers: tuple[int, int], name: str
) -> dict[str, Any]:
    """P@1 in both directions between the given layers, its CSLS form, its interval, and its sham."""
    donor, recipient = (retrieval_view(side[layer], split) for side, layer in zip(sides[:2], layers, strict=True))
    found: dict[str, Any] = {}
    for way, source, goal in (("forward", donor, recipient), ("backward", recipient, donor)):
        names = (pair.donor, pair.recipient, name, way)
        matched = retrieval(source, goal)
        sham = shuffled_retrieval(source, goal, rng=stream(pair.config.seed, "retrieval-sham", *names))
        rng = stream(pair.config.seed, "retrieval", *names)
        found[f"{name}_{way}"] = matched.nearest.interval(draws=pair.config.draws, rng=rng)
        found[f"{name}_{way}_hits"] = Count(matched.nearest.hits, of=matched.nearest.n_test)
        found[f"{name}_{way}_csls"] = Count(matched.csls.hits, of=matched.csls.n_test)
        found[f"{name}_{way}_found"] = matched.nearest.found
        found[f"{name}_{way}_sham"] = Count(sham.nearest.hits, of=sham.nearest.n_test)
    return found


def standardised(rows: Float[NDArray, "item d"]) -> Float[NDArray, "item d"]:
    """Columns with mean 0 and variance 1, so that no single dimension of the residual stream decides.

    Raises:
        EstimateError: a column that does not vary.
    """
    values = rows.astype(np.float64)
    spread = values.std(axis=0)
    if not (spread > 0).all():
        raise EstimateError(f"standardised: column {int(np.argmin(spread))} of {len(spread)} does not vary.")
    return np.asarray((values - values.mean(axis=0)) / spread)
