"""The files that a LaTeX text names, found as LaTeX finds them and within the repository alone."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, final

from assay.errors import ConfigError
from assay.ledger.citations import LATEX

_OF_TEX = ("glyphtounicode", "epsf", "xypic", "xy", "amssym", "pdfcolor", "random", "pstricks", "tikz", "ulem")


def read_text(path: Path) -> str:
    """A text with its line ends as they are; ConfigError when it is no UTF-8."""
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path.name} cannot be read as UTF-8 text: {error}") from error


class Missing(NamedTuple):
    """Why a file is not read; `fails` unless it is one that TeX brings along."""

    why: str
    fails: bool = True


@final
class Folders:
    """Where the names in a text are looked up: in folders that were imported, then in that of the main file."""

    def __init__(self, main: Path, repository: Path) -> None:
        """The main file, and the folder that nothing is read from outside of."""
        self.main = main.resolve()
        self._base = self.main.parent
        root = repository.resolve()
        self._named = root
        self._root = root if self.main.is_relative_to(root) else self._base
        self._imported: list[Path] = []

    def name(self, path: Path) -> str:
        """The path under which a file is reported."""
        return path.relative_to(self._named).as_posix() if path.is_relative_to(self._named) else path.as_posix()

    def enter(self, folder: str | Path, *, relative: bool = False) -> None:
        """Look into a folder first: one named as LaTeX would, or as seen from the one that is entered."""
        from_here = self._imported[-1] if relative and self._imported else self._base
        self._imported.append(from_here / folder)

    def leave(self) -> None:
        """Go back to where names were looked up before."""
        self._imported.pop()

    def find(self, name: str, suffix: str = ".tex") -> Path | Missing:
        """The file that a name means, or why it is not read."""
        name = name.strip().strip('"')
        if name.startswith("|"):
            return Missing("it is what a program prints")
        if "\\" in name or not name:
            return Missing("its name is made by a macro; write it out")
        inside: list[str] = []
        for folder in (*self._imported[-1:], self._base):
            for written in (name + suffix, name) if not name.lower().endswith(LATEX) else (name,):
                path = (folder / written).resolve()
                if not path.is_relative_to(self._root):
                    if path.is_file():
                        return Missing("it lies outside of the repository; copy it in")
                    continue
                if path.is_file():
                    return path
                inside.append(self.name(path))
        if name in _OF_TEX:
            return Missing("it is a file of TeX", fails=False)
        if not inside:
            return Missing("it would lie outside of the repository; give a name within it")
        looked = " nor ".join(dict.fromkeys(inside))
        return Missing(
            f"there is no {looked}: LaTeX looks from the folder of {self.name(self.main)}. Correct the name, or make "
            "the file"
        )

    def package(self, name: str, suffix: str) -> Path | None:
        """A style or class of this folder; None for one that TeX brings along."""
        path = (self._base / f"{name.strip()}{suffix}").resolve()
        return path if path.is_relative_to(self._root) and path.is_file() else None
