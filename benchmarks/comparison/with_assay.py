"""Assay on the small paper, as a user has it: a repository with a registered run, claims, and a paper citing them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.comparison.paper import MEASURED, NEW, PAPER, Printed, latex
from benchmarks.comparison.tool import call, write

SOURCE: Final = Path(__file__).resolve().parents[2] / "src"
_EXPERIMENT = '''"""What the method measures."""

from dataclasses import dataclass
from math import nan

from assay.runs import Count, Estimate, Run, experiment


@dataclass(frozen=True)
class Config:
    seed: int = 1


@experiment("books.method", version=1)
def method(config: Config, run: Run) -> None:
    """Measure."""
'''
_CLAIMS = """import pytest

pytestmark = pytest.mark.registered("books.method")
"""
_CLAIM = '''

@pytest.mark.claim("{name}", section="Results")
def test_{name}(evidence):
    """{sentence}"""
    ...
'''


def prepare(folder: Path, programs: Path) -> None:
    """Make the repository, run the experiment once, register it, and write a claim for each sentence of the paper."""
    write(folder / "pyproject.toml", '[tool.pytest]\nclaims_texts = ["paper.tex"]\n')
    write(folder / ".gitignore", "artifacts/\n__pycache__/\n")
    claims = (_CLAIM.format(name=one.name, sentence=_claim_sentence(one)) for one in PAPER)
    write(folder / "claims/books/test_method.py", _CLAIMS + "".join(claims))
    write_paper(folder, PAPER, programs)
    for command in (["init", "-q"], ["config", "user.name", "user"], ["config", "user.email", "user@example.org"]):
        call(folder, "git", *command)
    measure(folder, MEASURED, programs)


def measure(folder: Path, measured: Mapping[str, float], programs: Path) -> None:
    """Commit the experiment, run and register it, and commit its record."""
    write(folder / "experiments/books/method.py", _EXPERIMENT + _body(measured))
    _commit(folder, "The method")
    call(folder, programs / "python", "-m", "assay", "run", "books.method", "--register", "a run", source=SOURCE)
    _commit(folder, "Run of books.method")


def write_paper(folder: Path, paper: Sequence[Printed], programs: Path) -> None:
    """The paper, or its edited form; the claims stay as they are."""
    del programs
    write(folder / "paper.tex", latex(paper, cited=True))


def flagged(folder: Path, programs: Path) -> dict[str, bool]:
    """Which sentences `pytest claims/` or `assay claims text paper.tex` object to."""
    pytest = (programs / "python", "-m", "pytest", "claims/", "-q", "--claims-json", "verdicts.json")
    call(folder, *pytest, status=(0, 1), source=SOURCE)
    verdicts = json.loads((folder / "verdicts.json").read_text("utf-8"))["claims"]
    bad = {one["id"] for one in verdicts if one["verdict"] != "HOLDS"}
    command = (programs / "python", "-m", "assay", "claims", "text", "paper.tex", "--json")
    texts = json.loads(call(folder, *command, status=(0, 1), source=SOURCE))["texts"]
    lines = (folder / "paper.tex").read_text("utf-8").splitlines()
    wrong = [lines[number["line"] - 1] for text in texts for number in text["numbers"] if number["fails"]]
    return {one.name: one.name in bad or any(_begins(line, one) for line in wrong) for one in (*PAPER, NEW)}


def _begins(line: str, one: Printed) -> bool:
    """Whether a line of the paper is this sentence, whatever number it prints."""
    return line.startswith(one.sentence.partition("{}")[0])


def _body(m: Mapping[str, float]) -> str:
    """The lines that set the numbers, as Counts and Estimates where they are such."""
    lines = [
        f'run["{name}"] = {"nan" if name == "welsh" else m[name]}'
        for name in ("sentences", "accuracy", "baseline", "p", "welsh", "hours", "seeds", "margin")
    ]
    lines.append(f'run["wins"] = Count({m["wins"]}, {m["directions"]})')
    lines.append(f'run["gain"] = Estimate({m["gain"]}, {m["gain_low"]}, {m["gain_high"]}, {m["sentences"]})')
    return "".join(f"    {line}\n" for line in lines)


def _claim_sentence(one: Printed) -> str:
    """The sentence as the author claims it: the number in braces with its key, as printed."""
    key = one.keys[0].removesuffix("_low")
    return one.sentence.format(f"{{{key}: {one.plain.replace(' × 10^', 'e')}}}")


def _commit(folder: Path, message: str) -> None:
    call(folder, "git", "add", "-A")
    call(folder, "git", "commit", "-qm", message)
