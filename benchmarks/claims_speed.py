"""2,000 claims against a bare pytest session of 2,000 one-line tests: medians of whole processes, in alternation.

Both suites lie in 40 files of 50 tests, both take one argument or none as their authors would write them, and each
session is a fresh process. Also measured: peak memory of the claims session, and whether it imported torch.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from assay.runs import Count, Record, Run, experiment
from assay.runs.execution import execute

FILES, TESTS = 40, 50
PAIRS = int(os.environ.get("ASSAY_BENCH_PAIRS", "5"))
LIMIT, AIM, MEGABYTES = 1.3, 1.15, 150
HEAD = 'import pytest\npytestmark = pytest.mark.registered("study.effect", tier="tiny")\n'
CLAIM = '''
@pytest.mark.claim("M{n}", section="7")
def test_{n}(evidence):
    """Direction {{= {n}}} wins in {{wins.d{n}: {count}/20}} items, by {{delta.d{n}: {delta:+.4f}}} nats/token."""
    assert evidence["delta.d{n}"] > 0
'''
PROBE = """
import resource, sys, pytest
code = pytest.main(sys.argv[1:])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sys.stderr.write(f"{int(code)} {'torch' in sys.modules} {peak}")
"""


@dataclass(frozen=True)
class Settings:
    """Configuration of the synthetic run."""

    seed: int = 0


def values(n: int) -> tuple[Count, float]:
    """The registered numbers of direction `n`."""
    return Count(n % 20, 20), (n + 1) * 0.000123456


def effect(config: Settings, run: Run) -> None:
    """Two numbers for each of the 2,000 claims."""
    for n in range(FILES * TESTS):
        run[f"wins.d{n}"], run[f"delta.d{n}"] = values(n)


def git(folder: Path, *words: str) -> None:
    """Run git in `folder`."""
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)


def write_suites(folder: Path) -> None:
    """The bare suite, the claims, and the registered run that they read."""
    study = folder / "experiments" / "study"
    study.mkdir(parents=True)
    (study / "effect.py").write_text('"""Synthetic."""\n')
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / ".gitignore").write_text("artifacts/\n__pycache__/\n")
    for file in range(FILES):
        numbers = range(file * TESTS, (file + 1) * TESTS)
        claims = [CLAIM.format(n=n, count=values(n)[0].count, delta=values(n)[1]) for n in numbers]
        for name, text in (("claims", HEAD + "".join(claims)), ("bare", "".join(map(bare_test, numbers)))):
            (folder / name).mkdir(exist_ok=True)
            (folder / name / f"test_{name}_{file}.py").write_text(text)
    git(folder, "init", "--quiet", "--template=")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "start")
    made = experiment("study.effect", version=1, tiers={"tiny": Settings})(effect)
    record = Record(folder / "experiments")
    execute(made, Settings(), record=record, repository=folder, tier="tiny", register="synthetic", quiet=True)


def bare_test(n: int) -> str:
    """A test of one line."""
    return f"def test_{n}(): assert {n} >= 0\n"


def session(folder: Path, suite: str) -> tuple[float, bool, float]:
    """Seconds of one session, whether it imported torch, and its peak memory in MB."""
    command = [sys.executable, "-c", PROBE, suite, "-q", "-p", "no:cacheprovider"]
    start = time.perf_counter()
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    code, torch, peak = ended.stderr.split()[-3:]
    if code != "0":
        raise SystemExit(f"the {suite} session ended with {code}:\n{ended.stdout[-2000:]}")
    return seconds, torch == "True", int(peak) / (1024 if sys.platform == "linux" else 1024**2)


def main() -> int:
    """Measure and print one line; 1 when a limit is passed."""
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # sessions after the first read compiled files, as users' do
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_suites(folder)
        sessions: dict[str, list[tuple[float, bool, float]]] = {"bare": [], "claims": []}
        for suite in sessions:
            session(folder, suite)  # compiled files
        for _ in range(PAIRS):
            for suite, found in sessions.items():
                found.append(session(folder, suite))
    bare, claims = (statistics.median(one[0] for one in found) for found in sessions.values())
    torch = any(one[1] for one in sessions["claims"])
    peak = max(one[2] for one in sessions["claims"])
    good = claims / bare <= LIMIT and peak < MEGABYTES and not torch
    print(
        f"claims_speed: {FILES * TESTS} claims {claims:.2f} s, {FILES * TESTS} bare tests {bare:.2f} s, "
        f"ratio {claims / bare:.2f} (limit {LIMIT}, aim {AIM}), peak {peak:.0f} MB (limit {MEGABYTES}), "
        f"torch {'imported' if torch else 'not imported'}: {'ok' if good else 'MISSED'}"
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
