"""What another machine has to be given to install this Assay, from what pip wrote down when it was installed."""

from __future__ import annotations

import json
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

import pytest

from assay.cli.origin import requirement_of
from tests.unit.runs.toy_repository import write

COMMIT = "0123456789" * 4
DIGEST = "ab" * 32
GIT = {"vcs": "git", "commit_id": COMMIT}
ARCHIVE = "https://files.example.org/assay-0.1.0-py3-none-any.whl"


def installed(folder: Path, origin: Any, *, installer: str = "pip\n") -> PathDistribution:
    told = {"METADATA": "Metadata-Version: 2.1\nName: assay\nVersion: 0.1.0\n", "INSTALLER": installer}
    write(folder, told if origin is None else {**told, "direct_url.json": json.dumps(origin)})
    return PathDistribution(folder)


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        (None, "assay==0.1.0"),
        ({"url": "https://example.org/lab/assay", "vcs_info": GIT}, f"git+https://example.org/lab/assay@{COMMIT}"),
        (
            {"url": "https://example.org/mono.git", "vcs_info": GIT, "subdirectory": "python/assay"},
            f"git+https://example.org/mono.git@{COMMIT}#subdirectory=python/assay",
        ),
        ({"url": ARCHIVE, "archive_info": {"hash": f"sha256={DIGEST}"}}, f"{ARCHIVE}#sha256={DIGEST}"),
        ({"url": ARCHIVE, "archive_info": {"hashes": {"sha256": DIGEST}}}, f"{ARCHIVE}#sha256={DIGEST}"),
        ({"url": ARCHIVE, "archive_info": {}}, ARCHIVE),
    ],
)
def test_what_is_public_is_told(tmp_path: Path, origin: Any, wanted: str) -> None:
    found = requirement_of(installed(tmp_path, origin))
    assert found == (wanted if wanted.startswith("assay") else f"assay @ {wanted}")


@pytest.mark.parametrize(
    "origin",
    [
        {"url": "file:///home/somebody/assay", "dir_info": {"editable": True}},
        {"url": "file:///home/somebody/assay-0.1.0.whl", "archive_info": {}},
        {"url": "file:///home/somebody/assay", "vcs_info": GIT},
        {"url": "ssh://git@example.org/lab/assay", "vcs_info": GIT},
        {"url": "https://somebody:secret@example.org/lab/assay", "vcs_info": GIT},
        {"url": "http://example.org/lab/assay", "vcs_info": GIT},
        {"url": "https://localhost/lab/assay", "vcs_info": GIT},
        {"url": "https://10.0.0.5/lab/assay", "vcs_info": GIT},
        {"url": "https://git.lab.internal/assay", "vcs_info": GIT},
        {"url": "https://example.org/lab/assay", "vcs_info": {"vcs": "git", "commit_id": "main"}},
        {"url": "https://example.org/lab/assay", "vcs_info": {"vcs": "hg", "commit_id": COMMIT}},
        {"url": 'https://example.org/a"; rm -rf ~; "', "vcs_info": GIT},
        {"url": "https://example.org/lab/assay"},
    ],
)
def test_what_no_other_machine_has_or_nobody_should_see_is_not_told(tmp_path: Path, origin: Any) -> None:
    assert requirement_of(installed(tmp_path, origin)) is None


def test_a_folder_that_nothing_installed_tells_nothing(tmp_path: Path) -> None:
    assert requirement_of(installed(tmp_path, None, installer="")) is None
