"""What the documents say works: their links lead somewhere, and their examples run as printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part.startswith(".") or part in ("build", "artifacts") for part in path.relative_to(ROOT).parts)
)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def broken_links(path: Path) -> list[str]:
    """Relative links of a document that lead nowhere."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [link for link in LINK.findall(text) if not (path.parent / link).exists()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    assert broken_links(path) == []


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("[x](missing.md) [y](a.md) `[z](code.md)` [w](https://example.org)")
    assert broken_links(tmp_path / "a.md") == ["missing.md"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository of a user."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    for name, value in (("user.name", "user"), ("user.email", "user@example.org")):
        subprocess.run(["git", "config", name, value], cwd=tmp_path, check=True)
    return tmp_path


def write(repository: Path, name: str, text: str) -> None:
    """A committed file."""
    (repository / name).parent.mkdir(parents=True, exist_ok=True)
    (repository / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=repository, check=True)
    subprocess.run(["git", "commit", "-qm", name], cwd=repository, check=True)


def call(repository: Path, *arguments: str) -> str:
    """What a command prints; it has to succeed."""
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, env={**os.environ})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_examples_of_the_readme_run_as_printed(repository: Path) -> None:
    experiment, claim = PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    write(repository, "experiments/coins/heads.py", experiment)
    call(repository, "assay", "run", "coins.heads", "--register", "first run")
    write(repository, "claims/coins/test_heads.py", claim)
    assert "1 claims: 1 HOLDS" in call(repository, "pytest", "claims/").replace("1 claim:", "1 claims:")


def test_the_example_of_the_how_to_runs(repository: Path) -> None:
    text = (ROOT / "docs/how_to/write_an_experiment.md").read_text(encoding="utf-8")
    write(repository, "experiments/circle/pi.py", PYTHON.findall(text)[-1])
    shown = call(repository, "assay", "run", "circle.pi", "--set", "boards=12")
    assert re.search(r"pi +3\.\d+ \[3\.\d+, 3\.\d+\] \(n 12\)", shown), shown
