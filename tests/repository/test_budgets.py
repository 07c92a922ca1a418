"""Budgets of the house: bodies of at most 40 lines, files of at most 300. The exception lists may only shrink."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BODY_LINES = 40
FILE_LINES = 300
EXCEPTED_FILES: frozenset[str] = frozenset()
EXCEPTED_BODIES: frozenset[str] = frozenset()
NAMELESS_ROOMS = {"utils", "helpers", "common", "misc"}

SOURCES = sorted(path for folder in ("src", "experiments", "claims") for path in (ROOT / folder).rglob("*.py"))


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from the first statement after the docstring to the end."""
    statements = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    return (function.end_lineno or 0) - statements[0].lineno + 1 if statements else 0


def long_bodies(source: str, name: str) -> list[str]:
    """Names of the functions in ``source`` whose body is over budget."""
    functions = (n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return [f"{name}:{f.name} has {body_lines(f)} lines" for f in functions if body_lines(f) > BODY_LINES]


def test_there_are_sources() -> None:
    assert len(SOURCES) > 20


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file_keeps_its_budgets(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    source = path.read_text(encoding="utf-8")
    lines = source.count("\n")
    assert lines <= FILE_LINES or name in EXCEPTED_FILES, f"{name} has {lines} lines; split it by idea"
    over = [entry for entry in long_bodies(source, name) if entry.split(" ")[0] not in EXCEPTED_BODIES]
    assert not over, over
    assert path.stem not in NAMELESS_ROOMS, f"{name}: a room without a name"


def test_a_long_body_is_seen() -> None:
    source = "def f():\n    '''Doc.'''\n" + "    x = 1\n" * (BODY_LINES + 1)
    assert long_bodies(source, "twin") == [f"twin:f has {BODY_LINES + 1} lines"]
    assert long_bodies("def f():\n" + "    x = 1\n" * BODY_LINES, "twin") == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_says_what_it_is(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring, f"{path.relative_to(ROOT)} has no docstring"
    assert not docstring.startswith("Contains")
