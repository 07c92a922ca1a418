"""Timestamps of a freeze by an outside authority (RFC 3161), kept beside the frozen text and checked by openssl.

The reply covers the bytes of the frozen event, which hold the hash of the text and the configurations. It says that
these bytes existed at its time, by the word of the authority whose certificate is kept with it; it says nothing of
runs. Nothing is asked over a network.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import final

from assay.errors import RecordError
from assay.runs.freeze import Freeze
from assay.runs.privacy import scrub
from assay.runs.storage import read_bytes, shown, write_durable

_TIME = re.compile(r"^Time stamp: (\w{3} +\d+ \d\d:\d\d:\d\d)(?:\.\d+)? (\d{4}) GMT$", re.MULTILINE)
_AUTHORITY = re.compile(r"^TSA: (?:DirName:)?(.+)$", re.MULTILINE)
_HASH = re.compile(r"^Hash Algorithm: (\S+)$", re.MULTILINE)
_HASHES = ("sha256", "sha384", "sha512")


@final
@dataclass(frozen=True)
class Stamp:
    """When the freeze existed (UTC), and who says so."""

    at: datetime
    authority: str


def reply_path(freeze: Freeze) -> str:
    """Path of the authority's reply, relative to the repository."""
    return freeze.copy.removesuffix(".md") + ".tsr"


def certificates_path(freeze: Freeze) -> str:
    """Path of the certificates by which the reply is checked, relative to the repository."""
    return freeze.copy.removesuffix(".md") + ".pem"


def stamp_of(freeze: Freeze, repository: Path) -> Stamp | None:
    """The checked timestamp of a freeze; None when it has none.

    Raises:
        RecordError: the reply does not fit the frozen event or its certificates, or openssl is not installed.
    """
    reply, certificates = repository / reply_path(freeze), repository / certificates_path(freeze)
    if not reply.is_file():
        return None
    return check_stamp(repository / freeze.event_path, reply=reply, certificates=certificates)


def keep_stamp(freeze: Freeze, repository: Path, *, reply: Path, certificates: Path) -> Stamp:
    """Check an authority's reply on a freeze and keep it, with the certificates, beside the frozen text.

    Raises:
        RecordError: the reply does not fit; nothing is written.
    """
    stamp = check_stamp(repository / freeze.event_path, reply=reply, certificates=certificates)
    content = read_bytes(certificates), read_bytes(reply)
    for path, data in zip((certificates_path(freeze), reply_path(freeze)), content, strict=True):
        write_durable(repository / path, data)
    return stamp


def check_stamp(stamped: Path, *, reply: Path, certificates: Path) -> Stamp:
    """The timestamp that ``reply`` gives the bytes of ``stamped``, its signature checked as of its own time.

    Raises:
        RecordError: the reply is unreadable, of other bytes, by a weak hash, or not signed by ``certificates``.
    """
    for path in (stamped, reply, certificates):
        read_bytes(path)
    text = _openssl("-reply", "-in", str(reply), "-text", name=shown(reply))
    when, algorithm, who = _TIME.search(text), _HASH.search(text), _AUTHORITY.search(text)
    if when is None or algorithm is None:
        raise RecordError(f"timestamp: {shown(reply)} holds no time. Ask the authority again; keep its whole reply.")
    if algorithm[1] not in _HASHES:
        wanted = ", ".join(_HASHES)
        raise RecordError(f"timestamp: {shown(reply)} hashes with {algorithm[1]}; wanted one of {wanted}. Ask again.")
    at = datetime.strptime(f"{when[1]} {when[2]}", "%b %d %H:%M:%S %Y").replace(tzinfo=UTC)
    seconds = str(int(at.timestamp()))
    wanted_files = ("-data", str(stamped), "-in", str(reply), "-CAfile", str(certificates))
    _openssl("-verify", *wanted_files, "-attime", seconds, name=shown(reply))
    return Stamp(at, who[1].strip() if who else "the authority of its certificates")


def _openssl(*arguments: str, name: str) -> str:
    try:
        done = subprocess.run(["openssl", "ts", *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        raise RecordError(f"timestamp: {name} cannot be checked: openssl is not installed. Install it.") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = scrub(said[-1].split(":")[-1] or said[-1]) if said else "no reason given"
        raise RecordError(
            f"timestamp: {name} does not verify ({why}). The reply has to be of the frozen event, and the "
            "certificates those of the authority, root included."
        )
    return done.stdout.decode(errors="replace")
