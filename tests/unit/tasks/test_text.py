"""The one module that users import offers every reader."""

from assay.tasks import text


def test_every_promised_name_is_there():
    assert all(callable(getattr(text, name)) or getattr(text, name) for name in text.__all__)
    assert {"help_corpus", "flores200", "parallel_tsv", "synthetic_text", "ParallelText"} <= set(text.__all__)
