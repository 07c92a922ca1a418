"""Figures have the words that a text gives them, or their name."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import EvidenceError
from assay.report.illustrations import illustrations
from assay.report.study import Study, read_study
from assay.runs import Record


def test_a_text_gives_the_words_for_whatever_run_of_the_experiment(study: Study, template: Path) -> None:
    for run in study.runs[:2]:
        (found,) = illustrations(run, template)
        assert (found.name, found.file, found.media_type) == ("effects", "effects.svg", "image/svg+xml")
        assert found.alt == "Effect of each pair, before <and> after"
        assert found.data.lstrip().startswith(b"<?xml")


def test_without_a_text_the_name_stands_for_it(study: Study, tmp_path: Path) -> None:
    (found,) = illustrations(study.runs[1], tmp_path)
    assert found.alt == "effects, a figure of study.effect.tiny"


def test_an_altered_figure_is_refused(repository: Path) -> None:
    study = read_study("study.effect", repository, Record(repository / "experiments"))
    next((repository / "experiments/summaries").glob("study.effect_tiny_*/figures/effects.svg")).write_text("<svg/>")
    with pytest.raises(EvidenceError, match="altered"):
        illustrations(study.runs[1], repository)


def test_the_readme_gives_the_words_of_this_repository(representations: Study) -> None:
    found = illustrations(representations.lead()[0], representations.repository)
    assert len(found) >= 3
    assert all(len(one.alt.split()) > 5 for one in found)
