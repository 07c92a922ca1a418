"""Lines and columns, and passages inside of passages."""

from __future__ import annotations

from assay.ledger.texts.passage import Lines, Sections, Setter


def test_lines_end_in_three_ways() -> None:
    lines = Lines("a\r\nbc\rd\ne")
    assert [lines.place(at) for at in (0, 3, 4, 6, 8)] == [(1, 1), (2, 1), (2, 2), (3, 1), (4, 1)]


def test_a_passage_without_words_is_dropped_and_one_apart_joins() -> None:
    setter = Setter(Sections())
    setter.put("--", 0, 2)
    setter.end()
    setter.put("a", 3, 4)
    other = setter.apart()
    other.put("note", 5, 9, aside="code")
    setter.join(other)
    setter.put("b\n", 9, 11)
    setter.end()
    assert [one.text for one in setter.passages] == ["note", "ab "]
    assert setter.passages[0].prose == "xxxx"
