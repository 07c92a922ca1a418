"""The figures draw what the tables hold: every value once, the sham beside it."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assay.report.figures import bars_against_chance, curves_by_depth, matched_and_sham

LABELS = ["a-en", "a-pt", "b-en"]


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_matched_below_and_sham_above_the_diagonal() -> None:
    values = pd.DataFrame([[np.nan, -0.001, 0.02], [0.9, np.nan, 0.03], [0.5, 0.25, np.nan]], LABELS, LABELS)
    figure = matched_and_sham(
        values.fillna(1.0), title="CKA", label="CKA", matched="paired", sham="shuffled", groups=(2, 1)
    )
    assert texts(figure) == ["0.00", "0.02", "0.90", "0.03", "0.50", "0.25"]
    assert figure.axes[0].get_title() == "CKA\nbelow the diagonal: paired; above: shuffled"
    figure.savefig(BytesIO())


@pytest.fixture
def layers() -> pd.DataFrame:
    rows = [
        {"group": group, "pair": f"{group}{pair}", "depth": depth, "matched": 0.1 * pair + depth / 2, "sham": 0.0}
        for group in ("same", "other")
        for pair in (1, 2)
        for depth in (0.0, 0.5, 1.0)
    ]
    return pd.DataFrame(rows)


def test_each_group_has_a_panel_with_its_pairs_and_their_sham(layers: pd.DataFrame) -> None:
    figure = curves_by_depth(layers, title="by depth", ylabel="CKA")
    assert [axes.get_title() for axes in figure.axes] == ["same (2 pairs)", "other (2 pairs)"]
    curves = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    assert curves["mean of the pairs"] == pytest.approx([0.15, 0.4, 0.65])
    assert curves["shuffled sham"] == pytest.approx([0.0, 0.0, 0.0])
    assert len(figure.axes[0].lines) == 2 + 2
    figure.savefig(BytesIO())


def test_an_odd_number_of_groups_leaves_no_empty_panel(layers: pd.DataFrame) -> None:
    figure = curves_by_depth(layers[layers.group == "same"], title="by depth", ylabel="CKA")
    assert [axes.get_visible() for axes in figure.axes] == [True, False]


def test_bars_show_matched_sham_and_chance() -> None:
    rates = pd.DataFrame(
        {"label": ["x", "y"], "matched": [0.5, 0.2], "low": [0.4, 0.1], "high": [0.6, 0.3], "sham": [0.0, 0.01]}
    ).assign(chance=0.002)
    figure = bars_against_chance(rates, title="P@1", ylabel="share")
    heights = [bar.get_height() for bars in figure.axes[0].containers if hasattr(bars, "patches") for bar in bars]
    assert heights == pytest.approx([0.5, 0.2, 0.0, 0.01])
    figure.savefig(BytesIO())
