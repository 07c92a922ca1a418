"""Questions to the commits of a repository: what a commit holds, and which came first. Dates are never looked at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import final

from assay.errors import RecordError
from assay.runs.provenance import git

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@final
class History:
    """The commits of the repository at ``repository``, as far as this clone has them; paths are relative to it.

    Order is read from the commits alone: a commit's id covers its files and its parents, so what it holds was there
    before it. Its dates are what its author's clock, or hand, wrote.

    Raises:
        RecordError: git is missing in a folder that it keeps, or refuses.
    """

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        found = git(repository, "rev-parse", "--verify", "--quiet", "HEAD", absent_ok=True)
        self.head: str | None = found.decode().strip() if found else None

    @property
    def shallow(self) -> bool:
        """Whether this clone was cut off: it lacks commits that the repository it came from has."""
        return (git(self._repository, "rev-parse", "--is-shallow-repository") or b"").strip() == b"true"

    def has(self, commit: str | None) -> bool:
        """Whether ``commit`` is a whole commit id and this clone has the commit."""
        if commit is None or not _COMMIT.fullmatch(commit):
            return False
        return git(self._repository, "cat-file", "-e", f"{commit}^{{commit}}", absent_ok=True) is not None

    def leads_to(self, first: str, second: str) -> bool:
        """Whether ``first`` is ``second`` or one of its ancestors; both have to be here."""
        return git(self._repository, "merge-base", "--is-ancestor", first, second, absent_ok=True) is not None

    def tags_after(self, commit: str) -> list[str]:
        """Tags whose history holds ``commit``, sorted."""
        return (git(self._repository, "tag", "--contains", commit) or b"").decode(errors="replace").split()

    def files(self, commit: str, folder: str) -> list[str]:
        """Paths of the files directly in ``folder`` as ``commit`` holds them, sorted; none without the folder."""
        listed = git(self._repository, "ls-tree", "-z", "--name-only", commit, f"{folder}/") or b""
        return sorted(name.decode(errors="replace") for name in listed.split(b"\0") if name)

    def content(self, commit: str, path: str) -> bytes | None:
        """Bytes of the file ``path`` as ``commit`` holds it; None when it holds none."""
        return git(self._repository, "cat-file", "blob", f"{commit}:./{path}", absent_ok=True)

    def contents(self, commit: str, paths: Sequence[str]) -> list[bytes]:
        """Bytes of several files that ``commit`` holds, in the order of ``paths``, by one process.

        Raises:
            RecordError: it does not hold one of them.
        """
        asked = "".join(f"{commit}:./{path}\n" for path in paths).encode()
        rest = git(self._repository, "cat-file", "--batch", given=asked) or b""
        found: list[bytes] = []
        for path in paths:
            head, _, rest = rest.partition(b"\n")
            words = head.rsplit(b" ", 2)
            if len(words) != 3 or words[1] != b"blob":
                raise RecordError(f"history: commit {commit[:7]} does not hold the file {path}.")
            size = int(words[2])
            found.append(rest[:size])
            rest = rest[size + 1 :]
        return found

    def removed(self, commit: str, pattern: str) -> list[str]:
        """Paths matching the glob ``pattern`` that a commit in the history of ``commit`` removed, sorted."""
        wanted = (
            "-m",
            "--no-show-signature",
            "--full-history",
            "--no-renames",
            "--diff-filter=D",
            "--format=",
            "--name-only",
            "--relative",
            "-z",
        )
        found = git(self._repository, "log", *wanted, commit, "--", f":(glob){pattern}") or b""
        return sorted({name.decode(errors="replace") for name in found.split(b"\0") if name.strip()})

    def added_in(self, commit: str, path: str) -> str | None:
        """Earliest commit in the history of ``commit`` that added the file ``path``; None when none did."""
        wanted = (
            "-m",
            "--no-show-signature",
            "--full-history",
            "--no-renames",
            "--diff-filter=A",
            "--topo-order",
            "--format=%H",
        )
        found = git(self._repository, "log", *wanted, commit, "--", path) or b""
        return found.decode().split()[-1] if found else None
