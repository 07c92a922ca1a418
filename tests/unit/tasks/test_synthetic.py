"""The template text is fixed, distinct and aligned."""

import pytest

from assay.errors import DataError
from assay.tasks.synthetic import synthetic_text, synthetic_text_digest


def test_every_sentence_is_distinct_in_every_language():
    text = synthetic_text(160)
    assert [len(set(lines)) for lines in text.sentences.values()] == [160] * 5
    assert len(set(text.clusters)) == 80


def test_the_text_is_pinned():
    text = synthetic_text()
    assert (len(text), len(set(text.clusters))) == (40, 20)
    assert text.sentences["it"][0] == "Al mattino il gatto dorme in casa."
    assert text.digest == synthetic_text_digest()
    assert text.digest == "d08beeda3551401f6e16b06618f0bf24e709f4c01915d6df77cfe76b46713ca5"


@pytest.mark.parametrize("n", [0, 161])
def test_only_what_the_templates_give(n):
    with pytest.raises(DataError, match="the templates give 1 to 160"):
        synthetic_text(n)
