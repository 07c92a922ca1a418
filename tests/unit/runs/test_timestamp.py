"""Timestamps of freezes, by an authority of the test's own that openssl runs on this machine."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import RecordError
from assay.runs import Record
from assay.runs.freeze import Freeze, freezes
from assay.runs.order import OrderVerdict, order_of
from assay.runs.timestamp import certificates_path, check_stamp, keep_stamp, reply_path, stamp_of
from tests.unit.runs.frozen_repository import commit, git, refused, run
from tests.unit.runs.toy_repository import assay, assay_json

SETTINGS = """
[tsa]
default_tsa = authority
[authority]
serial = serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha1, sha256
tsa_name = yes
[signer]
extendedKeyUsage = critical,timeStamping
"""


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


class Authority:
    """A timestamp authority: a root certificate, and one by which it signs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "settings").write_text(SETTINGS)
        (folder / "serial").write_text("01")
        new = ("-newkey", "rsa:2048", "-nodes")
        openssl(
            folder, "req", "-x509", *new, "-keyout", "root.key", "-out", "root.pem", "-subj", "/CN=Root", "-days", "2"
        )
        openssl(folder, "req", *new, "-keyout", "key", "-out", "request", "-subj", "/CN=Clock of the test")
        signed = ("-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-days", "2")
        extended = ("-extfile", "settings", "-extensions", "signer")
        openssl(folder, "x509", "-req", "-in", "request", *signed, *extended, "-out", "signer.pem")
        self.certificates = folder / "root.pem"

    def stamp(self, path: Path, name: str = "reply", *, by: str = "sha256") -> Path:
        """The reply on the bytes of a file."""
        openssl(self.folder, "ts", "-query", "-data", str(path), f"-{by}", "-cert", "-out", "query")
        signer = ("-config", "settings", "-signer", "signer.pem", "-inkey", "key")
        openssl(self.folder, "ts", "-reply", *signer, "-queryfile", "query", "-out", name)
        return self.folder / name


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority") / "it")


def the_freeze(root: Path) -> Freeze:
    return freezes(Record(root / "experiments"), "lab")[-1]


def test_a_stamp_witnesses_the_freeze_where_the_history_is_gone(house: Path, authority: Authority) -> None:
    made = the_freeze(house)
    reply = authority.stamp(house / made.event_path)
    kept = ("--stamp", str(reply), "--certificates", str(authority.certificates))
    assert "kept experiments/lab/frozen/1-" in assay(house, "freeze", "lab", *kept).stdout
    assert (house / reply_path(made)).is_file()
    (one,) = assay_json(house, "freeze", "--status")["freezes"]
    assert "in force; stamped 20" in one["stands"]
    assert one["stands"].endswith("by /CN=Clock of the test")
    commit(house, "stamp")
    manifest = Record(house / "experiments").manifest(run(house))
    assert order_of(manifest, house).verdict is OrderVerdict.PROVEN
    git(house, "checkout", "-q", "--orphan", "new")
    commit(house, "all at once")
    later = replace(manifest, started="2999-01-01T00:00:00+00:00")
    found = order_of(later, house)
    assert found.verdict is OrderVerdict.WITNESSED
    assert found.reason.startswith(f"/CN=Clock of the test saw freeze {made.label} at 20")
    assert found.reason.endswith("; the run says that it started at 2999-01-01T00:00:00+00:00")
    earlier = replace(manifest, started="1999-01-01T00:00:00+00:00")
    assert order_of(earlier, house).verdict is OrderVerdict.UNPROVABLE
    other = replace(later, config_hash="0" * 64)
    assert order_of(other, house).verdict is OrderVerdict.UNPROVABLE


def test_a_stamp_does_not_turn_a_violation(house: Path, authority: Authority) -> None:
    made = the_freeze(house)
    keep_stamp(made, house, reply=authority.stamp(house / made.event_path), certificates=authority.certificates)
    manifest = Record(house / "experiments").manifest(run(house))
    (house / made.copy).write_text("other words")
    assert order_of(manifest, house).verdict is OrderVerdict.VIOLATED


def test_what_does_not_fit_is_refused_and_not_kept(house: Path, authority: Authority, tmp_path: Path) -> None:
    made = the_freeze(house)
    event = house / made.event_path
    stranger = Authority(tmp_path / "stranger")
    for make, certificates, words in (
        (lambda: authority.stamp(house / made.copy), authority.certificates, "message imprint mismatch"),
        (lambda: authority.stamp(event), stranger.certificates, "does not verify"),
        (lambda: authority.stamp(event, by="sha1"), authority.certificates, "hashes with sha1"),
        (lambda: event, authority.certificates, "does not verify"),
    ):
        with pytest.raises(RecordError, match=words):
            keep_stamp(made, house, reply=make(), certificates=certificates)
    assert not (house / reply_path(made)).exists()
    assert not (house / certificates_path(made)).exists()
    said = refused(house, "freeze", "lab", "--stamp", str(event), "--certificates", str(authority.certificates))
    assert "Traceback" not in said


def test_a_stamp_that_was_damaged_later_is_no_witness(house: Path, authority: Authority) -> None:
    made = the_freeze(house)
    keep_stamp(made, house, reply=authority.stamp(house / made.event_path), certificates=authority.certificates)
    assert stamp_of(made, house) is not None
    path = house / reply_path(made)
    path.write_bytes(path.read_bytes()[:-40] + bytes(40))
    with pytest.raises(RecordError, match="timestamp: "):
        stamp_of(made, house)
    (one,) = assay_json(house, "freeze", "--status")["freezes"]
    assert "does not verify" in one["stands"]


def test_without_openssl_the_stamp_is_not_believed(
    house: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = the_freeze(house)
    reply = authority.stamp(house / made.event_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RecordError, match="openssl is not installed"):
        check_stamp(house / made.event_path, reply=reply, certificates=authority.certificates)
