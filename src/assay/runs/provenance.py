"""Where a run happened, by allowlist: code, versions, machine."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import RecordError
from assay.runs.privacy import scrub
from assay.runs.storage import digest

PACKAGES = (
    "assay",
    "gguf",
    "numpy",
    "pandas",
    "POT",
    "safetensors",
    "scipy",
    "tokenizers",
    "torch",
    "transformers",
)
WRITTEN_BY_RUNS = (
    "experiments/.gitattributes",
    "experiments/registry",
    "experiments/manifests",
    "experiments/summaries",
    "experiments/registered",
    "artifacts",
    "docs/CLAIM_EVIDENCE.md",
)
_WATCHED = (".", *(f":(exclude){path}" for path in WRITTEN_BY_RUNS))
_SOURCE_SUFFIXES = frozenset(
    [
        ".py",
        ".pyi",
        ".pyx",
        ".ipynb",
        ".c",
        ".cc",
        ".cpp",
        ".cu",
        ".h",
        ".rs",
        ".sh",
        ".toml",
        ".cfg",
        ".ini",
        ".yaml",
        ".yml",
        ".json",
        ".csv",
        ".tsv",
    ]
)
_DIFF_OPTIONS = (  # the same text whatever the user's settings are
    *("--no-ext-diff", "--no-textconv", "--no-color", "--binary", "--full-index", "--no-renames", "--unified=3"),
    *("--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/", "--diff-algorithm=myers", "--submodule=short"),
    *("--ignore-submodules=none", "--indent-heuristic"),
)


@dataclass(frozen=True)
class CodeState:
    """The code that a run saw. ``commit`` is None outside git or before the first commit, ``dirty`` only outside git.

    ``diff_digest`` is the SHA-256 of what differs from the commit, ``untracked`` the source files git does not know.
    """

    commit: str | None
    dirty: bool | None
    diff_digest: str | None
    untracked: tuple[str, ...]


def code_state(repository: Path) -> CodeState:
    """Commit and dirty state of a repository; what runs themselves write does not make it dirty.

    Raises:
        RecordError: git is missing or refuses in a folder that it keeps, so that the state cannot be told.
    """
    if git(repository, "rev-parse", "--is-inside-work-tree") is None:
        return CodeState(None, None, None, ())
    head = git(repository, "rev-parse", "--verify", "--quiet", "HEAD", absent_ok=True)
    against = ("HEAD",) if head else ("--cached",)
    diff = git(repository, "diff", *_DIFF_OPTIONS, *against, "--", *_WATCHED) or b""
    listed = git(repository, "ls-files", "-z", "--others", "--exclude-standard", "--", *_WATCHED) or b""
    names = sorted(name.decode(errors="replace") for name in listed.split(b"\0") if name)
    untracked = tuple(name for name in names if Path(name).suffix in _SOURCE_SUFFIXES or Path(name).name == "Makefile")
    return CodeState(
        commit=head.decode().strip() if head else None,
        dirty=bool(diff or untracked),
        diff_digest=digest(diff) if diff else None,
        untracked=untracked,
    )


def changed_files(repository: Path) -> list[str]:
    """Files that git knows and that differ from the commit, relative to the repository."""
    listed = git(repository, "diff", "--name-only", "--no-renames", "--relative", "-z", "HEAD", "--", *_WATCHED) or b""
    return [name.decode(errors="replace") for name in listed.split(b"\0") if name]


def committed_file(repository: Path, commit: str, name: str) -> bytes | None:
    """Bytes of a file, named relative to the repository, as a commit holds it; None without that commit or file.

    Raises:
        RecordError: git is not installed, or refuses in a repository that it keeps.
    """
    return git(repository, "cat-file", "blob", f"{commit}:./{name}", absent_ok=True)


def git(repository: Path, *arguments: str, absent_ok: bool = False, given: bytes = b"") -> bytes | None:
    """Output of a git command, None outside of git (or for a question whose answer may be absent).

    ``given`` is its standard input. The caller's variables and what replaces commits (refs/replace, grafts) are left
    aside.

    Raises:
        RecordError: git is missing in a folder that it keeps, or refuses.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    environment |= {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}  # a commit is what its id says
    try:
        done = subprocess.run(
            ["git", "-c", "core.quotepath=off", "-c", "advice.graftFileDeprecated=false", *arguments],
            cwd=repository,
            env=environment,
            input=given,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        if any((folder / ".git").exists() for folder in (repository, *repository.parents)):
            raise RecordError("code state: this is a git repository, but git is not installed. Install git.") from None
        return None
    if done.returncode == 0:
        return done.stdout
    error = done.stderr.decode(errors="replace").strip()
    if absent_ok or "not a git repository" in error:
        return None
    raise RecordError(f"code state: git {arguments[0]} failed: {scrub(error)}. Repair it; a run must know its commit.")


def versions() -> dict[str, str]:
    """Version of every installed package that can change a number."""
    from importlib import metadata

    found: dict[str, str] = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue  # not installed: it cannot have changed a number
    return found


def machine() -> dict[str, Any]:
    """The manifest's fields python, packages, os, cpu, cores, threads, accelerator and determinism."""
    torch = sys.modules.get("torch")
    return {
        "python": platform.python_version(),
        "packages": versions(),
        "os": scrub(f"{platform.system()} {platform.release()} {platform.machine()}"),
        "cpu": scrub(_cpu()),
        "cores": _cores(),
        "threads": torch.get_num_threads() if torch else _threads(),
        "accelerator": _accelerator(torch),
        "determinism": _determinism(torch),
    }


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _threads() -> int:
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return int(asked) if asked.isdigit() else _cores()


def _cpu() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith(("model name", "Model", "cpu model")):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown"


def _accelerator(torch: Any) -> str | None:
    if torch is None:
        return None
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        return ", ".join(f"{names.count(name)} x {name}" for name in sorted(set(names)))
    return "mps" if torch.backends.mps.is_available() else "none"


def _determinism(torch: Any) -> dict[str, Any]:
    flags: dict[str, Any] = {
        "hash_randomization": bool(sys.flags.hash_randomization),
        "optimize": int(sys.flags.optimize),
    }
    if torch is not None:
        flags |= {
            "torch_deterministic_algorithms": bool(torch.are_deterministic_algorithms_enabled()),
            "cudnn_benchmark": bool(torch.backends.cudnn.benchmark),
            "cudnn_deterministic": bool(torch.backends.cudnn.deterministic),
        }
    return flags


def peak_memory_bytes() -> int:
    """Largest resident memory of this process or of any one of its finished children so far, in bytes."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
