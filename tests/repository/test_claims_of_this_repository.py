"""The claims of this repository: light, all cited, table up to date, and not one digit of them can change unseen."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.ledger.session import table_is_current
from assay.ledger.texts.coverage import Coverage, Standing
from assay.ledger.texts.manuscripts import configured_texts, cover_texts, read_settings, reader_of

ROOT = Path(__file__).resolve().parents[2]
CLAIMS = ROOT / "claims"
PRINTED = re.compile(r"(\{[A-Za-z][^{}:]*: [^{}]*?)(\d)([^{}\d]*\})")


def check(repository: Path, *options: str) -> tuple[int, dict[str, str], str]:
    """Exit status, verdict by claim, and the terminal of ``pytest claims/`` in a repository."""
    verdicts = repository / "verdicts.json"
    command = [sys.executable, "-m", "pytest", "claims", "-p", "no:cacheprovider", "--claims-json", str(verdicts)]
    done = subprocess.run([*command, *options], cwd=repository, capture_output=True, text=True)
    found = json.loads(verdicts.read_text()) if verdicts.is_file() else {"claims": []}
    return done.returncode, {one["id"]: one["verdict"] for one in found["claims"]}, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The tracked files of this repository without its tests."""
    tracked = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    for name in filter(None, tracked):
        if not name.startswith("tests/") and (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def other_digit(digit: str) -> str:
    """Another digit."""
    return str((int(digit) + 5) % 10)


def test_every_claim_holds(copy: Path) -> None:
    status, verdicts, shown = check(copy)
    assert (status, set(verdicts.values())) == (0, {"HOLDS"}), shown
    assert len(verdicts) >= 8


def test_every_claim_can_fail(copy: Path) -> None:
    status, verdicts, shown = check(copy, "--claims-mutate")
    assert status == 0, shown
    assert f"0 of {len(verdicts)} claims cannot fail" in shown


def test_one_digit_in_every_sentence_fails_every_claim(copy: Path) -> None:
    for path in (copy / "claims").rglob("test_*.py"):
        changed = re.sub(
            r'(    """)(.*?)(""")',
            lambda found: PRINTED.sub(lambda m: m[1] + other_digit(m[2]) + m[3], found[0], count=1),
            path.read_text(),
            flags=re.DOTALL,
        )
        path.write_text(changed)
    status, verdicts, shown = check(copy)
    assert (status, set(verdicts.values())) == (1, {"FAILS"}), shown
    for word in ("printed", "registered", "run "):
        assert len(re.findall(rf"^    {word}", shown, flags=re.MULTILINE)) >= len(verdicts)


def test_one_digit_in_a_summary_fails_the_claims_on_it(copy: Path) -> None:
    for path in (copy / "experiments/summaries").glob("*/summary.json"):
        path.write_text(re.sub(r"(\d)(?=\D*$)", lambda m: other_digit(m[1]), path.read_text(), count=1))
    status, verdicts, shown = check(copy)
    assert (status, set(verdicts.values())) == (1, {"UNVERIFIED"}), shown
    assert shown.count("altered") >= len(verdicts)


def test_one_digit_in_each_cited_sentence_fails_its_claim(copy: Path) -> None:
    readme = copy / "README.md"
    lines = readme.read_text().split("\n")
    cited = [i for i, line in enumerate(lines) if re.search(r"\(R\d+\)", line)]
    assert len(cited) >= 8
    for i in cited:
        head, mark, tail = lines[i].rpartition("(R")
        lines[i] = re.sub(r"(\d)(?=\D*$)", lambda m: other_digit(m[1]), head) + mark + tail
    readme.write_text("\n".join(lines))
    status, verdicts, shown = check(copy)
    failing = {claim for claim, verdict in verdicts.items() if verdict == "FAILS"}
    assert status == 1
    assert failing == {re.findall(r"\((R\d+)\)", lines[i])[-1] for i in cited}, shown
    assert "README.md:" in shown


def coverage(repository: Path) -> list[Coverage]:
    """Every number of every text that may cite a claim."""
    settings = read_settings(repository)
    return cover_texts(reader_of(repository, settings), configured_texts(repository, settings), repository)


def test_no_text_has_a_wrong_number_nor_a_loose_one_among_results() -> None:
    found = coverage(ROOT)
    assert [f"{one.place} {one.message}" for text in found for one in text.failing] == []
    assert {"README.md", "docs/architecture.md", "experiments/merging/README.md"} <= {text.path for text in found}
    assert next(text for text in found if text.path == "README.md").count(Standing.BOUND) >= 50


def test_a_wrong_and_a_loose_number_of_a_text_are_seen(copy: Path) -> None:
    readme = copy / "README.md"
    readme.write_text(readme.read_text().replace("ten views, compared", "10 views, compared").replace("42/45", "43/45"))
    failing = [one for text in coverage(copy) for one in text.failing]
    assert [(one.text, one.standing) for one in failing] == [("10", Standing.LOOSE), ("43/45", Standing.WRONG)]


def test_the_table_of_evidence_is_current() -> None:
    assert table_is_current(ROOT) == ""


def session(*arguments: str) -> tuple[int, bool, float, int]:
    """Exit status, whether torch was loaded, seconds of processor time and peak kilobytes of a pytest session."""
    code = (
        "import pytest, sys, time; status = pytest.main(sys.argv[1:]);"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'));"
        "print(status.value, 'torch' in sys.modules, time.process_time(), peak.split()[1])"
    )
    command = [sys.executable, "-c", code, *arguments, "-q", "-p", "no:cacheprovider"]
    shown = subprocess.check_output(command, cwd=ROOT, text=True)
    status, torch, seconds, kilobytes = shown.strip().split("\n")[-1].split()
    return int(status), torch == "True", float(seconds), int(kilobytes)


def test_checking_the_claims_is_light() -> None:
    sessions = [session("claims") for _ in range(3)]
    assert {(status, torch) for status, torch, *_ in sessions} == {(0, False)}
    assert max(kilobytes for *_, kilobytes in sessions) < 150_000
    quickest = min(seconds for _, _, seconds, _ in sessions)
    bare = min(session("tests/repository/test_quarantine.py")[2] for _ in range(3))
    assert quickest < max(2.0, 4 * bare), "2 s of processor time, or four small sessions where the machine is slower"


def test_an_empty_registry_fails(copy: Path) -> None:
    for name in ("registry", "registered", "manifests", "summaries"):
        shutil.rmtree(copy / "experiments" / name)
    status, verdicts, _ = check(copy)
    assert (status, set(verdicts.values())) == (1, {"UNVERIFIED"})
