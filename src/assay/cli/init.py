"""``assay init``: the smallest working harness in a folder, and the commands that come next."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import click

from assay.cli.origin import requirement
from assay.cli.show import echo_json, say
from assay.cli.starter import EXPERIMENT, UNKNOWN_ORIGIN, WORKFLOW, Starter, look
from assay.errors import ConfigError
from assay.runs.provenance import changed_files, code_state, git

_RECORD = tuple(f"experiments/{name}" for name in ("registry/runs.jsonl", "manifests/run.json", "registered/run.json"))
_SUMMARY = tuple(f"experiments/summaries/run/{name}" for name in ("summary.json", "table.csv", "figures/figure.svg"))


class Keeping(NamedTuple):
    """How git keeps a folder: inside a repository or not, at its ``top``, and ``unsaved``, files not committed yet."""

    inside: bool
    top: bool
    unsaved: tuple[str, ...]


@click.command(short_help="Make the smallest working harness in a folder.")
@click.argument("folder", default=".", type=click.Path(path_type=Path, file_okay=False))
@click.option("--yes", is_flag=True, help="Add lines to files that are there without asking.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document; asks nothing.")
@click.pass_context
def init(context: click.Context, folder: Path, *, yes: bool, as_json: bool) -> None:
    """Make the smallest working harness in FOLDER (default: here): an experiment, a claim, settings, a CI file.

    A file that is there is never overwritten; where it lacks lines (pyproject.toml, .gitignore, .gitattributes) they
    are shown and added after a question. Ends with the commands that give a registered run and a claim that holds.
    """
    keeping = _keeping(folder)
    starter = look(folder, top=keeping.top)
    if not as_json:
        _show(starter)
    if starter.changes and not yes and not _agreed(as_json=as_json):
        say("Nothing was written.", err=True)
        context.exit(1)
    starter.write()
    own = _own(starter, keeping)
    notes = [*_notes(folder, keeping, own), *_note_on_origin(starter)]
    commands = _commands(folder, keeping, own)
    if as_json:
        changed = [change.name for change in starter.changes]
        found = {"new": sorted(starter.new), "changed": changed, "left": starter.left}
        echo_json({"folder": folder.as_posix(), **found, "notes": notes, "commands": commands})
        return
    for note in notes:
        say(f"\n{note}")
    say("\nNext:\n" + "".join(f"\n    {command}" for command in commands))


def _keeping(folder: Path) -> Keeping:
    near = next(place for place in (folder, *folder.absolute().parents) if place.is_dir())
    prefix = git(near, "rev-parse", "--show-prefix")
    if prefix is None:
        return Keeping(inside=False, top=True, unsaved=())
    state = code_state(near)
    files = changed_files(near) if state.commit else []
    return Keeping(
        inside=True,
        top=near.absolute() == folder.absolute() and not prefix.strip(),
        unsaved=(*files, *state.untracked) if state.dirty else (),
    )


def _show(starter: Starter) -> None:
    for name in starter.new:
        say(f"new      {name}")
    for name, reason in starter.left.items():
        say(f"left     {name} ({reason})")
    for change in starter.changes:
        say(f"changed  {change.name}\n{change.diff()}")


def _agreed(*, as_json: bool) -> bool:
    if as_json:
        raise ConfigError("init --json asks nothing, and lines are lacking in files that are there: add --yes.")
    try:
        return click.confirm("Add these lines, and make the new files?")
    except click.Abort as cause:
        raise ConfigError("init: there was no answer, so nothing was written. --yes answers it.") from cause


def _own(starter: Starter, keeping: Keeping) -> list[str]:
    """Files of the harness that the next commit has to hold: what was written now or, untracked, by an earlier call."""
    kept = starter.kept()
    if keeping.inside and kept:
        listed = git(starter.root, "ls-files", "-z", "--others", "--", *kept) or b""
        kept = [name.decode() for name in listed.split(b"\0") if name]
    return sorted({*starter.written(), *kept})


def _notes(folder: Path, keeping: Keeping, own: list[str]) -> list[str]:
    notes = []
    if not keeping.inside and shutil.which("git") is None:
        notes.append(
            "git is not installed. Runs work, but none can be registered, because its code could not be told: claims "
            "stay UNVERIFIED, and neither staleness by definition nor the order of a freeze can be shown. Install git."
        )
    elif not keeping.inside:
        notes.append(
            "This folder is not kept by git. A run is registered from a commit, so the commands below begin with "
            "git init; without it runs work, but no claim can hold."
        )
    if others := [name for name in keeping.unsaved if name not in own]:
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        notes.append(
            f"Not committed yet: {', '.join(others[:5])}{more}. Commit or stash them too: a run is registered from a "
            "clean tree only."
        )
    places = [*own, *_RECORD, *_SUMMARY]
    if keeping.inside and (ignored := git(folder, "check-ignore", "--no-index", "--", *places, absent_ok=True)):
        names = ignored.decode().splitlines()
        back = sorted({f"!{'/'.join(name.split('/')[:2])}{'/**' if '/' in name else ''}" for name in names})
        notes.append(
            f"git ignores {', '.join(names)}, and all of this has to be committed. Add {' '.join(back)} to .gitignore, "
            "a line each, or take out the line that ignores it."
        )
    return notes


def _note_on_origin(starter: Starter) -> list[str]:
    if WORKFLOW not in starter.new or requirement() is not None:
        return []
    return [
        f"{WORKFLOW} installs `assay` by its bare name, since this installation does not tell from where another "
        f"machine gets it. Put the address there, such as {UNKNOWN_ORIGIN}."
    ]


def _commands(folder: Path, keeping: Keeping, own: list[str]) -> list[str]:
    commands = [] if folder.absolute() == Path.cwd() else [f"cd {shlex.quote(str(folder))}"]
    run = f"assay run {EXPERIMENT}"
    if not keeping.inside and shutil.which("git") is None:
        return [*commands, run]
    if not keeping.inside:
        commands.append("git init")
    if own:
        commands.append(f'git add {shlex.join(own)} && git commit -m "A harness for claims"')
    return [
        *commands,
        f'{run} --register "the first run"',
        'git add experiments && git commit -m "The first run"',
        "pytest claims/",
    ]
