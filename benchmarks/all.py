"""`make bench`: every figure of this folder, one script after the other, with machine, versions and date."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from pathlib import Path

from assay.runs.provenance import machine

HERE = Path(__file__).resolve().parent
SCRIPTS = (
    "start_up.py",
    "claims_speed.py",
    "record_event.py",
    "cka.py",
    "retrieval.py",
    "resampling.py",
    "entropic_plan.py",
    "streamed_merge.py",
    "hooks.py",
    "toy_training.py",
)


def main() -> None:
    """Print the machine, then what each script prints."""
    here = machine()
    packages = ", ".join(f"{name} {here['packages'][name]}" for name in ("numpy", "pandas"))
    today = datetime.datetime.now(datetime.UTC).date()
    print(
        f"{today}, {here['cpu']}, {here['cores']} cores, {here['os']}, Python {here['python']}, {packages}", flush=True
    )
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    missed = False
    for script in SCRIPTS:
        print(f"\n== benchmarks/{script}", flush=True)
        missed |= subprocess.run([sys.executable, str(HERE / script)], env=one_thread).returncode != 0
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
