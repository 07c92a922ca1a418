"""The table of claims: what is written can be read back, and merges keep rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ClaimError
from assay.ledger.table import Row, emphasised, escape, merged, read_rows, render, update_table

ROW = Row(
    id="M7",
    sentence=emphasised("In {wins: 14/20} of {= 20} | *pairs* {{x}}."),
    verdict="HOLDS",
    note="",
    kind="exploratory",
    section="7",
    tier="open",
    run="a_1; b_2",
    keys="wins; = 20",
    generator="study.effect",
)


def test_numbers_are_bold_and_constants_in_italics() -> None:
    assert ROW.sentence == r"In **14/20** of *20* \| \*pairs\* \{x\}."


def test_equal_rows_give_equal_bytes_in_any_order() -> None:
    rows = [replace(ROW, id=name) for name in ("M10", "M2", "C1")]
    assert render(rows) == render(rows[::-1])
    assert [row.id for row in read_rows(render(rows))] == ["C1", "M2", "M10"]


@given(note=st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), max_size=30))
def test_what_is_written_is_read_back(note: str) -> None:
    row = replace(ROW, verdict="FAILS", note=" ".join(note.split()), section=" ".join(note.split()))
    assert read_rows(render([row])) == [row]


def test_partial_sessions_keep_rows() -> None:
    earlier = [replace(ROW, id=name) for name in ("M1", "M2", "M3")]
    judged = {"M1": replace(ROW, id="M1", verdict="FAILS")}
    kept = {row.id: row.verdict for row in merged(earlier, judged, written={"M1", "M2"})}
    assert kept == {"M1": "FAILS", "M2": "HOLDS", "M3": "HOLDS"}
    assert {row.id for row in merged(earlier, judged, written=None)} == {"M1", "M2", "M3"}
    assert {row.id for row in merged(earlier, judged, written={"M1"})} == {"M1"}


def test_an_update_says_whether_bytes_changed(tmp_path: Path) -> None:
    path = tmp_path / "docs" / "table.md"
    assert update_table(path, {"M7": ROW}, written=None)
    assert not update_table(path, {"M7": ROW}, written=None)
    assert update_table(path, {"M7": replace(ROW, verdict="STALE")}, written=None)


@pytest.mark.parametrize("text", ["notes\n", render([ROW]) + "| too | few |\n"])
def test_what_was_not_generated_is_refused(text: str) -> None:
    with pytest.raises(ClaimError, match="claim table"):
        read_rows(text)


def test_escapes_survive_markdown() -> None:
    assert escape("a|b <c>\n d_e") == r"a\|b \<c\> d\_e"
