"""What a project says of itself comes from CITATION.cff and pyproject.toml; what neither says is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ConfigError
from assay.report.project import read_project

CITATION = """
cff-version: 1.2.0
title: "Effects: a study"
abstract: >
  What was
  done.
license: CC-BY-4.0
doi: 10.5281/zenodo.1
repository-code: https://example.org/study
authors:
  - given-names: Given
    family-names: Family
    orcid: https://orcid.org/0000-0000-0000-0000
  - name: A group
"""


def test_citation_goes_first_and_pyproject_fills_in(repository: Path) -> None:
    (repository / "CITATION.cff").write_text(CITATION)
    project = read_project(repository)
    assert (project.name, project.title, project.licence) == ("study", "Effects: a study", "CC-BY-4.0")
    assert (project.description, project.version) == ("What was done.", "1.2")
    assert project.authors == (
        {
            "@type": "Person",
            "@id": "https://orcid.org/0000-0000-0000-0000",
            "givenName": "Given",
            "familyName": "Family",
            "name": "Given Family",
        },
        {"@type": "Organization", "name": "A group"},
    )


def test_pyproject_alone_suffices_and_does_not_tell_what_an_author_is(template: Path) -> None:
    project = read_project(template)
    assert (project.name, project.licence) == ("study", "MIT")
    assert project.authors == ({"@type": "Thing", "name": "The study's authors"},)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, r"do not give the name \(title in CITATION.cff\) and the license \(an SPDX identifier\)\. Write it"),
        ({"CITATION.cff": "title: a\n"}, "do not give the license"),
        ({"pyproject.toml": '[project]\nlicense = "MIT"\n'}, r"do not give the name \(title in CITATION.cff\)\. Write"),
        ({"CITATION.cff": "- a\n"}, "holds no mapping"),
        ({"CITATION.cff": "a: [\n"}, "is no YAML"),
        ({"pyproject.toml": "[project\n"}, "is no TOML"),
    ],
)
def test_what_is_missing_or_broken_is_said(tmp_path: Path, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_project(tmp_path)


def test_the_example_of_the_message_suffices(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_project(tmp_path)
    (tmp_path / "pyproject.toml").write_text(str(caught.value).split("\n\n")[1])
    project = read_project(tmp_path)
    assert (project.name, project.licence, project.version) == ("my-paper", "CC-BY-4.0", "1.0")
    assert project.authors == ({"@type": "Thing", "name": "Given Family"},)
