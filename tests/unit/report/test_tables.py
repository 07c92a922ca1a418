"""Markdown tables keep every cell, at the precision asked for."""

from __future__ import annotations

import pandas as pd

from assay.report.tables import markdown


def test_every_cell_is_there() -> None:
    table = pd.DataFrame({"n": [1, 20], "share": [0.123456, float("nan")], "name": ["a|b", "c"]}, index=["x", "y"])
    assert markdown(table, digits=2) == (
        "|  | n | share | name |\n| --- | ---: | ---: | ---: |\n| x | 1 | 0.12 | a\\|b |\n| y | 20 | nan | c |\n"
    )
