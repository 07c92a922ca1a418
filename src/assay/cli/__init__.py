"""The command ``assay``: run experiments, look at runs, check claims, fetch data.

Exit status: 0 good, 1 a check fell short or a run failed, 2 usage, 130 interrupted. Heavy modules load inside commands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from assay import __version__
from assay.cli.claims import claims
from assay.cli.data import data
from assay.cli.run import run
from assay.cli.runs import runs
from assay.errors import AssayError, ConfigError

_INTERRUPTED = 130


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="assay")
def assay() -> None:
    """Claims are tests: run experiments, keep their record, and check every printed number against it."""


for _command in (run, runs, claims, data):
    assay.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: errors raised on purpose are a message without traceback."""
    try:
        status = assay.main(args=arguments, prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        status = _INTERRUPTED
    except BrokenPipeError:
        _close_quietly()
        status = 0
    except AssayError as error:
        click.echo("\n".join((f"assay: {error}", *getattr(error, "__notes__", ()))), err=True)
        status = 2 if isinstance(error, ConfigError) else 1
    sys.exit(status or 0)


def _close_quietly() -> None:
    """Who reads the pipe has gone: let the interpreter's last flush go nowhere instead of complaining."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
