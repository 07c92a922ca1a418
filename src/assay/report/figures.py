"""Figures of comparisons: each shows the effect beside its sham."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# Okabe and Ito's palette: told apart by readers with any colour vision (https://jfly.uni-koeln.de/color/).
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
SHAM_COLOUR = "#8A8A8A"


def _canvas(width: float, height: float, *, panels: int = 1) -> tuple[Any, Any]:
    """A figure in inches with one pair of axes, or an array of at least ``panels`` in two columns that share scales.

    It never touches pyplot's global state.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    if panels == 1:
        return figure, figure.subplots()
    return figure, figure.subplots((panels + 1) // 2, 2, sharex=True, sharey=True)


def matched_and_sham(
    values: pd.DataFrame, *, title: str, label: str, matched: str, sham: str, groups: Sequence[int] = ()
) -> Any:
    """Square matrix of comparisons: matched values below the diagonal, shams above it.

    ``values`` has the same labels in rows and columns; the diagonal is not shown. ``groups`` are the sizes of
    consecutive blocks of labels, between which a line is drawn. Returns a matplotlib ``Figure``.
    """
    n = len(values)
    figure, axes = _canvas(1.6 + 0.62 * n, 1.5 + 0.56 * n)
    numbers = values.to_numpy(dtype=float, copy=True)
    floor = min(0.0, float(numbers.min()))
    numbers[range(n), range(n)] = float("nan")
    image = axes.imshow(numbers, cmap="cividis", vmin=floor, vmax=1.0)
    for row in range(n):
        for column in range(n):
            if row != column:
                shade = "black" if numbers[row, column] > 0.55 else "white"
                text = f"{numbers[row, column]:.2f}".replace("-0.00", "0.00")
                axes.text(column, row, text, ha="center", va="center", color=shade, fontsize=8)
    for edge in [sum(groups[: i + 1]) - 0.5 for i in range(len(groups) - 1)]:
        axes.axhline(edge, color="white", linewidth=2)
        axes.axvline(edge, color="white", linewidth=2)
    axes.plot([-0.5, n - 0.5], [-0.5, n - 0.5], color="#444444", linewidth=1)
    axes.set_xticks(range(n), list(values.columns), rotation=45, ha="right", fontsize=8)
    axes.set_yticks(range(n), list(values.index), fontsize=8)
    axes.set_title(f"{title}\nbelow the diagonal: {matched}; above: {sham}", fontsize=10)
    figure.colorbar(image, ax=axes, shrink=0.8, label=label)
    return figure


def curves_by_depth(layers: pd.DataFrame, *, title: str, ylabel: str) -> Any:
    """One panel a group: every pair over relative depth as a thin line, their mean, and the range of their shams.

    ``layers`` has columns group, pair, depth (0 first layer, 1 last), matched, sham. Returns a ``Figure``.
    """
    groups = list(layers.groupby("group", sort=False))
    figure, panels = _canvas(8.4, 1.2 + 2.6 * ((len(groups) + 1) // 2), panels=max(2, len(groups)))
    for unused in panels.flat[len(groups) :]:
        unused.set_visible(False)
    for axes, colour, (group, rows) in zip(panels.flat, PALETTE, groups, strict=False):
        for _, pair in rows.groupby("pair", sort=False):
            axes.plot(pair["depth"], pair["matched"], color=colour, linewidth=0.7, alpha=0.45)
        sham = rows.groupby("depth")["sham"]
        axes.fill_between(sham.min().index, sham.min(), sham.max(), color=SHAM_COLOUR, alpha=0.4, linewidth=0)
        means = rows.groupby("depth")[["matched", "sham"]].mean()
        axes.plot(means.index, means["matched"], color=colour, marker="o", markersize=3, label="mean of the pairs")
        axes.plot(means.index, means["sham"], color=SHAM_COLOUR, linestyle="--", label="shuffled sham")
        axes.set_title(f"{group} ({rows['pair'].nunique()} pairs)", fontsize=9)
        axes.set(xlim=(0, 1))
        axes.grid(alpha=0.25)
        axes.legend(fontsize=7, frameon=False, loc="upper left")
    figure.suptitle(title, fontsize=11)
    figure.supxlabel("relative depth (0 after the first block, 1 after the last)", fontsize=9)
    figure.supylabel(ylabel, fontsize=9)
    return figure


def bars_against_chance(rates: pd.DataFrame, *, title: str, ylabel: str) -> Any:
    """Matched and sham rates with intervals side by side, one group of bars a label, and the chance rate as a line.

    ``rates`` has columns label, matched, low, high, sham, chance. Returns a ``Figure``.
    """
    figure, axes = _canvas(1.6 + 1.3 * len(rates), 4.2)
    places = range(len(rates))
    spread = [rates["matched"] - rates["low"], rates["high"] - rates["matched"]]
    axes.bar([p - 0.2 for p in places], rates["matched"], width=0.4, color=PALETTE[0], label="matched pairing")
    axes.errorbar([p - 0.2 for p in places], rates["matched"], yerr=spread, fmt="none", ecolor="black", capsize=2)
    axes.bar([p + 0.2 for p in places], rates["sham"], width=0.4, color=SHAM_COLOUR, label="shuffled pairing (sham)")
    for place, matched, sham in zip(places, rates["matched"], rates["sham"], strict=True):
        axes.annotate(
            f"{matched:.2f}", (place - 0.22, matched), (0, 2), textcoords="offset points", ha="right", fontsize=8
        )
        axes.annotate(f"{sham:.3f}", (place + 0.2, sham), (0, 3), textcoords="offset points", ha="center", fontsize=8)
    axes.axhline(float(rates["chance"].mean()), color=PALETTE[1], linestyle="--", label="chance, 1 / test sentences")
    axes.set_xticks(list(places), list(rates["label"]), fontsize=8)
    axes.set(ylabel=ylabel, title=title, ylim=(0, 1))
    axes.grid(axis="y", alpha=0.25)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, frameon=False)
    return figure
