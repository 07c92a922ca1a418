"""The command ``assay``: begin, run experiments, look at runs, check claims, report, export, fetch data.

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
from assay.cli.export import export
from assay.cli.freeze import freeze
from assay.cli.init import init
from assay.cli.merge import merge
from assay.cli.report import report
from assay.cli.run import run
from assay.cli.runs import runs
from assay.cli.show import LOST, say
from assay.errors import AssayError, ConfigError

_INTERRUPTED = 130


class _Assay(click.Group):
    """The command, which knows where a command stands that was named without its group, and lists all in order."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and args[0] in runs.commands:
            ctx.fail(f"No such command {args[0]!r}. Did you mean: assay runs {args[0]}?")
        return super().resolve_command(ctx, args)


@click.group(cls=_Assay, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="assay")
def assay() -> None:
    """Claims are tests: run experiments, keep their record, and check every printed number against it.

    All but init, data and merge are typed in a repository: a folder with experiments/, or one below it. Every command
    takes --json. Exit status: 0 good, 1 a check fell short or a run failed, 2 wrong use, 130 interrupted.
    """


for _command in (init, run, runs, claims, freeze, report, export, data, merge):
    assay.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: errors raised on purpose are a message without traceback."""
    _open_closed_streams()
    try:
        status = assay.main(args=arguments, prog_name="assay", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("Interrupted.", err=True)
        status = _INTERRUPTED
    except SystemExit:
        if "PacifyFlushWrapper" not in type(sys.stdout).__name__:
            raise
        status = 0  # click printed help for a reader who has gone
    except AssayError as error:
        say("\n".join((f"assay: {error}", *getattr(error, "__notes__", ()))), err=True)
        status = 2 if isinstance(error, ConfigError) else 1
    except ModuleNotFoundError as error:
        if (error.name or "assay").partition(".")[0] == "assay":
            raise
        say(f"assay: this needs the package {error.name}, which is not installed: pip install 'assay[lab]'", err=True)
        status = 2
    say("", nl=False)  # the last flush, which the interpreter would complain about
    sys.exit(status or (1 if LOST else 0))


def _open_closed_streams() -> None:
    """Put nowhere in the place of standard streams that were closed, lest a file of the record takes their number."""
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, mode, closefd=False))
