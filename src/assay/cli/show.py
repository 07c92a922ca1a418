"""How the command line shows things: tables for people, one JSON document for programs."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from assay.runs.values import encode

_WIDE = 10_000


LOST: list[OSError] = []
"""Why standard output could not be written, where that is more than a reader who has seen enough."""


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a line. A stream that cannot be written stops nothing that is under way: what follows goes nowhere.

    A reader who has gone (``| head``) is no error; anything else (a full disk) is said once, and noted in ``LOST``.
    """
    try:
        click.echo(text, err=err, nl=nl)
    except OSError as cause:
        stream = sys.stderr if err else sys.stdout
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        if not isinstance(cause, BrokenPipeError) and not err:
            LOST.append(cause)
            say(f"assay: standard output cannot be written ({cause.strerror}); going on without it.", err=True)


def reason_given(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse an option where a reason was due: ``--register --dry-run`` would register because of "--dry-run"."""
    if value is not None and value.startswith("-"):
        raise click.BadParameter(f"{value!r} is an option, and a sentence was due that says why.", context, parameter)
    return value


def echo_json(value: Any) -> None:
    """Print one JSON document; NaN and infinities as the strings the record uses."""
    say(json.dumps(jsonable(value), indent=2, ensure_ascii=False, allow_nan=False))


def jsonable(value: Any) -> Any:
    """The value with counts, estimates, tuples and non-finite floats in the forms of the record."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else encode(value)
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item) for item in value]
    return encode(value)


def echo_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "") -> None:
    """Print a table; on a terminal folded to its width, elsewhere as wide as its content, nothing cut."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    table = Table(box=box.SIMPLE_HEAD if terminal else None, title=title or None, title_justify="left", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=not terminal)
    for row in rows:
        table.add_row(*(Text(shown(entry)) for entry in row))
    width = shutil.get_terminal_size().columns if terminal else _WIDE
    text = io.StringIO()
    Console(file=text, width=width, force_terminal=terminal).print(table)
    say("\n".join(line.rstrip() for line in text.getvalue().splitlines()))


def shown(value: Any) -> str:
    """A value as tables show it: floats to six digits, counts N/M, estimates with their interval."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    if all(hasattr(value, name) for name in ("value", "low", "high", "n")):
        return f"{value.value:.6g} [{value.low:.6g}, {value.high:.6g}] (n {value.n})"
    return str(value)
