"""Do two language models place the same sentences alike, in five languages, and where do translations meet?

Ten views (model x language) read held-out, sentence-aligned text. All pairs of views are compared at their last layers
and by depth, each beside a sham with shuffled sentences.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from assay.models.weights_source import source_of
from assay.runs import Run, experiment
from assay.seeds import stream
from assay.stats.bootstrap import cluster_ratio
from experiments.merging.configs import Representations, open_weights, quick, tiny
from experiments.merging.pairs import Pair, compare
from experiments.merging.summary import record_pairs
from experiments.merging.views import View, read_view, text_digest


def inputs(config: Representations) -> dict[str, str]:
    """Digests of the text and of every model, known before the run."""
    weights = {f"weights {name}": source_of(name).digest for name in config.models}
    return {f"text {config.text}": text_digest(config.text, config.sentences), **weights}


@experiment(
    "merging.representations",
    version=1,
    tiers={"tiny": tiny, "quick": quick, "open": open_weights},
    data=inputs,
)
def representations(config: Representations, run: Run) -> None:
    """Read every view, compare every pair, record tables, figures and the numbers that claims print."""
    views = [
        View(model, language, config.text, config.sentences) for model in config.models for language in config.languages
    ]
    # The last model has the widest vocabulary and reads slowest: it goes first, so that no core waits at the end.
    read = run.cells(read_view, reversed(views)).iloc[::-1].reset_index(drop=True)
    record_views(run, views, read)
    pairs = run.cells(compare, pairs_of(config, views, read))
    record_pairs(run, views, pairs)


def record_views(run: Run, views: list[View], read: pd.DataFrame) -> None:
    """NLL of each view with its interval over pages, and how much one dimension of the last layer dominates."""
    rows = []
    for view, (_, found) in zip(views, read.iterrows(), strict=True):
        nats, clusters = found["nats"].load(), list(found["clusters"].load())
        units = {"token": found["tokens"].load(), "byte": found["bytes"].load()}
        variances = found["rows"].load()[-1].astype(np.float64).var(axis=0)
        row: dict[str, Any] = {"view": view.name, "model": source_of(view.model).label, "language": view.language}
        for unit, size in units.items():
            rng = stream(run.config.seed, "nll", view.name, unit)
            estimate = cluster_ratio(nats, size.astype(float), clusters=clusters, draws=run.config.draws, rng=rng)
            run[f"views.{view.name}.nats_per_{unit}"] = estimate
            row |= {f"nats_per_{unit}": estimate.value, f"{unit}_low": estimate.low, f"{unit}_high": estimate.high}
            row[f"{unit}s"] = int(size.sum())
        run[f"views.{view.name}.tokens"] = row["tokens"]
        run[f"views.{view.name}.top_dimension_share"] = float(variances.max() / variances.sum())
        row["top_dimension_share"] = float(variances.max() / variances.sum())
        rows.append(row)
    run["clusters"] = len(set(read["clusters"].iloc[0].load().tolist()))
    run.table("views", pd.DataFrame(rows))


def pairs_of(config: Representations, views: list[View], read: pd.DataFrame) -> list[Pair]:
    """All pairs of views as cells, in the order of the views."""
    found = {view: row for view, (_, row) in zip(views, read.iterrows(), strict=True)}
    return [
        Pair(
            donor=donor.name,
            recipient=recipient.name,
            group=group_of(donor, recipient),
            donor_rows=found[donor]["rows"],
            recipient_rows=found[recipient]["rows"],
            clusters=found[donor]["clusters"],
            recipient_bytes=found[recipient]["bytes"],
            config=config,
        )
        for donor, recipient in combinations(views, 2)
    ]


def group_of(donor: View, recipient: View) -> str:
    """Which kind of pair this is."""
    if donor.model == recipient.model:
        return f"within-{donor.name.removesuffix(f'-{donor.language}')}"
    return "same-language" if donor.language == recipient.language else "other-language"
