"""Markdown as passages, each character with its place."""

from __future__ import annotations

import pytest

from assay.errors import ClaimError
from assay.ledger.citations import GENERATED
from assay.ledger.texts.markdown import read_markdown
from assay.ledger.texts.values import values, values_of


def found(source: str) -> list[tuple[str, str]]:
    """Values and reasons; each stands in the source where its passage says."""
    seen = []
    for passage in read_markdown(source)[0]:
        for value, why in values_of(passage):
            start, end = passage.spans[value.start][0], passage.spans[value.end - 1][1]
            assert source[start] == passage.text[value.start]
            assert source[end - 1] == passage.text[value.end - 1]
            seen.append((value.text, why))
    return seen


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_blocks(newline: str) -> None:
    source = (
        "---\nyear: 1\n---\n\n# 2 Title\n\n* item **3**/20\n  goes on 4\n\n> quoted 5\nlazily 6\n\n"
        "| a | 7 |\n|---|---|\n| 8 | [0.1, 0.2] \\| 9 |\n\n```\n10\n```\n\n    11\n\n<div>12</div>\n\nSet 13\n======\n"
    )
    assert found(source.replace("\n", newline)) == [
        ("1", "front matter"),
        ("2", "reference"),
        ("3/20", ""),
        *((number, "") for number in ("4", "5", "6", "7", "8", "[0.1, 0.2]", "9")),
        ("10", "code"),
        ("11", "code"),
        ("12", ""),
        ("13", ""),
    ]


def test_inside_of_a_line() -> None:
    source = (
        "`1` [2](http://a/3 '4') ![5](6.svg) <https://a/7> <!-- 8 --> \\*9\\* 0.1&nbsp;% $1.2\\times10^{-3}$ cost $5 "
        "and $6, 3*4 x_1_ [^7] ~~10~~ <b>11</b>"
    )
    assert found(source) == [
        *(("1", "code"), ("2", ""), ("3", "link"), ("4", "link"), ("5", ""), ("6", "link"), ("7", "link")),
        *(("9", ""), ("0.1%", ""), ("1.2e-3", ""), ("5", ""), ("6", ""), ("3", ""), ("4", ""), ("x_1", "")),
        *(("7", "reference"), ("10", ""), ("11", "")),
    ]


def test_results_by_heading_and_by_mark() -> None:
    source = (
        "# A\n\n1\n\n## Main results\n\n2\n\n### Detail\n\n3\n\n## B\n\n4\n\n<!-- claims: results -->\n\n5\n\n"
        "# C\n\n6\n\n<!-- claims: end -->\n\n7\n"
    )
    about = {passage.text.strip(): passage.results for passage in read_markdown(source)[0]}
    assert {number for number in "1234567" if about[number]} == {"2", "3", "5", "6"}
    assert [passage.results for passage in read_markdown("# Fund\n\n1", results=["fund"])[0]] == [True, True]


def test_an_unknown_mark_and_a_generated_table() -> None:
    with pytest.raises(ClaimError, match="line 3: claims: result is no mark"):
        read_markdown("a\n\n<!-- claims: result -->\n")
    assert read_markdown(f"{GENERATED} -->\n\n5\n") == ([], [])


def test_raised_and_lowered_text_is_no_digit_of_a_number() -> None:
    text = "87.6<sup>2</sup> H<sub>2</sub>O x^3^ H~4~O 10^-3^ 10<sup>-4</sup> 5^th^ 0.5<sup>\u00b10.1</sup>"
    (passage,), _ = read_markdown(text)
    assert [(value.text, why) for value, why in values_of(passage)] == [
        *(("87.6", ""), ("2", "reference"), ("2", "name"), ("3", "reference"), ("4", "name")),
        *(("1e-3", ""), ("1e-4", ""), ("5th", ""), ("0.5 +- 0.1", "")),
    ]


def test_attributes_are_set_aside() -> None:
    assert found('# Results {#res2 .c3}\n\n![Six of 7](a.png){width=50% height="3"} {config: 5}') == [
        *(("res2", "reference"), ("c3", "reference"), ("7", ""), ("50%", "reference"), ("3", "reference"), ("5", ""))
    ]


def test_what_a_program_makes_is_noted() -> None:
    text = (
        "# Results\n\nIt is `r round(x, 2)`, `{python} 3`, `=A5` or `r5`.\n\n# B\n\n{{< include b.md >}} {{ x }} "
        "\\input{t2}\n\n"
        "```{r, echo=FALSE}\n1\n```\n\n```python\n2\n```\n"
    )
    _, unread = read_markdown(text)
    assert [(text.count("\n", 0, one.offset) + 1, one.text, one.fails) for one in unread] == [
        *((3, "`r round(x, 2)`", True), (3, "`{python} 3`", True), (3, "`=A5`", True)),
        *(
            (7, "{{< include b.md >}}", False),
            (7, "{{ x }}", False),
            (7, "\\input{t2}", False),
            (9, "```{r, echo=FALSE}", False),
        ),
    ]


def test_html_has_rows_paragraphs_and_headings() -> None:
    text = (
        "<h2>Our <b>results</b></h2>\n<table>\n<tr><td>a</td><td>1</td></tr><!-- <tr> -->\n<TR><td>2</td></TR>\n"
        "</table>\n"
        "<p>3<br>4</p><ul><li>5<li>6</ul>\n\n<h2>Method</h2>\n\n7\n"
    )
    passages, _ = read_markdown(text)
    assert [([value.text for value in values(one.text)], one.row, one.results) for one in passages] == [
        *(([], False, True), (["1"], True, True), (["2"], True, True), (["3", "4"], False, True)),
        *((["5"], False, True), (["6"], False, True), ([], False, False), (["7"], False, False)),
    ]
