"""Run the small paper through Assay and its rivals, and write docs/comparison.md.

`python -m benchmarks.comparison.compare`, in the root of the repository, installs the rivals from the package index
into environments under build/comparison, and leaves their projects there to look at.
"""

from __future__ import annotations

import datetime
import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.comparison.page import Column, page
from benchmarks.comparison.paper import EDITS, MEASURED_AGAIN, PAPER, RUN_AGAIN, edited
from benchmarks.comparison.tool import LISTED, PREVENTED, Tool
from benchmarks.comparison.tools import ASSAY, RIVALS

ROOT: Final = Path(__file__).resolve().parents[2]
BUILD: Final = ROOT / "build/comparison"
PAGE: Final = ROOT / "docs/comparison.md"


def column(tool: Tool, folder: Path, programs: Path, *, version: str) -> Column:
    """What a tool says of each number of the paper, and whether it notices each later edit, in an empty folder."""
    folder.mkdir(parents=True)
    tool.prepare(folder, programs)
    said = tool.flagged(folder, programs)
    later = {}
    for edit, changes in EDITS.items():
        tool.write_paper(folder, edited(changes), programs)
        found = tool.flagged(folder, programs)
        later[edit] = noticed([found[name] for name in changes])
    tool.write_paper(folder, PAPER, programs)
    tool.measure(folder, MEASURED_AGAIN, programs)
    later[RUN_AGAIN] = noticed([tool.flagged(folder, programs)["P2"]])
    outcomes = {one.name: outcome(said, one.name, one.truth) for one in PAPER}
    return Column(tool.name, version, tool.how, tool.strengths, outcomes, later)


def outcome(said: Mapping[str, bool | str], name: str, truth: str) -> str:
    """The word of the table for what a tool says of a number and what is true of it."""
    found = said[name]
    if truth == "right":
        return "false alarm" if found is True else "right"
    if found == PREVENTED:
        return "prevented"
    if found is not True:
        return "missed"
    return "caught wrong" if truth == "wrong" else "caught"


def noticed(found: Sequence[bool | str]) -> str:
    """The word of the table for what a tool says of the sentences that changed."""
    if all(said is True for said in found):
        return "noticed"
    if all(said == PREVENTED for said in found):
        return "follows the run"
    return LISTED if all(said == LISTED for said in found) else "missed"


def installed(tool: Tool) -> tuple[Path, str] | None:
    """The programs of a tool in an environment of its own and its version, or None where pip could not install it."""
    place = BUILD / "environments" / tool.requirement.split()[0].replace("[", "-").replace("]", "-")
    programs = place / "bin"
    if not (place / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", *tool.requirement.split()]
        if subprocess.run(pip, check=False).returncode != 0:
            return None
        (place / "installed").touch()
    named = tool.requirement.split()[0].replace("[data,docs]", "").replace("==", " ")
    return programs, named


def main() -> None:
    """Compare, and write the page."""
    projects = BUILD / "projects"
    shutil.rmtree(projects, ignore_errors=True)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    columns = [column(ASSAY, projects / "assay", Path(sys.executable).parent, version=f"assay {version}, this commit")]
    absent = []
    for tool in RIVALS:
        found = installed(tool)
        if found is None:
            absent.append(f"{tool.name} ({tool.requirement})")
            continue
        folder = projects / tool.name.replace(", ", "-")
        columns.append(column(tool, folder, found[0], version=found[1]))
        print(f"{tool.name}: {', '.join(columns[-1].outcomes.values())}", flush=True)
    date = datetime.datetime.now(tz=datetime.UTC).date()
    PAGE.write_text(page(columns, absent=absent, date=date, python=platform.python_version()), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
