"""``assay data``: fetch the corpora and weights that experiments need, each once, each checked against its digest."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from typing import Any

import click

from assay.cli.show import echo_json, echo_table, say
from assay.errors import ConfigError
from assay.runs.configuration import nearest

_SOURCES = ("assay.tasks.text", "assay.models.weights_source")


@click.group(short_help="Fetch corpora and model weights.")
def data() -> None:
    """Fetch corpora and model weights into the cache."""


@data.command(short_help="Fetch by name, each once, each checked against its digest.")
@click.argument("names", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Fetch all there is.")
@click.option("--list", "only_list", is_flag=True, help="List what can be fetched, with size and licence.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def fetch(names: tuple[str, ...], *, everything: bool, only_list: bool, as_json: bool) -> None:
    """Fetch NAMES, of those that --list shows, into the cache (ASSAY_CACHE, or the user's own cache folder); what is
    there already is only checked."""
    known = fetchables()
    if only_list:
        rows = [(name, known[name].describe()) for name in known]
        echo_json(dict(rows)) if as_json else echo_table(("name", "what"), rows)
        return
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"data fetch: there is no {unknown[0]!r}.{nearest(unknown[0], list(known))}")
    chosen = list(known) if everything else list(dict.fromkeys(names))
    if not chosen:
        raise ConfigError(f"data fetch: name what to fetch, or --all. Known: {', '.join(known)}.")
    places: dict[str, str] = {}
    for name in chosen:
        description = known[name].describe()
        say(f"{name}: {description}", err=as_json)
        places[name] = str(known[name].fetch(progress=functools.partial(_say, name, description)))
        say(f"{name}: {places[name]}", err=as_json)
    if as_json:
        echo_json(places)


def fetchables() -> Mapping[str, Any]:
    """Everything that can be fetched by name; the modules that know how are loaded here and nowhere else."""
    known: dict[str, Any] = {}
    for module in _SOURCES:
        known |= importlib.import_module(module).FETCHABLES
    return known


def _say(name: str, said: str, line: str) -> None:
    """Say a line of progress under the name; a source that begins with its own name or description repeats nothing."""
    if told := line.removeprefix(f"{name}: ").removeprefix(said).removeprefix("; "):
        say(f"{name}: {told}", err=True)
