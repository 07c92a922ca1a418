"""``assay merge``: merge checkpoints as a recipe says, tensor by tensor."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import click

from assay.cli.show import echo_json, echo_table, say

_SHOWN = 12


@click.command(short_help="Merge checkpoints as a recipe says.")
@click.argument("recipe", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--seed", type=int, default=0, show_default=True, help="Root of the random streams of DARE and DELLA.")
@click.option(
    "--vocabulary",
    type=click.Choice(["refuse", "exclude"]),
    default="refuse",
    show_default=True,
    help="Models with different vocabularies: refuse, or take embedding and head from the first model.",
)
@click.option("--shard-bytes", type=click.IntRange(min=1), help="Largest file of the result, in bytes (default 5e9).")
@click.option(
    "--check", "only_check", is_flag=True, help="Only check recipe, configurations, names, shapes; make nothing."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def merge(
    recipe: Path,
    out: Path,
    *,
    seed: int,
    vocabulary: str,
    shard_bytes: int | None,
    only_check: bool,
    as_json: bool,
) -> None:
    """Merge the models of the YAML file RECIPE into the new folder OUT; mergekit's files are understood."""
    streaming = importlib.import_module("assay.merge.streaming")
    if only_check:
        reading = importlib.import_module("assay.merge.recipe")
        read = reading.read_recipe(recipe, list(streaming.OPERATORS))
        plan, _ = streaming.preflight(read, vocabulary=vocabulary)
        summary: dict[str, Any] = {"tensors": len(plan.made), "notes": list(plan.notes), "written": False}
    else:
        report = streaming.merge_file(
            recipe, out, seed=seed, vocabulary=vocabulary, shard_bytes=shard_bytes or streaming.SHARD_BYTES
        )
        notes = [f"{name}: {note}" for name, one in report.tensors.items() for note in one.notes]
        summary = {
            "folder": str(out),
            "tensors": len(report.tensors),
            "bytes": report.n_bytes,
            "largest_rounding": max((one.rounding for one in report.tensors.values()), default=0.0),
            "left_out": {name: dict(why) for name, why in report.left_out.items() if why},
            "notes": [*report.notes, *notes],
        }
    if as_json:
        echo_json(summary)
        return
    lines = [(key, value) for key, value in summary.items() if key not in ("notes", "left_out")]
    echo_table(("merge", "value"), lines)
    for note in summary["notes"][:_SHOWN]:
        say(f"note: {note}")
    if len(summary["notes"]) > _SHOWN:
        say(f"... and {len(summary['notes']) - _SHOWN} more in {streaming.MERGE_RECORD}")
