"""The folder of a report: every file, the same bytes each time, and never over the record."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ConfigError
from assay.report.folder import report_files, write_report
from assay.report.study import Study


def test_the_files_of_a_report(study: Study, tmp_path: Path) -> None:
    names = write_report(study, tmp_path / "out")
    there = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert there == set(names)
    assert there >= {"index.html", "report.md", "numbers.tex", "badge.svg"}
    assert "tables/study.effect.tiny.directions.tex" in there
    assert {f"figures/study.effect.small/effects.{kind}" for kind in ("svg", "png")} <= there


def test_equal_evidence_gives_equal_bytes(representations: Study) -> None:
    assert report_files(representations) == report_files(representations)


def test_the_figures_of_the_markdown_are_in_the_folder(study: Study, tmp_path: Path) -> None:
    files = report_files(study)
    assert b"](figures/study.effect.tiny/effects.svg)" in files["report.md"]
    assert "figures/study.effect.tiny/effects.svg" in files


def test_files_of_others_are_not_replaced(study: Study, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "index.html").write_text("mine")
    with pytest.raises(ConfigError, match="holds other files"):
        write_report(study, folder)
    assert [path.name for path in folder.iterdir()] == ["index.html"]
    assert (folder / "index.html").read_text() == "mine"
    write_report(study, tmp_path / "new")
    assert write_report(study, tmp_path / "new")  # an earlier report is written anew


def test_the_record_is_no_folder_for_a_report(study: Study, repository: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (repository / "experiments", tmp_path / "file"):
        with pytest.raises(ConfigError, match="no folder for a report"):
            write_report(study, place)
