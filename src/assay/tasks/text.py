"""Parallel text, wherever it comes from: the help corpus, FLORES-200, tab-separated files, templates."""

from __future__ import annotations

from assay.tasks.flores import flores200
from assay.tasks.help_corpus import (
    FETCHABLES,
    HELP_CORPUS_DIGEST,
    HELP_CORPUS_SIZES,
    HELP_LANGUAGES,
    fetch_help_corpus,
    help_corpus,
    help_corpus_digest,
)
from assay.tasks.parallel import ParallelText, parallel_text
from assay.tasks.synthetic import synthetic_text, synthetic_text_digest
from assay.tasks.tsv import parallel_tsv

__all__ = [
    "FETCHABLES",
    "HELP_CORPUS_DIGEST",
    "HELP_CORPUS_SIZES",
    "HELP_LANGUAGES",
    "ParallelText",
    "fetch_help_corpus",
    "flores200",
    "help_corpus",
    "help_corpus_digest",
    "parallel_text",
    "parallel_tsv",
    "synthetic_text",
    "synthetic_text_digest",
]
