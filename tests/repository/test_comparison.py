"""docs/comparison.md says of Assay what Assay does today; the rivals are not needed for that, nor is a network."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.comparison.compare import PAGE, column, noticed, outcome
from benchmarks.comparison.page import HEAD, Column
from benchmarks.comparison.paper import EDITS, PAPER, RUN_AGAIN
from benchmarks.comparison.tool import LISTED, PREVENTED
from benchmarks.comparison.tools import ASSAY, RIVALS


def column_of_the_page(name: str, rows: dict[str, str]) -> dict[str, str]:
    """The cells of a tool on the page, by the row's name in `rows`, which maps the first cell to it."""
    found: dict[str, str] = {}
    place = 0
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        place = cells.index(name) if name in cells and cells[0] in ("printed", "change") else place
        if line.startswith("|") and cells[0] in rows:
            found[rows[cells[0]]] = cells[place]
    return found


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> Column:
    """What Assay says of the paper now, in a repository made for it."""
    return column(ASSAY, tmp_path_factory.mktemp("comparison") / "assay", Path(sys.executable).parent, version="")


def test_the_page_says_of_assay_what_it_finds_today(today: Column) -> None:
    numbers = column_of_the_page("Assay", {f"`{one.plain}`": one.name for one in PAPER})
    assert numbers == today.outcomes
    changes = column_of_the_page("Assay", {change: change for change in (*EDITS, RUN_AGAIN)})
    assert changes == today.later


def test_the_page_names_the_version_of_every_tool() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.startswith(HEAD)
    for tool in RIVALS:
        name, _, version = tool.requirement.split()[0].partition("==")
        assert f"{name.partition('[')[0]} {version}" in page


@pytest.mark.parametrize(
    ("said", "truth", "word"),
    [
        (False, "right", "right"),
        (PREVENTED, "right", "right"),
        (True, "right", "false alarm"),
        (True, "wrong", "caught wrong"),
        (True, "missing", "caught"),
        (True, "not finite", "caught"),
        (False, "wrong", "missed"),
        (PREVENTED, "wrong", "prevented"),
        (LISTED, "wrong", "missed"),
    ],
)
def test_words_for_numbers(said: bool | str, truth: str, word: str) -> None:
    assert outcome({"P1": said}, "P1", truth) == word


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ([True, True], "noticed"),
        ([True, False], "missed"),
        ([PREVENTED], "follows the run"),
        ([LISTED], "listed only"),
        ([LISTED, False], "missed"),
    ],
)
def test_words_for_changes(said: list[bool | str], word: str) -> None:
    assert noticed(said) == word
