"""Sentences: bindings, constants, names, and everything that is wrong with one."""

from __future__ import annotations

import pytest

from assay.ledger.sentence import SentenceError, Source, loose_numbers, read_sentence


def test_braces_are_removed_and_bindings_kept_in_order() -> None:
    written = "In {wins.target: 14/20}\n    of {= 20} pairs, above {config.sesoi: 0.25}: {H2: supported} {{x}}."
    sentence = read_sentence(written)
    assert sentence.display == "In 14/20 of 20 pairs, above 0.25: supported {x}."
    assert [(binding.key, binding.source) for binding in sentence.bindings] == [
        ("wins.target", Source.RESULT),
        ("", Source.CONSTANT),
        ("config.sesoi", Source.CONFIG),
        ("H2", Source.RESULT),
    ]
    assert [written[binding.start : binding.end].strip() for binding in sentence.bindings] == [
        "14/20",
        "20",
        "0.25",
        "supported",
    ]
    assert len(sentence.numbers) == 3


@pytest.mark.parametrize(
    "text",
    [
        "L0, H2, SmolLM2-135M, FLORES-200, P@1, Qwen2.5, R\u00b2 and resid_2.",
        "five languages, both models",
        "the {= 90}th percentile of {= 4}-bit models, top-{= 5}",
        "from {a: 1}-{b: 5} and {a: 1}\u2013{b: 5}",
        "a gain of {a: -0.5} (CKA {b: 87.5%})",
    ],
)
def test_names_are_no_numbers(text: str) -> None:
    assert read_sentence(text).display


def test_names_with_a_space_are_declared() -> None:
    assert read_sentence("Gemma 3\n 270M wins", names=["Gemma 3 270M"]).display == "Gemma 3 270M wins"
    with pytest.raises(SentenceError, match="unbound number 3"):
        read_sentence("Gemma 3 270M wins")
    with pytest.raises(SentenceError, match="unbound number"):
        read_sentence("Gemma 3 270Mx wins", names=["Gemma 3 270M"])


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("a gain of 0.25 nats", 10, "unbound number 0.25"),
        ("x=0.25", 2, "unbound number 0.25"),
        ("yellow302/1000", 6, "unbound number 302/1000"),
        ("in SmolLM2-x14/20 pairs", 12, "unbound number 14/20"),
        ("yellow87.5%", 6, "unbound number 87.5%"),
        ("_0.25_", 1, "unbound number 0.25"),
        ("**14/20**", 2, "unbound number 14/20"),
        ("{x: 14}/20", 8, "unbound number 20"),
        ("{x: 1}e-3", 6, "unbound number e-3"),
        ("1{x: 5}", 0, "unbound number 1"),
        ("10\u00b2 of", 0, "unbound number 10\u00b2"),
        ("\u00bd of", 0, "unbound number \u00bd"),
        ("a 4-bit model", 2, "unbound number 4"),
        ("\u0663 wins", 0, "unbound number \u0663"),
        ("wins {x: 5", 5, "opened and not closed"),
        ("wins x: five}", 12, "closed and not opened"),
        ("{a: {b: 1}}", 0, "opened and not closed"),
        ("{: 5}", 0, "empty key"),
        ("{5}", 0, "prints nothing"),
        ("{}", 0, "prints nothing"),
        ("{= }", 0, "holds no constant"),
        ("{x: }", 0, "nothing is printed"),
        ("{x: 0,85}", 0, "decimal sign is a point"),
        ("{x y: 3}", 0, "not a key"),
        ("{x..y: 3}", 0, "not a key"),
        ("a -{x: 5}", 2, "the sign before"),
        ("\u00b1 {x: 5}", 1, "the sign before"),
        ("{x: 5}%", 6, "the percent after"),
        ("{x: 5} %", 6, "the percent after"),
        ("{x: 5} percent.", 6, "the percent after"),
        ("{x: 5}\n    per cent", 6, "the percent after"),
        (" \n ", 0, "empty"),
    ],
)
def test_mistakes_have_their_place(text: str, offset: int, message: str) -> None:
    with pytest.raises(SentenceError, match=message.replace("\u00bd", ".")) as raised:
        read_sentence(text)
    assert any(fault.offset == offset and message in fault.message for fault in raised.value.faults), (
        raised.value.faults
    )


def test_all_mistakes_are_listed() -> None:
    with pytest.raises(SentenceError) as raised:
        read_sentence("0.5 of {x: 0,8} and {: 3} and {y: 1}%")
    assert len(raised.value.faults) == 4


def test_loose_numbers_of_a_text() -> None:
    assert [fault.message for fault in loose_numbers("In 14/20 (70%) of L0, Gemma 3.", names=["Gemma 3"])] == [
        "14/20",
        "70%",
    ]


@pytest.mark.parametrize(
    "after", ["-percent", " Percent", " per  cent", "\n    per\n    cent", "\\,\\%", "  %", " **percent**", "~percent"]
)
def test_a_percent_after_a_brace_belongs_inside_however_it_is_written(after: str) -> None:
    with pytest.raises(SentenceError, match="belongs inside the braces, as %"):
        read_sentence(f"A share of {{x: 2.4}}{after} is left.")


@pytest.mark.parametrize("after", [" percentage points", " percentiles", " perhaps", "-per-century"])
def test_what_only_begins_like_a_percent_is_none(after: str) -> None:
    assert read_sentence(f"It moved by {{x: 2.4}}{after}.").bindings[0].text == "2.4"
