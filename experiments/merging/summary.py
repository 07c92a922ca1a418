"""The numbers, tables and figures of `merging.representations`, from what its cells returned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from assay.report.figures import bars_against_chance, curves_by_depth, matched_and_sham
from assay.runs import Count, Run, count
from assay.seeds import stream
from assay.stats.bootstrap import cluster_mean, percentile_estimate
from assay.stats.estimate import Estimate
from experiments.merging.views import View

ESTIMATES = ("cka", "difference", "best_cka", "best_minus_last")
PLAIN = ("sham", "sham_low", "sham_high", "sham_length", "p", "cka_standardised", "cka_biased", "cka_biased_sham")
WAYS = tuple(f"{layers}_{way}" for layers in ("last", "best") for way in ("forward", "backward"))


def record_pairs(run: Run, views: list[View], pairs: pd.DataFrame) -> None:
    """Record all that claims, tables and figures need about the pairs of views."""
    run["pairs"] = len(pairs)
    for _, pair in pairs.iterrows():
        run[f"cka.{pair.donor}.{pair.recipient}"] = pair.cka
    record_alignment(run, pairs)
    record_groups(run, pairs)
    record_best_layers(run, pairs)
    record_retrieval(run, pairs)
    record_mean_retrieval(run, pairs)
    run.table("pairs", pair_table(pairs))
    layers = layer_table(pairs)
    run.table("layers", layers)
    matrix = matrix_of(views, pairs)
    run.table("matrix", matrix.rename_axis("view").reset_index())
    draw(run, matrix, layers, pairs)


def record_alignment(run: Run, pairs: pd.DataFrame) -> None:
    """CKA of the last layers against its shams, over all pairs: counts, range, and what the biased form would say."""
    cka = np.array([estimate.value for estimate in pairs.cka])
    lower = pd.Series([estimate.low for estimate in pairs.difference])
    run["above_sham.interval"] = count(lower > 0, rows=lower)
    run["above_sham.permutation"] = count(pairs.p <= 0.05, rows=pairs.p)
    lowest = pd.Series([estimate.low for estimate in pairs.cka])
    run["above_sham.like_length"] = count(lowest > pairs.sham_length, rows=lowest)
    run["p.highest"] = float(pairs.p.max())
    run["p.lowest"] = float(pairs.p.min())
    for name, place in (("lowest", int(cka.argmin())), ("highest", int(cka.argmax()))):
        run[f"range.{name}"] = pairs.cka.iloc[place]
        run[f"range.{name}_pair"] = f"{pairs.donor.iloc[place]} {pairs.recipient.iloc[place]}"
    run["sham.largest"] = float(pairs.sham.abs().max())
    run["sham_length.mean"] = float(pairs.sham_length.mean())
    run["sham_length.highest"] = float(pairs.sham_length.max())
    scaled = pairs.cka_standardised.to_numpy()
    drawn, drawn_scaled = mean_drawn(pairs.drawn), mean_drawn(pairs.drawn_standardised)
    for key, value, draws in (
        ("cka_mean", cka.mean(), drawn),
        ("cka_standardised.mean", scaled.mean(), drawn_scaled),
        ("cka_standardised.minus_raw", (scaled - cka).mean(), drawn_scaled - drawn),
    ):
        run[key] = percentile_estimate(float(value), draws, n=pairs.cka.iloc[0].n, flag=pairs.cka.iloc[0].reason)
    for column in ("cka_biased", "cka_biased_sham"):
        run[f"{column}.mean"] = float(pairs[column].mean())
    for column in ("cka_biased", "cka_biased_sham", "cka_standardised"):
        run[f"{column}.lowest"] = float(pairs[column].min())
        run[f"{column}.highest"] = float(pairs[column].max())


def mean_drawn(handles: pd.Series) -> np.ndarray[Any, Any]:
    """Mean over pairs of what was resampled, draw by draw: all pairs were resampled alike."""
    return np.asarray(np.mean([handle.load() for handle in handles], axis=0))


def record_groups(run: Run, pairs: pd.DataFrame) -> None:
    """Mean CKA of each kind of pair and their contrasts; intervals over pages, draw by draw alike in all pairs."""
    flag = pairs.cka.iloc[0].reason
    means: dict[str, tuple[float, np.ndarray[Any, Any]]] = {}
    n = int(pairs.cka.iloc[0].n)
    for group, members in pairs.groupby("group", sort=False):
        values = [estimate.value for estimate in members.cka]
        drawn = mean_drawn(members.drawn)
        means[str(group)] = (float(np.mean(values)), drawn)
        run[f"groups.{group}.cka"] = percentile_estimate(means[str(group)][0], drawn, n=n, flag=flag)
        run[f"groups.{group}.pairs"] = len(members)
        run[f"groups.{group}.sham"] = float(members.sham.mean())
        run[f"groups.{group}.sham_length"] = float(members.sham_length.mean())
        run[f"groups.{group}.cka_standardised"] = float(members.cka_standardised.mean())
    if {"same-language", "other-language"} <= set(means):
        (same, same_drawn), (other, other_drawn) = means["same-language"], means["other-language"]
        run["contrast.same_minus_other_language"] = percentile_estimate(
            same - other, same_drawn - other_drawn, n=n, flag=flag
        )


def record_best_layers(run: Run, pairs: pd.DataFrame) -> None:
    """Whether the layer pair chosen on one half of the pages beats the last layers on the other half."""
    gains: list[Estimate] = list(pairs.best_minus_last)
    lower = pd.Series([gain.low for gain in gains])
    upper = pd.Series([gain.high for gain in gains])
    run["best_layers.better"] = count(lower > 0, rows=lower)
    run["best_layers.worse"] = count(upper < 0, rows=upper)
    run["best_layers.mean_gain"] = percentile_estimate(
        float(np.mean([gain.value for gain in gains])),
        mean_drawn(pairs.drawn_best_minus_last),
        n=gains[0].n,
        flag=gains[0].reason,
    )
    run["best_layers.mean_cka"] = float(np.mean([estimate.value for estimate in pairs.best_cka]))
    run["best_layers.n_test"] = int(pairs.best_cka.iloc[0].n)


def record_mean_retrieval(run: Run, pairs: pd.DataFrame) -> None:
    """Mean P@1 over all directed pairs, and what choosing layers adds, with intervals over the test pages."""
    clusters = list(pairs.test_clusters.iloc[0].load())
    rates = {
        layers: np.mean([handle.load() for way in WAYS if layers in way for handle in pairs[f"{way}_found"]], axis=0)
        for layers in ("last", "best")
    }
    for key, rate in (
        ("retrieval.last.mean", rates["last"]),
        ("retrieval.best.mean", rates["best"]),
        ("retrieval.best_minus_last", rates["best"] - rates["last"]),
    ):
        rng = stream(run.config.seed, "mean-retrieval")
        run[key] = cluster_mean(rate, clusters=clusters, draws=run.config.draws, rng=rng)


def record_retrieval(run: Run, pairs: pd.DataFrame) -> None:
    """P@1 over all directed pairs at the last and at the best layers, beside chance and sham."""
    for layers in ("last", "best"):
        rates = directed(pairs, layers)
        chance = 1 / int(rates.of.iloc[0])
        at = f"retrieval.{layers}"
        run[f"{at}.above_chance"] = count(rates.low > chance, rows=rates.low)
        worst = rates.iloc[int(rates.sham.argmax())]
        run[f"{at}.highest_sham_hits"] = Count(int(worst.sham_hits), of=int(worst.of))
        run[f"{at}.above_highest_sham"] = count(rates.low > worst.sham, rows=rates.low)
        run[f"{at}.mean_csls"] = float(rates.csls.mean())
        run[f"{at}.mean_sham"] = float(rates.sham.mean())
        for name, place in (("lowest", int(rates.rate.argmin())), ("highest", int(rates.rate.argmax()))):
            row = rates.iloc[place]
            run[f"{at}.{name}"] = row.estimate
            run[f"{at}.{name}_hits"] = Count(int(row.hits), of=int(row.of))
            run[f"{at}.{name}_direction"] = f"{row.source} {row.goal}"
        for group, members in rates.groupby("group", sort=False):
            run[f"{at}.{group}.mean"] = float(members.rate.mean())
            run[f"{at}.{group}.mean_sham"] = float(members.sham.mean())
    run["retrieval.chance"] = chance


def directed(pairs: pd.DataFrame, layers: str) -> pd.DataFrame:
    """One row a direction: P@1 with interval and hits, CSLS and sham rates."""
    rows = []
    for _, pair in pairs.iterrows():
        for way, source, goal in (
            ("forward", pair.donor, pair.recipient),
            ("backward", pair.recipient, pair.donor),
        ):
            estimate, hits = pair[f"{layers}_{way}"], pair[f"{layers}_{way}_hits"]
            rows.append(
                {
                    "source": source,
                    "goal": goal,
                    "group": pair.group,
                    "estimate": estimate,
                    "rate": hits.share,
                    "low": estimate.low,
                    "hits": hits.count,
                    "of": hits.of,
                    "csls": pair[f"{layers}_{way}_csls"].share,
                    "sham": pair[f"{layers}_{way}_sham"].share,
                    "sham_hits": pair[f"{layers}_{way}_sham"].count,
                }
            )
    return pd.DataFrame(rows)


def pair_table(pairs: pd.DataFrame) -> pd.DataFrame:
    """One row a pair: every estimate with both ends, every count with its denominator."""
    table = pairs[["donor", "recipient", "group", *PLAIN, "best_donor", "best_recipient"]].copy()
    for name in (*ESTIMATES, *WAYS):
        table[name] = [estimate.value for estimate in pairs[name]]
        table[f"{name}_low"] = [estimate.low for estimate in pairs[name]]
        table[f"{name}_high"] = [estimate.high for estimate in pairs[name]]
    for name in (f"{way}_{kind}" for way in WAYS for kind in ("hits", "csls", "sham")):
        table[name] = [entry.count for entry in pairs[name]]
    table["n"] = [estimate.n for estimate in pairs.cka]
    table["n_test"] = [estimate.n for estimate in pairs.best_cka]
    return table


def layer_table(pairs: pd.DataFrame) -> pd.DataFrame:
    """One row a pair and relative depth: the layers, their CKA, and its sham."""
    frames = []
    for _, pair in pairs.iterrows():
        cka = pair.depth_cka.load()
        frames.append(
            pd.DataFrame(
                {
                    "group": label_of(pair.group),
                    "pair": f"{pair.donor} {pair.recipient}",
                    "depth": np.linspace(0, 1, len(cka)),
                    "layer_donor": pair.depth_donor.load(),
                    "layer_recipient": pair.depth_recipient.load(),
                    "matched": cka,
                    "sham": pair.depth_sham.load(),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def matrix_of(views: list[View], pairs: pd.DataFrame) -> pd.DataFrame:
    """Square table of views: CKA of the last layers below the diagonal, its shuffled sham above, 1 on it."""
    names = [view.name for view in views]
    matrix = pd.DataFrame(np.eye(len(names)), index=names, columns=names)
    for _, pair in pairs.iterrows():
        matrix.loc[pair.recipient, pair.donor] = pair.cka.value
        matrix.loc[pair.donor, pair.recipient] = pair.sham
    return matrix


def label_of(group: str) -> str:
    """The kind of pair in words."""
    named = {"same-language": "same language, across models", "other-language": "different languages, across models"}
    return named.get(group, f"different languages, {group.replace('-', ' ', 1)}")


def draw(run: Run, matrix: pd.DataFrame, layers: pd.DataFrame, pairs: pd.DataFrame) -> None:
    """The three figures: all pairs at their last layers, kinds of pairs by depth, retrieval against chance."""
    n, config = int(pairs.cka.iloc[0].n), run.config
    blocks = [len(config.languages)] * len(config.models)
    run.figure(
        "cka_last_layers",
        matched_and_sham(
            matrix,
            title=f"Unbiased CKA of the last layers, {n} sentences",
            label="unbiased CKA",
            matched="translations paired",
            sham=f"shuffled (mean of {config.shuffles})",
            groups=blocks,
        ),
    )
    run.figure(
        "cka_by_depth",
        curves_by_depth(layers, title=f"CKA at equal relative depth, {n} sentences", ylabel="unbiased CKA"),
    )
    bars = []
    for layers_name in ("last", "best"):
        for group, rates in directed(pairs, layers_name).groupby("group", sort=False):
            bars.append(
                {
                    "label": f"{label_of(str(group))}\n{layers_name} layers".replace(", ", ",\n"),
                    "matched": rates.rate.mean(),
                    "low": rates.rate.min(),
                    "high": rates.rate.max(),
                    "sham": rates.sham.mean(),
                    "chance": 1 / int(rates.of.iloc[0]),
                }
            )
    n_test = int(pairs.best_cka.iloc[0].n)
    what = f"Retrieval of translations among {n_test} test sentences"
    title = f"{what}\nmean over directed pairs, whiskers: lowest and highest"
    run.figure("retrieval", bars_against_chance(pd.DataFrame(bars), title=title, ylabel="P@1"))
