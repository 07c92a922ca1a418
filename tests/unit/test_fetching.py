"""The cache: digests, tools, and folders that are there whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import sys
import threading
from pathlib import Path

import pytest

from assay import fetching
from assay.errors import DataError


def test_cache_root_follows_the_variable_then_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "here"))
    assert fetching.cache_root() == tmp_path / "here"
    monkeypatch.delenv("ASSAY_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert fetching.cache_root() == tmp_path / "assay"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/invalid")
    assert fetching.cache_root() == Path.home() / ".cache" / "assay"


def test_checked_names_both_digests(tmp_path: Path) -> None:
    path = tmp_path / "wheel"
    path.write_bytes(b"x" * 3_000_000)
    right = hashlib.sha256(b"x" * 3_000_000).hexdigest()
    assert fetching.checked(path, right, "wheel") == path
    with pytest.raises(DataError, match=f"3,000,000 bytes.*{right}.*{'0' * 64}"):
        fetching.checked(path, "0" * 64, "wheel")
    assert path.exists()
    with pytest.raises(DataError, match="does not exist"):
        fetching.checked(tmp_path / "absent", right, "wheel")


def test_run_tool_reports_missing_tool_and_last_words() -> None:
    said = fetching.run_tool([sys.executable, "-c", "print('ok')"], what="try", advice="none")
    assert said == "ok\n"
    with pytest.raises(DataError, match=r"(?s)corpus: the program 'no-such-tool-7f' is not installed.*Install it\."):
        fetching.run_tool(["no-such-tool-7f"], what="corpus", advice="Install it.")
    script = "import sys; sys.stderr.write('no such package'); sys.exit(9)"
    with pytest.raises(DataError, match=r"(?s)status 9\. Update the lists\..*no such package"):
        fetching.run_tool([sys.executable, "-c", script], what="corpus", advice="Update the lists.")


def test_install_folder_keeps_nothing_half_made(tmp_path: Path) -> None:
    final = tmp_path / "cache" / "model"

    def broken(folder: Path) -> None:
        (folder / "part").write_text("half")
        raise DataError("cut")

    with pytest.raises(DataError, match="cut"):
        fetching.install_folder(broken, final)
    assert [path.name for path in final.parent.iterdir() if path.suffix != ".lock"] == []

    def whole(folder: Path) -> None:
        (folder / "deep").mkdir()
        (folder / "deep" / "file").write_text("whole")

    assert fetching.install_folder(whole, final) == final
    assert (final / "deep" / "file").read_text() == "whole"
    assert fetching.install_folder(broken, final) == final
    assert [path.name for path in final.parent.iterdir() if path.suffix != ".lock"] == ["model"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG])
def test_install_folder_on_a_full_disk_says_so(tmp_path: Path, code: int) -> None:
    def full(folder: Path) -> None:
        (folder / "part").write_text("half")
        raise OSError(code, os.strerror(code))

    with pytest.raises(DataError, match=rf"{os.strerror(code)}.*Nothing was kept"):
        fetching.install_folder(full, tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".lock"] == []


def test_install_folder_builds_once_between_contenders(tmp_path: Path) -> None:
    built: list[int] = []

    def build(folder: Path) -> None:
        built.append(1)
        (folder / "file").write_text("whole")

    threads = [threading.Thread(target=fetching.install_folder, args=(build, tmp_path / "model")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1


def test_an_unwritable_cache_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DataError, match="ASSAY_CACHE"), fetching.locked(tmp_path / "file" / "model"):
        pass


def test_need_space_compares_with_the_disk(tmp_path: Path) -> None:
    fetching.need_space(tmp_path / "not" / "yet", 1, "model")
    with pytest.raises(DataError, match=r"(?s)model: needs .* MB below .* are free"):
        fetching.need_space(tmp_path / "not" / "yet", 10**18, "model")
