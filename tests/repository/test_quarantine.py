"""Every skip and expected failure of the suite is listed in QUARANTINE.md with its reason."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
SKIPS = re.compile(r"pytest\.(?:mark\.)?(?:skip|skipif|xfail|importorskip)\b")


def unlisted(folder: Path, quarantine: str) -> list[str]:
    """Places that skip and whose file the quarantine does not name."""
    found = []
    for path in sorted(folder.rglob("test_*.py")):
        if path.resolve() == Path(__file__).resolve():
            continue
        name = str(path.relative_to(folder))
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
            if SKIPS.search(line) and name not in quarantine:
                found.append(f"{name}:{number}: {line.strip()}")
    return found


def test_no_skip_is_unlisted() -> None:
    assert unlisted(TESTS, (TESTS / "QUARANTINE.md").read_text(encoding="utf-8")) == []


def test_an_unlisted_skip_is_seen(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("import pytest\npytest.skip('why')\n", encoding="utf-8")
    assert unlisted(tmp_path, "") == ["test_x.py:2: pytest.skip('why')"]
    assert unlisted(tmp_path, "test_x.py: reason") == []
