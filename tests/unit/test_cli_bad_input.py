"""What a user's own mistakes look like on the command line: a message, no traceback alone, nothing half done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.runs.toy_repository import SUMS, assay, write, written


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (
            SUMS.replace("import random", "raise OSError('no disk')"),
            "cannot be imported: OSError: no disk (experiments/toy/sums.py:",
        ),
        (SUMS.replace("import random", "raise SystemExit(0)"), "cannot be imported: SystemExit: 0"),
        (
            SUMS.replace("import random", "import experiments.toy.lost"),
            "ModuleNotFoundError: No module named 'experiments.toy.lost' (experiments/toy/sums.py:",
        ),
        (SUMS.replace("import random", "import experiments.toy.broken"), "cannot be imported: SyntaxError"),
        (SUMS.replace("    return Settings()", "    raise OSError('no corpus')"), "tier 'tiny': OSError: no corpus"),
        (
            SUMS.replace('version=1, tiers={"tiny"', 'version=1, data=lambda config: 1 / 0, tiers={"tiny"'),
            "toy.sums, its data hashes: ZeroDivisionError: division by zero",
        ),
    ],
)
def test_what_an_experiment_raises_before_its_run_is_told_with_its_place(
    tmp_path: Path, source: str, words: str
) -> None:
    root = write(tmp_path, {"experiments/toy/sums.py": source, "experiments/toy/broken.py": '"""No."""\ndef (:\n'})
    done = assay(root, "run", "toy.sums", "--tier", "tiny")
    assert words in done.stderr
    assert "nothing was run" in done.stderr
    assert (done.returncode, written(root)) == (2, {})
