"""Source files of a run that its commit does not hold although git shows no change: ignored, or told to overlook."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from assay.runs.provenance import CodeState, changed_files, code_state, git
from assay.runs.source import file_of


def code_state_of(modules: Iterable[str], repository: Path) -> CodeState:
    """The state of a repository of which a run uses ``modules``: dirty, too, if the commit does not hold one of them.

    What git does not show is among the ``untracked``: files that are ignored, that git was told to take as unchanged
    (assume-unchanged, skip-worktree), and links to what lies outside of the repository.

    Raises:
        RecordError: git is missing or refuses in a folder that it keeps.
    """
    state = code_state(repository)
    found = overlooked(modules, repository) if state.commit else ()
    if not found:
        return state
    return dataclasses.replace(state, dirty=True, untracked=tuple(sorted({*state.untracked, *found})))


def overlooked(modules: Iterable[str], repository: Path, *, since: str | None = None) -> tuple[str, ...]:
    """Files of modules, relative to ``repository``, that the commit does not hold as they are and no diff names.

    With ``since``, the commit of a run that began clean, a file counts too if a diff names it: it was changed since.
    """
    if not (files := [file for file in (file_of(name, repository) for name in modules) if file]):
        return ()
    root = repository.resolve()
    top = Path((git(root, "rev-parse", "--show-toplevel") or b"").decode().rstrip("\n")).resolve()
    names = {file.resolve(): file.relative_to(root).as_posix() for file in files}
    changed = {(root / name).resolve() for name in ([] if since else changed_files(root))}
    inside = [file for file in names if file.is_relative_to(top)]
    missing = (names.keys() - inside) | _differing(inside, top, since or "HEAD")
    return tuple(sorted(names[file] for file in missing - changed))


def to_commit(modules: Iterable[str], repository: Path) -> str:
    """What makes the tree clean, in words: a commit, of files that git does not show as well."""
    hidden = sorted(set(overlooked(modules, repository)) - set(code_state(repository).untracked))
    if not hidden:
        return "Commit first"
    return (
        f"Commit first what git does not show: {', '.join(hidden)} (if ignored: git add -f FILE; if told to overlook "
        "it: git update-index --no-assume-unchanged FILE, or --no-skip-worktree FILE)"
    )


def _differing(files: Iterable[Path], top: Path, commit: str) -> set[Path]:
    """Those of ``files`` that a commit of ``top``, or that of the submodule they lie in, holds otherwise or not."""
    tree = git(top, "ls-tree", "-r", "-z", "--full-tree", commit) or b""
    held: dict[Path, str] = {}
    waiting, found = sorted(files), set[Path]()
    for entry in filter(None, tree.split(b"\0")):
        about, _, name = entry.partition(b"\t")
        _, kind, blob = about.decode().split()
        path = top / name.decode(errors="surrogateescape")
        if kind == "blob":
            held[path] = blob
        elif inside := [file for file in waiting if file.is_relative_to(path)]:
            found |= _differing(inside, path, "HEAD")
            waiting = [file for file in waiting if file not in inside]
    for options in (("--no-filters",), ()):  # as the bytes are, then as git would store them (line ends)
        given = "".join(f"{file.relative_to(top)}\n" for file in waiting).encode()
        now = (git(top, "hash-object", "--stdin-paths", *options, given=given) or b"").decode().split()
        waiting = [file for file, blob in zip(waiting, now, strict=True) if held.get(file) != blob]
    return found | set(waiting)
