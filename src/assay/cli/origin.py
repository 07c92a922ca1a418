"""Where this Assay was installed from, as a requirement that another machine can install: PEP 508, from PEP 610."""

from __future__ import annotations

import ipaddress
import json
import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import assay

_ADDRESS = re.compile(r"https://(?P<host>[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?::\d+)?/[A-Za-z0-9._~/+%-]+")
_PRIVATE = (".local", ".localdomain", ".internal", ".intranet", ".lan", ".home", ".corp", ".home.arpa")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FOLDER = re.compile(r"[A-Za-z0-9._/-]+")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def requirement() -> str | None:
    """What pip has to be given elsewhere to install this Assay; None when its installation does not tell.

    That is the version for one that came from an index by name, and the address for one that came from an https
    address (git at its commit). A folder, an editable installation, and an address that is not public tell nothing.
    """
    try:
        installed = distribution("assay")
    except PackageNotFoundError:
        return None
    if Path(str(installed.locate_file("assay/__init__.py"))).resolve() != Path(assay.__file__).resolve():
        return None  # another Assay goes before the installed one, or the installed one is editable
    return requirement_of(installed)


def requirement_of(installed: Distribution) -> str | None:
    """As :func:`requirement`, of the installation that ``installed`` describes."""
    told = installed.read_text("direct_url.json")
    if told is None:
        by_name = bool(installed.read_text("INSTALLER"))
        return f"assay=={installed.version}" if by_name else None
    origin = json.loads(told)
    address = str(origin.get("url", ""))
    if not _is_public(address):
        return None
    if "vcs_info" in origin:
        commit = str(origin["vcs_info"].get("commit_id", ""))
        known = origin["vcs_info"].get("vcs") == "git" and _COMMIT.fullmatch(commit)
        return f"assay @ git+{address}@{commit}{_fragment(origin)}" if known else None
    return f"assay @ {address}{_fragment(origin)}" if "archive_info" in origin else None


def _is_public(address: str) -> bool:
    """Whether another machine can be given the address: https, without a name or password, of no private network."""
    found = _ADDRESS.fullmatch(address)
    if found is None or found["host"].lower().endswith(_PRIVATE):
        return False
    try:
        ipaddress.ip_address(found["host"])
    except ValueError:
        return True
    return False


def _fragment(origin: dict[str, Any]) -> str:
    """Digest and folder of the package, where they are told, as pip reads them after the address."""
    archive = origin.get("archive_info", {})
    digest = str(archive.get("hashes", {}).get("sha256", "")) or str(archive.get("hash", "")).removeprefix("sha256=")
    folder = str(origin.get("subdirectory", ""))
    parts = [f"sha256={digest}"] if _SHA256.fullmatch(digest) else []
    parts += [f"subdirectory={folder}"] if _FOLDER.fullmatch(folder) else []
    return f"#{'&'.join(parts)}" if parts else ""
