"""200 claims of every verdict in four processes, again and again: what is reported is what one process reports."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from assay.runs import Count, Record, Run, experiment
from assay.runs.execution import execute
from tests.plugin.conftest import Settings, claim, git

CLAIMS, FILES, WORKERS = 200, 8, 4
OUTPUTS = ("table.md", "verdicts.json")
HEAD = 'import pytest\npytestmark = pytest.mark.registered("study.effect", tier="tiny")\n\n\n'


def effect(config: Settings, run: Run) -> None:
    """Two numbers for each claim, one of them not finite now and then."""
    for n in range(CLAIMS):
        run[f"wins.d{n}"] = Count(n % 20, 20)
        run[f"delta.d{n}"] = float("nan") if n % 20 == 7 else (n + 1) / 1000


def written(n: int) -> str:
    """The n-th claim: most hold, some fail, are unverified or pending, some are ties, some fail in their body."""
    count = n % 20 + (n % 20 == 3)
    sentence = f"Direction d{n} wins {{wins.d{n}: {count}/20}} by {{delta.d{n}: {(n + 1) / 1000:.3f}}}."
    body = f"assert evidence['delta.d{n}'] < 0" if n % 20 == 11 else "..."
    marks = 'pending="later"' if n % 20 == 13 else f'section="{n % 5}"'
    return claim(f"D{n}", sentence, body, marks=marks)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with 200 claims in eight files and one registered run."""
    folder = tmp_path_factory.mktemp("parallel")
    (folder / "experiments" / "study").mkdir(parents=True)
    (folder / "experiments" / "study" / "effect.py").write_text('"""Synthetic."""\n')
    (folder / "claims").mkdir()
    (folder / ".gitignore").write_text("artifacts/\n__pycache__/\n")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    for file in range(FILES):
        source = HEAD + "\n\n".join(written(n) for n in range(file, CLAIMS, FILES))
        (folder / "claims" / f"test_{file}.py").write_text(source)
    git(folder, "init", "--quiet", "--template=")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "start")
    made = experiment("study.effect", version=1, tiers={"tiny": Settings})(effect)
    record = Record(folder / "experiments")
    execute(made, Settings(), record=record, repository=folder, tier="tiny", register="the test", quiet=True)
    return folder


def report(repository: Path, *options: str) -> dict[str, object]:
    """Everything that a session says of the claims: table, verdicts, JUnit properties, and the end of the terminal."""
    for name in OUTPUTS:
        (repository / name).unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "claims", "-q", "--claims-table", "table.md"]
    command += ["--claims-json", "verdicts.json", "--junitxml", "junit.xml", *options]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    cases = ET.parse(repository / "junit.xml").iter("testcase")
    properties = [{one.get("name"): one.get("value") for one in case.iter("property")} for case in cases]
    shown = done.stdout.partition("= claims =")[2].partition("short test summary")[0]
    found: dict[str, object] = {name: (repository / name).read_bytes() for name in OUTPUTS}
    return found | {"junit": sorted(properties, key=lambda one: str(one["claim"])), "terminal": shown}


def test_parallel_sessions_report_what_a_serial_one_does(repository: Path, request: pytest.FixtureRequest) -> None:
    serial = report(repository)
    assert len(serial["junit"]) == CLAIMS  # type: ignore[arg-type]
    assert "200 claims: 160 HOLDS, 20 FAILS, 10 UNVERIFIED, 10 PENDING" in str(serial["terminal"])
    for _ in range(request.config.getoption("--sessions")):
        assert report(repository, "-n", str(WORKERS)) == serial
