"""Text files as lists of lines, cut at line feeds only."""

from __future__ import annotations

from pathlib import Path

from assay.errors import DataError


def read_lines(path: Path) -> list[str]:
    """Lines of a UTF-8 file without their line feed (or carriage return and line feed).

    Only line feeds end a line: U+2028, U+0085 and form feeds occur inside sentences of many corpora. A byte order mark
    at the start is dropped.

    Raises:
        DataError: the file is missing, cannot be read, or is not UTF-8.
    """
    try:
        content = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file. Check the folder, the split and the language code.") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start} ({error.reason}). Convert it to UTF-8.") from error
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
