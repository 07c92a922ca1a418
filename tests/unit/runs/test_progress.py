"""Progress goes to standard error alone, and stays silent when it is asked to or when the work is short."""

from __future__ import annotations

import sys

import pytest

from assay.runs import progress as progress_module
from assay.runs.progress import progress


def test_short_work_away_from_a_terminal_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("cells", 3) as advance:
        for done in range(4):
            advance(done)
    assert capsys.readouterr() == ("", "")


def test_long_work_away_from_a_terminal_says_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([0.0, 5.0, 16.0, 17.0, 40.0])
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: next(clock))
    with progress("cells", 4) as advance:
        for done in (1, 2, 3, 4):
            advance(done)
    assert capsys.readouterr() == ("", "cells: 2/4 after 16 s\ncells: 4/4 after 40 s\n")


def test_quiet_says_nothing_at_all(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress("cells", 2, quiet=True) as advance:
        advance(2)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_gets_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress("cells", 2) as advance:
        advance(2)
    out, err = capsys.readouterr()
    assert out == ""
    assert "cells" in err
    assert "2/2" in err
