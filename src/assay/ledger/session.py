"""Running the claims of a repository: what `assay claims` does, and whether the table of claims is up to date."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assay.errors import ClaimError
from assay.ledger.claim import natural
from assay.ledger.sentence import SentenceError, read_sentence
from assay.ledger.source import static_claims
from assay.runs.storage import find_repository

_OUTCOMES = (0, 1)  # pytest: all passed, some failed; anything else is a wrong use or an interruption
_STDERR = 2
_WITH_FOLDER = ("--claims-root", "--rootdir", "--confcutdir", "--basetemp", "--ignore", "--ignore-glob", "-c")
_OF_A_RUN = ("kind", "order", "doubt", "tier", "run", "keys", "generator", "printed", "registered", "ties")


class Listed(NamedTuple):
    """A claim as its file says it, not judged."""

    id: str
    place: str
    section: str
    experiment: str
    sentence: str


def list_claims(folder: Path, *, names: Sequence[str] = ()) -> list[Listed]:
    """Claims written under a folder, in the order of files and lines; a wrong sentence is listed as written."""
    found = []
    for source, function, mark in static_claims(folder):
        written = " ".join((function.written or "").split())
        try:
            sentence = read_sentence(written, names=names).display
        except SentenceError:
            sentence = written
        run = function.run.experiment if function.run else ""
        place = f"{source.path.relative_to(folder.parent).as_posix()}:{function.line}"
        found.append(Listed(mark.id, place, mark.section, run, sentence))
    return found


def configured_names(repository: Path) -> list[str]:
    """Names with a space and digits that the repository's pyproject.toml declares (`claims_names` of pytest)."""
    path = repository / "pyproject.toml"
    if not path.is_file():
        return []
    pytest_table = tomllib.loads(path.read_text("utf-8")).get("tool", {}).get("pytest", {})
    declared = pytest_table.get("claims_names", pytest_table.get("ini_options", {}).get("claims_names", []))
    return shlex.split(declared) if isinstance(declared, str) else list(declared)


def run_claims(arguments: Sequence[str], *, as_json: bool = False) -> int:
    """Check the claims with pytest, in a process of its own because pytest rewrites what it imports first; `arguments`
    go to pytest, after `claims/` of the repository if none names a folder, a file or a test.

    Returns 0 when every claim holds, is pending, or (without `--claims-strict`) is stale, 1 when one does not, 2 for
    a wrong use. With `as_json` one document goes to standard output and what pytest prints to standard error.
    """
    given = list(arguments)
    if not any(map(_is_place, given, ["", *given])):
        here = Path.cwd()
        repository = here if (here / "claims").is_dir() else find_repository()
        given.insert(0, os.path.relpath(repository / "claims"))
    if not as_json:
        return _status(_pytest(given))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "claims.json"
        status = _status(_pytest([*given, "--claims-json", str(path)], stdout=_STDERR))
        document = path.read_text("utf-8") if path.is_file() else '{"claims": [], "verdicts": {}}\n'
    sys.stdout.write(document)
    return status


def _is_place(argument: str, before: str) -> bool:
    """Whether an argument of pytest says what to collect, rather than being an option or, after one, its value."""
    if argument.startswith("-") or before in _WITH_FOLDER:
        return False
    path = Path(argument.partition("::")[0])
    return path.is_dir() or (path.suffix == ".py" and path.is_file())


def judged_claims(repository: Path) -> list[dict[str, str]]:
    """Every claim under `claims/` as a session of pytest judges it, in the order of ids; none without such a folder.

    Keys are those of `--claims-json`: id, sentence, written, verdict, note, kind, order, doubt, section, tier, run,
    keys, generator, printed, registered, ties, file. A claim that is written and that the session lost, because its
    file cannot be collected, is UNVERIFIED, and one that a text of `claims_texts` cites beside another number FAILS.
    What pytest prints goes nowhere.
    """
    folder = repository / "claims"
    if not folder.is_dir():
        return []
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "claims.json"
        command = [sys.executable, "-m", "pytest", "claims", "-q", "-p", "no:cacheprovider", "--claims-json", str(path)]
        ended = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
        found: list[dict[str, str]] = json.loads(path.read_text("utf-8"))["claims"] if path.is_file() else []
    judged = {one["id"]: one for one in found}
    for source, function, mark in static_claims(folder):
        if mark.id not in judged:
            note = f"its test did not run: pytest claims/ ended with {ended.returncode} and says why"
            written = " ".join((function.written or "").split())
            place = source.path.relative_to(repository).as_posix()
            lost = dict.fromkeys(_OF_A_RUN, "")
            lost |= {"id": mark.id, "sentence": written, "written": written, "verdict": "UNVERIFIED", "note": note}
            judged[mark.id] = {**lost, "section": mark.section, "file": place}
    _compare_texts(judged, repository)
    return [judged[name] for name in sorted(judged, key=natural)]


def _compare_texts(judged: dict[str, dict[str, str]], repository: Path) -> None:
    """Fail the claims that a text cites in a sentence with a number which none of them prints."""
    from assay.ledger.texts.coverage import Standing
    from assay.ledger.texts.manuscripts import configured_texts, cover_texts, read_settings, reader_of

    settings = read_settings(repository)
    covered = cover_texts(reader_of(repository, settings), configured_texts(repository, settings), repository)
    for one in (found for text in covered for found in text.failing if found.standing is Standing.WRONG):
        for name in one.claims:
            if name in judged and judged[name]["verdict"] not in ("FAILS", "UNVERIFIED"):
                judged[name] |= {"verdict": "FAILS", "note": f"{one.place} {one.message}"}


def _pytest(arguments: Sequence[str], stdout: int | None = None) -> int:
    sys.stdout.flush()
    passed_on = stdout is None and not sys.stdout.isatty()
    command = [sys.executable, "-m", "pytest", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE if passed_on else stdout) as process:
        try:
            return _passed_on(process)
        except KeyboardInterrupt:
            _passed_on(process)  # it was interrupted as well, and says how far it came
            raise


def _passed_on(process: subprocess.Popen[bytes]) -> int:
    """Wait for pytest to end; what it prints goes to whoever reads, until nobody does: pytest itself would end then."""
    for line in process.stdout or ():
        try:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            break
    for _ in process.stdout or ():
        pass
    return process.wait()


def _status(code: int) -> int:
    return int(code) if code in _OUTCOMES else 1 if code == 5 else 2


def table_is_current(repository: Path, *, table: str = "docs/CLAIM_EVIDENCE.md", claims: str = "claims") -> str:
    """Empty when the table is what a full session writes; otherwise what differs, line by line.

    The session runs in a process of its own, because pytest may be what is asking. ClaimError when it cannot run.
    """
    import difflib

    path = repository / table
    before = path.read_text("utf-8") if path.is_file() else ""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "table.md"
        fresh.write_text(before, "utf-8")
        command = [sys.executable, "-m", "pytest", claims, "-q", "-p", "no:cacheprovider", "--claims-table", str(fresh)]
        ended = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
        if ended.returncode not in _OUTCOMES:
            raise ClaimError(
                f"the table cannot be generated: pytest {claims} ended with {ended.returncode}: {ended.stdout}"
            )
        after = fresh.read_text("utf-8")
    return "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), table, "generated now", lineterm=""))
