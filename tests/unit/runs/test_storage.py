"""Files are whole or absent: real full disks, real size limits, real kills; and one JSON text for each value."""

from __future__ import annotations

import enum
import json
import math
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import RecordError
from assay.runs.storage import (
    abandoned,
    canonical_json,
    digest,
    file_digest,
    find_repository,
    parse_json,
    readable_json,
    shown,
    sweep,
    temporaries,
    write_durable,
)
from tests.unit.runs.killed import kill_after

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_canonical_json_reads_back_the_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value
    assert parse_json(readable_json(value), "x") == value


@given(st.dictionaries(st.text(), st.integers(), min_size=2))
def test_canonical_json_does_not_know_the_order(table: dict[str, int]) -> None:
    assert canonical_json(table) == canonical_json(dict(reversed(list(table.items()))))


def test_canonical_json_writes_non_finite_floats_as_words() -> None:
    assert canonical_json([math.nan, math.inf, -math.inf, -0.0, 0.1]) == '["NaN","Infinity","-Infinity",-0.0,0.1]'


def test_canonical_json_writes_the_value_of_an_enumeration() -> None:
    class Old(str, enum.Enum):  # noqa: UP042 - the older form, whose str() is not its value
        A = "a"

    class Level(enum.IntEnum):
        HIGH = 3

    assert canonical_json({"old": Old.A, "level": Level.HIGH}) == '{"level":3,"old":"a"}'


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"a": [1, {"b": {2}}]}, "value.a[1].b is a set"),
        ({1: "a"}, "the key 1"),
        ([Path("x")], "value[0] is a"),
        ("\ud800", "not valid Unicode"),
    ],
)
def test_canonical_json_names_the_place_that_it_refuses(value: object, named: str) -> None:
    with pytest.raises(RecordError) as caught:
        canonical_json(value)
    assert named in str(caught.value)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": ', "\xff", "[" * 100_000])
def test_parse_json_refuses_what_is_not_strict_json(text: str) -> None:
    with pytest.raises(RecordError, match=r"broken\.json is unreadable"):
        parse_json(text.encode("latin-1"), "broken.json")


def test_digest_of_bytes_and_of_values(tmp_path: Path) -> None:
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest({"b": 1, "a": 2}) == digest(b'{"a":2,"b":1}') != digest({"b": 1.0, "a": 2})
    (tmp_path / "x").write_bytes(b"abc")
    assert file_digest(tmp_path / "x") == digest(b"abc")
    with pytest.raises(RecordError, match="cannot be read"):
        file_digest(tmp_path / "absent")


def test_write_durable_makes_folders_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "x.json"
    write_durable(path, b"one")
    write_durable(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["x.json"]


def test_exclusive_write_keeps_what_is_there(tmp_path: Path) -> None:
    write_durable(tmp_path / "x", b"one", exclusive=True)
    with pytest.raises(FileExistsError):
        write_durable(tmp_path / "x", b"two", exclusive=True)
    assert (tmp_path / "x").read_bytes() == b"one"
    assert os.listdir(tmp_path) == ["x"]


def test_write_where_a_file_stands_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a file")
    with pytest.raises(RecordError, match=r"write: .*a/x \(3 bytes\) could not be written"):
        write_durable(tmp_path / "a" / "x", b"one")


FAULT = """
import os, resource, sys
from pathlib import Path
from assay.errors import RecordError
from assay.runs.storage import write_durable
path = Path(sys.argv[1]) / "x.json"
write_durable(path, b"earlier")
if sys.argv[2] == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
for size in (1_000_000, 300_000):
    try:
        write_durable(path, b"x" * size)
    except RecordError as error:
        print(error)
    else:
        sys.exit("a write of %d bytes went through" % size)
print(path.read_bytes().decode(), os.listdir(path.parent))
write_durable(path, b"later")
print(path.read_bytes().decode(), os.listdir(path.parent))
"""


def run_fault(folder: Path, kind: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", FAULT, str(folder), kind], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def check_fault(lines: list[str], reason: str, advice: str) -> None:
    assert len(lines) == 4
    for line in lines[:2]:
        assert "x.json" in line
        assert reason in line
        assert advice in line
        assert "an earlier version is intact" in line
    assert lines[2] == "earlier ['x.json']"
    assert lines[3] == "later ['x.json']"


def test_file_size_limit_leaves_the_earlier_version_and_the_process_alive(tmp_path: Path) -> None:
    check_fault(run_fault(tmp_path, "limit"), "File too large", "ulimit -f")


def test_full_disk_leaves_the_earlier_version(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if mount is None or subprocess.run([mount, *options], capture_output=True, check=False).returncode != 0:
        check_fault(run_fault(folder, "limit"), "File too large", "ulimit -f")  # mounting takes rights: the other fault
        return
    try:
        check_fault(run_fault(folder, "disk"), "No space left on device", "Free space")
    finally:
        subprocess.run(["umount", str(folder)], check=True)


WRITER = """
import sys, itertools
from pathlib import Path
from assay.runs.storage import canonical_json, digest, write_durable
for turn in itertools.count():
    body = {"turn": turn, "filling": "x" * 200_000}
    data = canonical_json({"body": body, "sha256": digest(body)}).encode()
    write_durable(Path(sys.argv[1]) / f"{turn % 3}.json", data)
    print(turn, flush=True)
"""


def test_a_kill_at_any_moment_leaves_no_unreadable_file(tmp_path: Path) -> None:
    chance = random.Random(11)
    left = kills = 0
    while kills < 12 or (left == 0 and kills < 200):  # on until a kill fell into a write
        kills += 1
        kill_after(chance.random() * 0.05, WRITER, str(tmp_path))
        for path in tmp_path.glob("*.json"):
            content = json.loads(path.read_bytes())
            assert content["sha256"] == digest(content["body"])
        found = temporaries(tmp_path)
        assert abandoned(tmp_path) == found
        assert sweep(tmp_path) == found
        assert temporaries(tmp_path) == []
        left += len(found)
    assert left > 0, "no kill fell into a write; the test looked at nothing"


HOLDER = """
import sys, time
from pathlib import Path
from assay.runs.storage import _open_temporary
_open_temporary(Path(sys.argv[1]))
print("writing", flush=True)
time.sleep(60)
"""


def test_sweep_spares_a_live_writer(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        assert len(temporaries(tmp_path)) == 1
        assert abandoned(tmp_path) == sweep(tmp_path) == []
        assert len(temporaries(tmp_path)) == 1
        writer.kill()
    assert len(sweep(tmp_path)) == 1
    assert os.listdir(tmp_path) == []


def test_find_repository_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "house" / "experiments" / "registry"
    deep.mkdir(parents=True)
    assert find_repository(deep) == tmp_path / "house"
    assert shown(deep / "x.json") == "experiments/registry/x.json"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecordError, match=r"no folder above .* holds experiments/"):
        find_repository()
    assert shown(tmp_path / "a" / "b.json") == "a/b.json"
    assert shown(Path("/far/away/from/here.json")) == ".../away/from/here.json"
