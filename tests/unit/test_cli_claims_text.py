"""`assay claims text`, and the pre-commit hook that runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT / "tests/fixtures/paper"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The paper of two pages with its claims, as they would lie in a repository without any run."""
    (tmp_path / "claims").mkdir()
    (tmp_path / "paper").mkdir()
    shutil.copy(PAPER / "claims.py", tmp_path / "claims/test_paper.py")
    shutil.copy(PAPER / "paper.tex", tmp_path / "paper/paper.tex")
    (tmp_path / "pyproject.toml").write_text('[tool.pytest]\nclaims_texts = ["README.md", "paper/*.tex"]\n')
    (tmp_path / "README.md").write_text("# Results\n\nIn 14/20 plots (P1).\n")
    return tmp_path


def call(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)


def text(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `assay claims text`."""
    return call(folder, sys.executable, "-m", "assay", "claims", "text", *arguments)


def test_exit_status_and_places(repository: Path) -> None:
    good = text(repository, "README.md")
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout.splitlines()[-1].split() == ["README.md", "1", "0", "0", "0", "0", "0", "100%"]
    both = text(repository, "README.md", "paper/*.tex")
    assert both.returncode == 1
    assert "paper/paper.tex:67:29: 40 is loose among results: cite the claim that prints it" in both.stdout
    assert text(repository).stdout == both.stdout, "without files, those of claims_texts"
    below = text(repository / "paper", "paper.tex")
    assert "paper/paper.tex:67:29: 40 is loose among results" in below.stdout


def test_included_files_and_what_is_not_read(repository: Path) -> None:
    (repository / "paper/paper.tex").write_text(
        "\\input{macros}\\begin{document}\n\\input{results}\n\\input{none}\n\\ifdraft x\\fi\\end{document}\n"
    )
    (repository / "paper/macros.tex").write_text("\\newcommand{\\wins}{14/20}\n")
    (repository / "paper/results.tex").write_text("\\section{Results}\nIn \\wins{} plots \\claimref{P1}.\n")
    done = text(repository, "paper/*.tex")
    assert done.returncode == 1
    assert done.stdout.splitlines()[:2] == [
        "paper/paper.tex:3:1: \\input{none} is not read: there is no paper/none.tex nor paper/none: LaTeX looks from "
        "the folder of paper/paper.tex. Correct the name, or make the file",
        "paper/paper.tex:4:1: \\ifdraft is not read: it is not decided: every branch of it is read",
    ]
    assert [row.split()[:2] for row in done.stdout.splitlines()[3:]] == [
        ["paper/paper.tex", "0"],
        ["paper/macros.tex", "0"],
        ["paper/results.tex", "1"],
    ]
    (repository / "paper/none.tex").write_text("")
    assert text(repository, "paper/results.tex", "paper/paper.tex").returncode == 0


@pytest.mark.parametrize("arguments", [("none.md",), ("claims/test_paper.py",), ("--format", "xml"), ("--nonsense",)])
def test_wrong_use(repository: Path, arguments: tuple[str, ...]) -> None:
    done = text(repository, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


def test_formats(repository: Path) -> None:
    (line,) = [one for one in text(repository, "--format", "github").stdout.splitlines() if one.startswith("::error")]
    assert line.startswith("::error file=paper/paper.tex,line=67,col=29,title=loose-number::40 is loose")
    assert json.loads(text(repository, "--format", "sarif").stdout)["version"] == "2.1.0"
    found = json.loads(text(repository, "--json").stdout)
    assert (found["failing"], len(found["texts"])) == (1, 2)
    assert text(repository, "--json").stdout == text(repository, "--format", "json").stdout
    assert "paper/paper.tex:36:18: 2000 is set aside: code" in text(repository, "--all").stdout


def test_it_opens_without_numpy_pandas_and_torch(repository: Path) -> None:
    code = (
        "import sys; from assay.cli import main\ntry: main(['claims', 'text', 'README.md'])\n"
        "except SystemExit: print(sorted({'numpy', 'pandas', 'torch', 'pytest'} & set(sys.modules)))"
    )
    assert call(repository, sys.executable, "-c", code).stdout.endswith("[]\n")


def test_the_entry_of_the_pre_commit_hook(repository: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    program, *words = hook["entry"].split()
    assert program == "assay"
    done = call(repository, sys.executable, "-m", program, *words)
    assert (done.returncode, done.stdout) == (1, text(repository).stdout)
    (repository / "paper/paper.tex").write_text((PAPER / "paper.tex").read_text().replace("over 40 days", "over time"))
    assert call(repository, sys.executable, "-m", program, *words).returncode == 0
