"""`assay report`, `assay export` and `assay claims --format` as a user types them, and what they never print."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.report.study_repository import make, write
from tests.unit.runs.toy_repository import assay, commit

TOKEN = "planted-token-0123456789"
USER = "planteduser"

LEAKING = f'''
import os
import pytest


@pytest.fixture
def machine():
    who = f"{{os.environ['HOME']}}/x of {{os.environ['USER']}} on {platform.node()}"
    raise OSError(f"{{who}}: {{os.environ['PLANTED_TOKEN']}}")


@pytest.mark.registered("study.effect", tier="tiny")
@pytest.mark.claim("E9", section="Cost")
def test_e9(evidence, machine):
    """Of {{wins.target: 14/20}}."""
'''


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small repository, to be copied."""
    return make(tmp_path_factory.mktemp("cli") / "repository")


@pytest.fixture
def repository(made: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return shutil.copytree(made, tmp_path / "repository")


def good_claims(repository: Path) -> None:
    """Only claims that hold."""
    text = (repository / "claims/study/test_study.py").read_text()
    write(repository, "claims/study/test_study.py", text[: text.index('@pytest.mark.claim("E3"')])


def test_a_report_is_written_though_a_claim_fails(repository: Path) -> None:
    done = assay(repository, "report", "study")
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines() == [
        "3 of 7 claims hold; E3 fails, E5 is unverified, E6 is stale and E4 is pending.",
        "build/report/study/index.html and 11 more (3 hold, 1 fails, 1 unverified, 1 stale, 1 pending)",
    ]
    assert (repository / "build/report/study/index.html").is_file()


def test_a_report_where_all_claims_hold(repository: Path, tmp_path: Path) -> None:
    good_claims(repository)
    done = assay(repository, "report", "study.effect", "--out", str(tmp_path / "out"), "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["verdicts"] == {"HOLDS": 2}
    assert all((tmp_path / "out" / name).is_file() for name in document["files"])


def test_an_unknown_study_writes_nothing(repository: Path) -> None:
    done = assay(repository, "report", "nothing")
    assert done.returncode == 2
    assert "no study or experiment 'nothing'" in done.stderr
    assert not (repository / "build").exists()


def test_verdicts_in_other_forms(repository: Path) -> None:
    shown = {form: assay(repository, "claims", "--format", form) for form in ("github", "sarif", "badge")}
    assert {done.returncode for done in shown.values()} == {1}
    assert shown["github"].stdout.count("::error file=claims/study/test_study.py,") == 2
    assert json.loads(shown["sarif"].stdout)["version"] == "2.1.0"
    assert shown["badge"].stdout.startswith("<svg ")
    good_claims(repository)
    done = assay(repository, "claims", "--format", "github")
    assert (done.returncode, done.stdout) == (0, "")
    assert assay(repository, "claims", "--format", "github", "-k", "E1").returncode == 2


def test_exports(repository: Path, tmp_path: Path) -> None:
    crate = assay(repository, "export", "ro-crate", str(tmp_path / "crate"), "--study", "study.effect", "--json")
    assert json.loads(crate.stdout)["experiments"] == ["study.effect"]
    assert assay(repository, "export", "ro-crate", str(tmp_path / "crate")).returncode == 2
    assert assay(repository, "export", "ro-crate", str(tmp_path / "other"), "--study", "none").returncode == 2
    assert json.loads(assay(repository, "export", "codemeta").stdout)["name"] == "study"
    stated = assay(repository, "export", "in-toto", str(tmp_path / "statement.json"))
    assert stated.returncode == 1
    assert json.loads((tmp_path / "statement.json").read_text())["predicate"]["result"] == "FAILED"
    assert assay(repository, "export", "in-toto", str(tmp_path / "statement.json")).returncode == 1  # written anew
    named = assay(repository, "export", "codemeta", "codemeta.json", "--json")
    assert json.loads(named.stdout) == {"file": "codemeta.json"}
    before = (repository / "pyproject.toml").read_bytes()
    refused = assay(repository, "export", "in-toto", str(repository / "pyproject.toml"))
    assert (refused.returncode, (repository / "pyproject.toml").read_bytes()) == (2, before)
    assert "exists and is no such document" in refused.stderr


def test_all_that_an_export_lacks_is_said_at_once(tmp_path: Path) -> None:
    """As after `assay init`: no registered run, no name, no licence, and a folder that is not new."""
    assert assay(tmp_path, "init").returncode == 0
    write(tmp_path, "crate/notes.txt", "mine")
    crate = assay(tmp_path, "export", "ro-crate", "crate")
    assert (crate.returncode, crate.stdout) == (2, "")
    said = crate.stderr.splitlines()
    assert said[:3] == [
        "assay: export ro-crate: 3 things stand against it, and nothing was written.",
        '1. No run is registered; assay run NAME --register "..." registers one.',
        "2. crate is there already. Name a new folder.",
    ]
    lacking = "CITATION.cff and pyproject.toml do not give the name (title in CITATION.cff) and the license (an SPDX"
    assert said[3].startswith(f"3. {lacking}")
    meta = assay(tmp_path, "export", "codemeta")
    assert (meta.returncode, meta.stderr.startswith(f"assay: export: {lacking}")) == (2, True)
    example = meta.stderr.split("\n\n")[1]
    with (tmp_path / "pyproject.toml").open("a") as settings:
        settings.write(f"\n{example}\n")
    assert json.loads(assay(tmp_path, "export", "codemeta").stdout)["name"] == "my-paper"
    commit(tmp_path)
    assert assay(tmp_path, "run", "example.first_digits", "--register", "first").returncode == 0
    done = assay(tmp_path, "export", "ro-crate", "new")
    assert done.returncode == 0, done.stderr


def test_nothing_of_the_machine_is_in_any_output(repository: Path, tmp_path: Path) -> None:
    home = tmp_path / "home" / USER
    home.mkdir(parents=True)
    write(repository, "claims/study/test_leaking.py", LEAKING)
    env = {"PLANTED_TOKEN": TOKEN, "USER": USER, "LOGNAME": USER, "HOME": str(home)}
    out = tmp_path / "out"
    commands = (
        ("report", "study", "--out", str(out / "report")),
        ("claims", "--format", "github"),
        ("claims", "--format", "sarif"),
        ("claims", "--format", "badge"),
        ("export", "ro-crate", str(out / "crate")),
        ("export", "codemeta"),
        ("export", "in-toto"),
    )
    outputs = [done.stdout + done.stderr for done in (assay(repository, *words, env=env) for words in commands)]
    assert any("a fixture failed" in text for text in outputs)
    planted = [TOKEN, USER, str(home), str(repository), *filter(None, [platform.node()])]
    for text in (*outputs, *(path.read_bytes().decode("latin-1") for path in out.rglob("*") if path.is_file())):
        assert [word for word in planted if word in text] == []


def test_reports_need_no_torch(repository: Path) -> None:
    code = (
        "import sys; from assay.cli import assay; assay.main(['report', 'study'], standalone_mode=False);"
        "print([name for name in ('torch', 'transformers', 'matplotlib') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("[]\n")
