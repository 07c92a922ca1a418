"""Every skip and expected failure of the suite is listed in QUARANTINE.md with its reason."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SKIPS = {"skip", "skipif", "xfail", "importorskip"}


def unlisted(folder: Path, quarantine: str) -> list[str]:
    """Places that skip, and whose file the quarantine does not name. Skips inside strings are other suites' tests."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        name = str(path.relative_to(folder))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in SKIPS and _from_pytest(node) and name not in quarantine:
                found.append(f"{name}:{node.lineno}: {ast.unparse(node)}")
    return found


def _from_pytest(node: ast.Attribute) -> bool:
    return ast.unparse(node.value) in ("pytest", "pytest.mark")


def test_no_skip_is_unlisted() -> None:
    assert unlisted(TESTS, (TESTS / "QUARANTINE.md").read_text(encoding="utf-8")) == []


def test_an_unlisted_skip_is_seen(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("import pytest\npytest.skip('why')\n", encoding="utf-8")
    assert unlisted(tmp_path, "") == ["test_x.py:2: pytest.skip"]
    assert unlisted(tmp_path, "test_x.py: reason") == []
