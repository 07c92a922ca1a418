"""The smallest working harness: which files `assay init` makes, which it adds lines to, and which it leaves alone."""

from __future__ import annotations

import difflib
import importlib.resources
import os
from dataclasses import dataclass
from pathlib import Path
from typing import final

from assay.cli.origin import requirement
from assay.cli.pytest_settings import settings_elsewhere, with_claims_texts
from assay.errors import ConfigError
from assay.runs.storage import read_bytes, write_durable

EXPERIMENT = "example.first_digits"
"""The experiment that is made, to be replaced by one's own."""

_THERE = "is there"
WORKFLOW = ".github/workflows/claims.yml"
"""The file that has the claims checked at each push."""
UNKNOWN_ORIGIN = '"assay @ git+https://HOST/OWNER/assay@COMMIT"'
"""An example of a requirement, for whom the installation does not tell from where Assay can be installed."""

_UNKNOWN = (
    "Where this Assay can be installed from is not known here: put its address in the place of `assay`, such as",
    f"{UNKNOWN_ORIGIN}, or a version, if an index has one.",
)
_SETTINGS = "pyproject.toml"
_NEW = {
    "experiments/example/first_digits.py": "experiment.py.txt",
    "claims/example/test_first_digits.py": "claim.py.txt",
    WORKFLOW: "claims.yml.txt",
    _SETTINGS: "pyproject.toml.txt",
    "README.md": "README.md.txt",
}
_LINES = {
    ".gitignore": ("/artifacts/", "/build/", "__pycache__/", ".venv/"),
    ".gitattributes": ("docs/CLAIM_EVIDENCE.md merge=union",),
}


@dataclass(frozen=True)
class Change:
    """Lines that a file of the user lacks: its text ``before`` and ``after``."""

    name: str
    before: str
    after: str

    def diff(self) -> str:
        """The difference as `diff -u` shows it."""
        before, after = (text.replace("\r\n", "\n").splitlines(True) for text in (self.before, self.after))
        lines = difflib.unified_diff(before, after, f"a/{self.name}", f"b/{self.name}")
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@final
@dataclass(frozen=True)
class Starter:
    """What a folder lacks of a harness, by names relative to it: ``new`` files with their text, ``changes`` of files
    that are there, and ``left``, files that stay as they are, each with the reason."""

    root: Path
    new: dict[str, str]
    changes: tuple[Change, ...]
    left: dict[str, str]

    def written(self) -> list[str]:
        """Names of the files that :meth:`write` makes or changes."""
        return sorted({*self.new, *(change.name for change in self.changes)})

    def kept(self) -> list[str]:
        """Names of the files of a harness that are in the folder already and stay as they are."""
        return [name for name, reason in self.left.items() if reason == _THERE]

    def write(self) -> None:
        """Make the new files, then write the changed ones; each whole or not at all.

        Raises:
            ConfigError: a file came into being, or was changed, since the folder was looked at.
            RecordError: a file cannot be written.
        """
        for name, text in self.new.items():
            try:
                write_durable(self.root / name, text.encode(), exclusive=True)
            except FileExistsError as cause:
                raise ConfigError(f"init: {name} came into being just now and was left. Run it again.") from cause
        for change in self.changes:
            if _text(self.root, change.name) != change.before:
                raise ConfigError(f"init: {change.name} was changed just now and was left. Run it again.")
            write_durable(self.root / change.name, change.after.encode())


def look(root: Path, *, top: bool) -> Starter:
    """Compare a folder, there or not, with the harness; changes nothing. ``top``: it is not inside another repository.

    Raises:
        ConfigError: something stands where a folder has to be, or a file of settings cannot be read.
    """
    new: dict[str, str] = {}
    left: dict[str, str] = {}
    for name, template in _NEW.items():
        if reason := _reason_to_leave(root, name, top=top):
            left[name] = reason
        else:
            _refuse_obstacles(root, name)
            new[name] = _template(template)
    changes = [_settings(root)] if left.get(_SETTINGS) == _THERE else []
    for name, lines in _LINES.items():
        if os.path.lexists(root / name):
            before = _text(root, name)
            changes.append(Change(name, before, _with_lines(before, lines)))
        else:
            _refuse_obstacles(root, name)
            new[name] = "".join(f"{line}\n" for line in lines)
    for change in changes:
        if change.after == change.before:
            left.setdefault(change.name, _THERE)
        else:
            left.pop(change.name, None)
    return Starter(root, new, tuple(one for one in changes if one.after != one.before), left)


def _reason_to_leave(root: Path, name: str, *, top: bool) -> str:
    """Why a file is not made; empty when it is."""
    if name == _SETTINGS and (other := settings_elsewhere(root)):
        return f"left alone: {other} holds the settings of pytest. Name there the texts that cite claims (claims_texts)"
    if os.path.lexists(root / name):
        return _THERE
    if name == WORKFLOW and not top:
        return "not made: GitHub reads it only at the top of the repository, and FOLDER is not the top"
    if name == "README.md" and root.is_dir():
        found = sorted(path.name for path in root.iterdir() if path.stem.casefold() == "readme")
        return f"not made: {found[0]} is there" if found else ""
    return ""


def _settings(root: Path) -> Change:
    before = _text(root, _SETTINGS)
    return Change(_SETTINGS, before, with_claims_texts(before))


def _with_lines(text: str, lines: tuple[str, ...]) -> str:
    """The text with the lines that it lacks; slashes at the ends make no difference, a last line is ended."""
    end = "\r\n" if "\r\n" in text else "\n"
    present = {line.strip().strip("/") for line in text.splitlines()}
    lacking = [line for line in lines if line.strip("/") not in present]
    if not lacking:
        return text
    start = text if not text or text.endswith("\n") else text + end
    return start + "".join(line + end for line in lacking)


def _refuse_obstacles(root: Path, name: str) -> None:
    for folder in (root / name).parents:
        if os.path.lexists(folder) and not folder.is_dir():
            where = folder.relative_to(root).as_posix() if folder.is_relative_to(root) else folder.name
            raise ConfigError(
                f"init: {name} needs the folder {where}, which is a file. Rename it; nothing was written."
            )


def _text(root: Path, name: str) -> str:
    try:
        return read_bytes(root / name).decode()
    except UnicodeDecodeError as cause:
        raise ConfigError(f"init: {name} is not UTF-8 ({cause}). Convert it; nothing was written.") from cause


def _template(name: str) -> str:
    text = (importlib.resources.files("assay.cli") / "templates" / name).read_text("utf-8")
    return text.replace("{install}", _install()) if name == _NEW[WORKFLOW] else text


def _install() -> str:
    """The step of the workflow that installs Assay from where this one was installed from, as far as that is known."""
    known = requirement()
    comment = "" if known else "".join(f"      # {line}\n" for line in _UNKNOWN)
    return f'{comment}      - run: python -m pip install "{known or "assay"}"\n'
