"""Parallel text: what it refuses, and digests that follow from the content alone."""

import pickle

import pytest

from assay.errors import DataError
from assay.tasks.parallel import ParallelText, decode, encode, parallel_text, part_digest
from assay.tasks.splits import hash_order


def text(n: int = 20, **changes: object) -> ParallelText:
    parts: dict = {
        "ids": [f"id{i}" for i in range(n)],
        "clusters": [f"page{i // 2}" for i in range(n)],
        "source": "invented",
        "licence": "none",
    }
    sentences = {"en": [f"line {i}" for i in range(n)], "pl": [f"wiersz {i}\u2028dalej" for i in range(n)]}
    return parallel_text(changes.pop("sentences", sentences), **(parts | changes))


def test_the_digest_follows_the_content():
    assert text().digest == text().digest
    assert text().digest != text(clusters=["one"] * 20).digest
    assert text().digest == text(source="elsewhere", licence="other").digest
    swapped = {"pl": text().sentences["pl"], "en": text().sentences["en"]}
    assert text(sentences=swapped).digest != text().digest


def test_encoding_round_trip_keeps_line_separators():
    whole = text()
    assert decode(encode(whole), source="invented", licence="none") == whole
    assert pickle.loads(pickle.dumps(whole)) == whole  # noqa: S301


def test_a_damaged_encoding_is_named():
    with pytest.raises(DataError, match="invented: the stored text cannot be read"):
        decode(encode(text())[:-5] + b"\n", source="invented", licence="none")


def test_take_is_by_hash_order_and_nests():
    whole = text()
    part = whole.take(7)
    assert set(part.ids) == {whole.ids[i] for i in hash_order(whole.ids)[:7]}
    assert list(part.ids) == [name for name in whole.ids if name in part.ids]
    assert whole.take(12).take(7) == part
    assert part.digest == part_digest(whole.digest, languages=("en", "pl"), n=7)
    assert whole.take(20) is whole
    assert part.sentences["pl"][0] == whole.sentences["pl"][whole.ids.index(part.ids[0])]


def test_parts_by_language():
    whole = text()
    polish = whole.only(["pl"])
    assert polish.languages == ("pl",)
    assert (
        polish.take(5).digest == part_digest(whole.digest, languages=["pl"], n=5) == whole.take(5).only(["pl"]).digest
    )
    with pytest.raises(DataError, match="no language de; it has en, pl"):
        whole.only(["en", "de"])


@pytest.mark.parametrize("n", [0, 21, -1, True, 2.0])
def test_take_refuses_what_it_cannot_give(n):
    with pytest.raises(DataError, match="Ask for 1 to 20"):
        text().take(n)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"sentences": {"en": ["a"] * 20, "pl": ["b"] * 19}},
            "unequal numbers of lines: ids 20, clusters 20, en 20, pl 19",
        ),
        ({"clusters": ["c"] * 3}, "clusters 3"),
        ({"ids": ["same"] * 20}, "'same' occurs twice"),
        ({"sentences": {"en": ["a"] * 19 + ["\u00a0"]}}, "item 'id19' is blank in en"),
        ({"sentences": {"en": ["a"] * 19 + ["a\nb"]}}, "line feed in en"),
        ({"sentences": {}}, "0 languages"),
    ],
)
def test_bad_text_is_refused(changes, message):
    with pytest.raises(DataError, match=message):
        text(**changes)
