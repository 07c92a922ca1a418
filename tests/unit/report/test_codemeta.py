"""CodeMeta says what the project says of itself, and nothing else."""

from __future__ import annotations

from pathlib import Path

from assay.report.codemeta import CONTEXT, codemeta
from assay.report.project import read_project
from tests.unit.report.test_project import CITATION


def test_codemeta_says_what_the_project_says_and_nothing_else(repository: Path) -> None:
    (repository / "CITATION.cff").write_text(CITATION)
    document = codemeta(read_project(repository))
    assert document["@context"] == CONTEXT
    assert document["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert document["identifier"] == "https://doi.org/10.5281/zenodo.1"
    assert document["softwareRequirements"] == [
        {"@type": "SoftwareApplication", "name": "numpy", "version": ">=2"},
        {"@type": "SoftwareApplication", "name": "pandas", "version": ">=2.2"},
    ]
    assert "runtimePlatform" not in document
    assert all(document.values())
