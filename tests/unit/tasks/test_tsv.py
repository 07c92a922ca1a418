"""Parallel text in one tab-separated file."""

import pytest

from assay.errors import DataError
from assay.tasks.tsv import parallel_tsv

GOOD = 'id\tcluster\ten\tpl\n1\tp1\tA cat.\tKot.\n2\tp1\tA "dog".\tPies.\n'


def write(tmp_path, content):
    path = tmp_path / "mine.tsv"
    path.write_text(content, encoding="utf-8")
    return path


def test_columns_become_languages(tmp_path):
    text = parallel_tsv(write(tmp_path, GOOD), licence="CC0")
    assert text.languages == ("en", "pl")
    assert text.sentences["en"] == ("A cat.", 'A "dog".')
    assert (text.ids, text.clusters, text.licence, text.source) == (("1", "2"), ("p1", "p1"), "CC0", "mine.tsv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the first line must name the columns"),
        ("id\ten\tpl\n", "the first line must name the columns"),
        ("id\tcluster\ten\ten\n", "the first line must name the columns"),
        ("id\tcluster\ten\n", "0 items"),
        (GOOD + "3\tp2\tA bird.\n", "line 4 has 3 fields, the header has 4"),
        (GOOD + "3\t\tA bird.\tPtak.\n", "line 4 has no id or no cluster"),
        (GOOD + "3\tp2\tA bird.\t \n", "item '3' is blank in pl"),
        (GOOD + "1\tp2\tA bird.\tPtak.\n", "'1' occurs twice"),
    ],
)
def test_bad_files_are_refused(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        parallel_tsv(write(tmp_path, content))
