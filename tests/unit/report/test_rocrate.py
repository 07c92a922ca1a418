"""The crate is read by the rocrate library, holds the record's own files, and is a record again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rocrate.rocrate import ROCrate

from assay.errors import ConfigError, EvidenceError
from assay.report.project import read_project
from assay.report.rocrate import METADATA, write_crate
from assay.report.study import Study
from assay.runs import Record
from assay.runs.storage import file_digest


def write(folder: Path, template: Path, *experiments: str) -> list[str]:
    return write_crate(
        folder,
        record=Record(template / "experiments"),
        experiments=experiments or ("study.effect", "study.other"),
        project=read_project(template),
    )


@pytest.fixture(scope="module")
def crate(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crate") / "out"
    write(folder, template)
    return folder


def test_rocrate_reads_it(crate: Path, study: Study) -> None:
    read = ROCrate(crate)
    assert read.name == "study: registered runs of study.effect, study.other"
    assert read.license.id == "https://spdx.org/licenses/MIT"
    actions = {entity.id: entity for entity in read.get_by_type("CreateAction")}
    assert set(actions) == {f"#{run.run_id}" for run in study.runs}
    action = actions[f"#{study.runs[1].run_id}"]
    assert action["instrument"]["name"] == "study.effect"
    assert action["instrument"]["version"] == study.runs[1].manifest.commit
    assert {one["name"] for one in action["object"]} == {"seed", "draws", "kind"}
    assert {Path(one.id).name for one in action["result"]} == {
        Path(name).name for name in study.runs[1].manifest.summary
    }


def test_every_file_is_there_with_its_digest_and_no_other(crate: Path) -> None:
    graph = json.loads((crate / METADATA).read_text())["@graph"]
    files = {entity["@id"]: entity for entity in graph if entity["@type"] == "File"}
    there = {path.relative_to(crate).as_posix() for path in crate.rglob("*") if path.is_file()}
    assert set(files) == there - {METADATA}
    for name, entity in files.items():
        assert entity["sha256"] == file_digest(crate / name)
        assert entity["contentSize"] == str((crate / name).stat().st_size)
    root = next(entity for entity in graph if entity["@id"] == "./")
    assert {one["@id"] for one in root["hasPart"]} == set(files)


def test_every_reference_leads_to_an_entity(crate: Path) -> None:
    graph = json.loads((crate / METADATA).read_text())["@graph"]
    known = {entity["@id"] for entity in graph}
    assert len(known) == len(graph)
    outside = {"https://w3id.org/ro/crate/1.1", "http://schema.org/CompletedActionStatus"}
    assert references(graph) - known == outside


def references(node: object) -> set[str]:
    """Ids of all references in a document."""
    if isinstance(node, dict):
        return {node["@id"]} if node.keys() == {"@id"} else set().union(*map(references, node.values()))
    return set().union(*map(references, node)) if isinstance(node, list) else set()


def test_the_crate_is_a_record(crate: Path, study: Study) -> None:
    record = Record(crate / "experiments")
    assert record.registered("study.effect", "tiny").run_id == study.runs[1].run_id
    assert record.results(study.runs[1].run_id).value("items") == 3000


def test_equal_evidence_gives_equal_bytes(crate: Path, template: Path, tmp_path: Path) -> None:
    files = write(tmp_path / "again", template)
    assert all((tmp_path / "again" / name).read_bytes() == (crate / name).read_bytes() for name in files)


def test_one_experiment_alone(template: Path, tmp_path: Path) -> None:
    write(tmp_path / "out", template, "study.other")
    assert [entity["name"] for entity in ROCrate(tmp_path / "out").get_by_type("CreateAction")] == [
        "study.other, tier tiny"
    ]


def test_nothing_is_written_over(template: Path, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    with pytest.raises(ConfigError, match="there already"):
        write(tmp_path, template)
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_an_altered_run_is_not_exported(repository: Path, tmp_path: Path) -> None:
    next((repository / "experiments/summaries").glob("study.other_*")).joinpath("summary.json").write_text("{}")
    with pytest.raises(EvidenceError, match="altered"):
        write(tmp_path / "out", repository)
    assert not (tmp_path / "out").exists()
