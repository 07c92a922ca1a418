"""`make reproduce`: fetch models and text, repeat the quick configuration, compare it, check every claim."""

from __future__ import annotations

import json
import subprocess
import sys

import click

EXPERIMENT, TIER = "merging.representations", "quick"
ASSAY = (sys.executable, "-m", "assay")


@click.command()
def reproduce() -> None:
    """Fetch, rerun, compare, check the claims; exit 0 only if the run reproduced and every claim holds."""
    click.secho("1/3  Fetch models and text: 350 MB to download once, 1.7 GB kept, about 3 minutes", bold=True)
    if subprocess.run([*ASSAY, "data", "fetch", "--all"]).returncode:
        raise SystemExit("make reproduce: fetching failed, see above; nothing was run.")
    click.secho(f"2/3  Repeat {EXPERIMENT} at tier {TIER}: about 4 minutes on two cores", bold=True)
    verify = [*ASSAY, "runs", "verify", EXPERIMENT, "--tier", TIER, "--json"]
    rerun = subprocess.run(verify, stdout=subprocess.PIPE, text=True)
    if not rerun.stdout.strip():
        raise SystemExit("make reproduce: the run did not end, see above.")
    found = json.loads(rerun.stdout)
    click.secho("3/3  Check every claim against the registered runs", bold=True)
    claims = subprocess.run([sys.executable, "-m", "pytest", "claims", "-q"]).returncode
    conclude(found, claims_hold=claims == 0)
    raise SystemExit(0 if found["verdict"] == "reproduced" and claims == 0 else 1)


def conclude(found: dict[str, object], *, claims_hold: bool) -> None:
    """Print the verdict, what drifted, and where table and figure are."""
    drifted = found["drifted"]
    for change in drifted if isinstance(drifted, list) else []:
        click.echo(f"  drifted  {change['where']}: recorded {change['first']}, now {change['second']}")
    largest = found["largest_relative_difference"]
    same = "identical bytes" if found["identical_bytes"] else f"largest relative difference {largest:.1g}"
    good = found["verdict"] == "reproduced" and claims_hold
    click.echo()
    click.secho("REPRODUCED" if good else "NOT REPRODUCED", fg="green" if good else "red", bold=True)
    click.echo(f"  run      {found['run_id']}: {found['verdict']}, {found['compared']} numbers and cells, {same}")
    click.echo(f"  claims   {'all hold' if claims_hold else 'not all hold, see above'}")
    click.echo(f"  table    {found['rerun']}/pairs.csv")
    click.echo(f"  figure   {found['rerun']}/figures/cka_last_layers.png")


if __name__ == "__main__":
    reproduce()
