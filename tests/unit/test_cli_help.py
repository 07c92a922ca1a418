"""What `--help` says: every command and option is told in whole words, and takes --json where it prints a result."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from assay.cli import assay

GROUPS = {"assay", "assay runs", "assay claims", "assay export", "assay data"}


def commands(group: click.Group = assay, path: str = "assay") -> Iterator[tuple[str, click.Command]]:
    yield path, group
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


@pytest.mark.parametrize(
    ("path", "command"), list(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_help_is_whole_and_complete(path: str, command: click.Command) -> None:
    done = CliRunner().invoke(assay, [*path.split()[1:], "--help"])
    assert done.exit_code == 0
    assert command.help
    options = [one for one in command.params if isinstance(one, click.Option)]
    assert [one.name for one in options if not one.help] == []
    assert ("--json" in done.output) or path in GROUPS
    if isinstance(command, click.Group):
        _, _, listed = done.output.partition("\nCommands:\n")
        assert len(listed.splitlines()) == len(command.commands)
        assert "..." not in listed


def test_commands_are_listed_in_the_order_of_their_use() -> None:
    listed = CliRunner().invoke(assay, ["--help"]).output.partition("\nCommands:\n")[2]
    names = [line.split()[0] for line in listed.splitlines()]
    assert names == ["init", "run", "runs", "claims", "freeze", "report", "export", "data", "merge"]


def test_the_statuses_of_exit_are_told() -> None:
    said = " ".join(CliRunner().invoke(assay, ["--help"]).output.split())
    assert "Exit status: 0 good, 1 a check fell short or a run failed, 2 wrong use, 130 interrupted." in said
