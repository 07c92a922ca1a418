"""Tables of recorded results as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def markdown(table: pd.DataFrame, *, digits: int) -> str:
    """GitHub Markdown of ``table`` with its index as first column; floats at ``digits`` decimals, NaN as ``nan``."""

    def shown(value: object) -> str:
        return f"{value:.{digits}f}" if isinstance(value, float) else str(value).replace("|", "\\|")

    head = ["", *map(str, table.columns)]
    rows = [[str(label), *map(shown, row)] for label, row in zip(table.index, table.to_numpy().tolist(), strict=True)]
    rule = ["---", *(["---:"] * len(table.columns))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *rows]) + "\n"
