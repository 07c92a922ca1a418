"""A planted secret, user name, home path and the host's name are in nothing that a session of claims writes."""

from __future__ import annotations

import os
import platform
import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import pytest

from assay.errors import ConfigError
from assay.runs import Record

from .conftest import Repository, claim, run_and_register

pytest_plugins = ["pytester"]

PLANTED = {"HOME": "/home/plantedname", "USER": "plantedname", "LOGNAME": "plantedname", "API_TOKEN": "tok-5e1f8a3c9d"}


@dataclass(frozen=True)
class Noted:
    """A configuration with words of its own."""

    note: str
    seed: int = 7


LEAK = (
    "import os, platform\n    text = ' '.join([os.path.expanduser('~/x/rows.csv'), os.environ['USER'], "
    "os.environ['API_TOKEN'], platform.node(), os.getcwd()])\n    print(text)\n    "
)


def hits(text: str, folder: Path) -> list[str]:
    """Planted words, the folder's own path and the name of this host in a text."""
    words = {*PLANTED.values(), str(folder), platform.node()}
    return [word for word in words if re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", text)]


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_nothing_that_is_written_tells_whose_machine_it_was(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    repository.claims(
        claim("M1", "{items: 3,000}"),
        claim("M2", "{items: 3,000}", LEAK + "raise RuntimeError(text)"),
        claim("M3", "{items: 3,000}", LEAK + "pytest.skip(text)"),
        claim("M4", "{items: 3,000}", LEAK + "assert evidence['items'] == text, text"),
        "@pytest.fixture\ndef broken():\n    " + LEAK + "raise RuntimeError(text)\n",
        claim("M5", "{items: 3,000}").replace("(evidence)", "(evidence, broken)"),
        claim("M6", "{items: 2,999} {gone: 1}"),
    )
    outputs = ("--claims-table", "table.md", "--claims-json", "out.json", "--junitxml", "out.xml")
    result = repository.run("claims", *outputs, "-o", f"junit_family={family}", "-o", "junit_logging=all")
    assert result.ret == 1
    for name in ("table.md", "out.json", "out.xml"):
        text = (repository.path / name).read_text()
        assert len(re.findall(r"\bM[1-6]\b", text)) >= 6
        assert hits(text, repository.path) == [], name
    (suite,) = ET.parse(repository.path / "out.xml").getroot()
    assert suite.get("hostname") == "localhost"
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("6", "4", "1")
    assert "rows.csv" in (repository.path / "out.xml").read_text()


def test_what_is_private_in_a_configuration_or_reason_reaches_neither_record_nor_junit(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**PLANTED, "HOSTNAME": "plantedhost"}.items():
        monkeypatch.setenv(name, value)
    record = Record(repository.path / "experiments")
    (run_id,) = record.attempts()[:1]
    for text in ("/home/plantedname/x", "with tok-5e1f8a3c9d", "on plantedhost", r"C:\Users\plantedname"):
        with pytest.raises(ConfigError, match=f"register {run_id}: --why holds"):
            record.register(run_id, why=text)
        with pytest.raises(ConfigError, match=r"run of study\.effect: config\.note holds"):
            run_and_register(repository.path, settings=Noted(text))
    repository.claims(claim("M1", "{items: 3,000}"))
    assert repository.run("claims", "--junitxml", "out.xml", "--claims-table", "table.md").ret == 0
    for path in repository.path.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            text = path.read_bytes().decode(errors="replace")
            assert [word for word in (*PLANTED.values(), "plantedhost") if word in text] == [], path


def test_a_session_without_claims_is_left_as_pytest_writes_it(repository: Repository) -> None:
    repository.write("claims/test_plain.py", "def test_it(): pass\n")
    repository.run("claims", "--junitxml", "out.xml")
    (suite,) = ET.parse(repository.path / "out.xml").getroot()
    assert suite.get("hostname") == platform.node()


def test_workers_tell_nothing_either(repository: Repository) -> None:
    repository.claims(claim("M1", "{items: 3,000}"), claim("M2", "{items: 2,999}"))
    command = [sys.executable, "-m", "pytest", "claims", "-n", "2", "--junitxml", "out.xml"]
    assert repository.pytester.run(*command).ret == 1
    text = (repository.path / "out.xml").read_text()
    assert hits(text, repository.path) == []
    assert os.path.expanduser("~") not in text or os.path.expanduser("~") == "/"


@pytest.mark.parametrize("name", ["x-y", "x_y", "X_Y", "CON", "a" * 300])
def test_odd_claim_ids_keep_to_themselves(repository: Repository, name: str) -> None:
    names = ["x-y", "x_y", "X_Y", "CON", "a" * 300]
    tests = [
        claim(one, f"Of {{items: {3000 + (one == name):,}}}.").replace("test_", f"test_{at}_", 1)
        for at, one in enumerate(names)
    ]
    repository.claims(*tests)
    before = {path.name for path in repository.path.rglob("*")}
    result = repository.run("claims", "--claims-table", "t.md", "--claims-json", "o.json", "--junitxml", "o.xml")
    assert result.ret == 1
    made = {path.name for path in repository.path.rglob("*")} - before - {"t.md", "o.json", "o.xml"}
    assert {one for one in made if "pyc" not in one} <= {"__pycache__"}
    rows = [
        line.split("`")[1] for line in (repository.path / "t.md").read_text().splitlines() if line.startswith("| `")
    ]
    assert sorted(rows) == sorted(names)
    cases = ET.parse(repository.path / "o.xml").iter("testcase")
    found = [{one.get("name"): one.get("value") for one in case.iter("property")} for case in cases]
    assert {one["claim"]: one["claim_verdict"] for one in found} == {
        one: "FAILS" if one == name else "HOLDS" for one in names
    }


def test_an_id_that_is_no_id_is_refused_where_it_stands(repository: Repository) -> None:
    repository.claims(claim("\u00e9", "Of {items: 3,000}."))
    result = repository.run("claims")
    assert result.ret == 2
    result.stdout.fnmatch_lines(
        ["claims/test_claims.py:6: a claim has one id of letters A to Z and digits*'\u00e9' came"]
    )
