"""Only line feeds end a line."""

import pytest

from assay.errors import DataError
from assay.tasks.lines import read_lines


def test_other_separators_stay_inside(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("\ufeffone\u2028still one\ntwo\x0cstill\u0085two\r\nthree\u00a0".encode())
    assert read_lines(path) == ["one\u2028still one", "two\x0cstill\u0085two", "three\u00a0"]


def test_last_line_feed_and_blank_lines(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"one\n\ntwo\n")
    assert read_lines(path) == ["one", "", "two"]
    path.write_bytes(b"")
    assert read_lines(path) == []


def test_errors_name_the_file(tmp_path):
    with pytest.raises(DataError, match=r"absent: no such file"):
        read_lines(tmp_path / "absent")
    with pytest.raises(DataError, match="cannot be read"):
        read_lines(tmp_path)
    (tmp_path / "latin").write_bytes("żółw".encode("iso-8859-2"))
    with pytest.raises(DataError, match="not UTF-8 at byte 0"):
        read_lines(tmp_path / "latin")
