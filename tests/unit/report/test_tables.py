"""Tables of a report: every column as declared, or those that pyproject.toml chooses, or an error that says which."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.errors import ConfigError
from assay.report.study import Study
from assay.report.tables import chosen_columns, printed_table


def test_without_a_choice_every_column_is_printed(study: Study) -> None:
    table = printed_table(study.runs[1], "directions", None)
    assert [(column.heading, column.numeric) for column in table.columns] == [
        ("pair", False),
        ("delta", True),
        ("n", True),
        ("good", False),
    ]
    assert table.lines() == [("a_b", "0.500", "1,000", "yes"), ("b_a", "-0.250", "2", "no")]
    assert table.lines(1) == table.lines()[:1]
    assert (table.rows, table.csv.splitlines()[0]) == (2, b"pair,delta,n,good")


def test_a_column_that_is_not_there_is_refused_with_the_nearest(study: Study) -> None:
    with pytest.raises(ConfigError, match=r"no column 'detla'.*Did you mean 'delta'"):
        printed_table(study.runs[1], "directions", ["pair", "detla"])


@pytest.mark.parametrize("choice", ['"pair"', "[]", "[1]", '[{ heading = "x" }]', '[{ column = "a", digits = 2 }]'])
def test_a_choice_that_is_none_is_refused(tmp_path: Path, choice: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.assay.report.tables]\npairs = {choice}\n")
    with pytest.raises(ConfigError, match=re.escape("tool.assay.report.tables.pairs")):
        chosen_columns(tmp_path)


def test_a_repository_without_a_choice(tmp_path: Path) -> None:
    assert chosen_columns(tmp_path) == {}
