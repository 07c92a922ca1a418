"""How long a completed event takes until it is on the disk, in a record that already holds 200 runs.

Figure to reach: under 5 ms. Prints the median, the 90th percentile and the largest of 200, and what the disk takes for
the two syncs alone (file and folder) in between, which is the floor on the machine as loaded as it is.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from assay.runs.manifest import RunStatus
from assay.runs.registry import Record
from assay.runs.storage import sync_folder

RUNS = 200
FIGURE_MS = 5.0


def bare_time(folder: Path, number: int) -> float:
    """Milliseconds that writing and syncing a file of an event's size and its folder takes."""
    begin = time.perf_counter()
    with (folder / f"bare-{number}").open("wb") as stream:
        stream.write(b"0" * 300)
        stream.flush()
        os.fsync(stream.fileno())
    sync_folder(folder)
    return 1000 * (time.perf_counter() - begin)


def event_times(root: Path) -> tuple[list[float], list[float]]:
    """Milliseconds of each of 200 completed events after 200 runs of two events each, and of the bare syncs between."""
    record = Record(root)
    for number in range(RUNS):
        record.append(RunStatus.RUNNING, f"bench.earlier_tiny_{number:012x}")
        record.append(RunStatus.COMPLETED, f"bench.earlier_tiny_{number:012x}", manifest="0" * 64)
    times, bare = [], []
    for number in range(RUNS):
        begin = time.perf_counter()
        record.append(RunStatus.COMPLETED, f"bench.event_tiny_{number:012x}", manifest="0" * 64)
        times.append(1000 * (time.perf_counter() - begin))
        bare.append(bare_time(root, number))
    return times, bare


def main() -> int:
    """Print the figures; exit status 1 when the median misses its figure."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        times, bare = map(sorted, event_times(Path(folder)))
    median, tail = statistics.median(times), times[int(0.9 * len(times))]
    print(f"completed event durable: median {median:.2f} ms, p90 {tail:.2f} ms, max {times[-1]:.2f} ms (figure: 5 ms)")
    print(f"the two syncs alone:     median {statistics.median(bare):.2f} ms")
    return 0 if median < FIGURE_MS else 1


if __name__ == "__main__":
    sys.exit(main())
