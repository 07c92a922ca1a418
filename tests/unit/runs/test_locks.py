"""A lock belongs to a living process: held by one, told to the others, gone with its holder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import RecordError
from assay.runs.locks import HeldError, hold, is_held

HOLDER = """
import sys, time
from pathlib import Path
from assay.runs.locks import hold
with hold(Path(sys.argv[1]), patience=0):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_holder_at_a_time_even_within_a_process(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "x.lock"
    assert not is_held(path)
    assert not path.exists()
    with hold(path, patience=0):
        assert is_held(path)
        with pytest.raises(HeldError) as caught, hold(path, patience=0.05):
            pass
        assert caught.value.owner["pid"] == os.getpid()
        assert is_held(path)
    assert not is_held(path)
    assert path.read_bytes() == b""
    with hold(path, patience=0):
        pass


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        before = path.read_bytes()
        with pytest.raises(HeldError, match=str(holder.pid)), hold(path, patience=0):
            pass
        assert path.read_bytes() == before
        holder.kill()
    assert not is_held(path)
    with hold(path, patience=0):
        pass


def test_a_lock_that_cannot_be_opened_says_where(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(RecordError, match=r"lock: .*x\.lock cannot be opened"),
        hold(tmp_path / "file" / "x.lock", patience=0),
    ):
        pass
    (tmp_path / "folder.lock").mkdir()
    with pytest.raises(RecordError, match="cannot be opened"), hold(tmp_path / "folder.lock", patience=0):
        pass
