"""Figures of registered runs with the words that stand for them where they cannot be seen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from assay.report.claims import TEXTS
from assay.report.study import ReportedRun

_IMAGE = re.compile(
    r"!\[(?P<alt>[^\]]+)\]\((?P<path>[^)\s]*/)?(?P<run>[^/()\s]+)/figures/(?P<name>[^/()\s]+)\.(?:svg|png)\)"
)
_KINDS = {".svg": "image/svg+xml", ".png": "image/png"}


class Illustration(NamedTuple):
    """One figure: its name, what it shows in words, its file name and media type, its bytes, all checked."""

    name: str
    alt: str
    file: str
    media_type: str
    data: bytes


def illustrations(run: ReportedRun, repository: Path) -> tuple[Illustration, ...]:
    """The figures of a run, as SVG where there is one; EvidenceError when one was altered.

    The alternative text is that of an image of this figure (of whatever run of the experiment) in README.md, docs/ or
    the README of a study; without one it is the name of the figure in words.
    """
    said = _alternatives(repository, run.manifest.experiment)
    found = []
    for name in run.figures():
        suffix = ".svg" if f"figures/{name}.svg" in run.manifest.summary else ".png"
        path = run.results.file(f"figures/{name}{suffix}")
        words = name.replace("_", " ").replace("-", " ")
        found.append(
            Illustration(
                name, said.get(name, f"{words}, a figure of {run.name}"), path.name, _KINDS[suffix], path.read_bytes()
            )
        )
    return tuple(found)


def _alternatives(repository: Path, experiment: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted({path for pattern in TEXTS for path in repository.glob(pattern)}):
        for image in _IMAGE.finditer(path.read_text("utf-8", errors="replace")):
            if image["run"].startswith(f"{experiment}_"):
                found.setdefault(image["name"], " ".join(image["alt"].split()))
    return found
