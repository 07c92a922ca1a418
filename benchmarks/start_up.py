"""Start-up of `import assay`, and of `pytest claims/` on this repository: medians of whole processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = 7


def median_seconds(command: Sequence[str]) -> float:
    """Median wall time of ``RUNS`` processes after one that is not counted."""
    times = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def main() -> None:
    """Print both figures with their targets."""
    python = sys.executable
    bare, loaded = (median_seconds([python, "-c", code]) for code in ("pass", "import assay"))
    print(f"import assay: {loaded - bare:.3f} s over a bare interpreter (target: under 0.3 s)")
    claims = median_seconds([python, "-m", "pytest", "claims", "-q", "-p", "no:cacheprovider"])
    print(f"pytest claims/: {claims:.2f} s (target: under 2 s)")


if __name__ == "__main__":
    main()
