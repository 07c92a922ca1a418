"""Sources: their spelling, their digests, and what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import ConfigError, DataError
from assay.models.tiny import TinyRandom, save_tiny
from assay.models.weights_source import FETCHABLES, GEMMA3_270M, SMOLLM2_135M, HubId, LocalFolder, source_of

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_every_spelling_has_its_source(tmp_path: Path) -> None:
    assert source_of("smollm2-135m") is SMOLLM2_135M
    assert source_of("gemma3-270m") is GEMMA3_270M
    assert source_of(f"folder:{tmp_path}") == LocalFolder(tmp_path)
    assert source_of(f"hub:owner/name@{COMMIT}") == HubId("owner/name", COMMIT)
    assert source_of("tiny:gemma3:7") == TinyRandom("gemma3", 7)


@pytest.mark.parametrize("text", ["", "smollm2", "folder:", "hub:owner/name", "tiny:llama", "tiny:llama:x", "x:y"])
def test_another_spelling_lists_the_right_ones(text: str) -> None:
    with pytest.raises(ConfigError, match=r"is not a source\. Give one of gemma3-270m, smollm2-135m, folder:PATH"):
        source_of(text)


def test_a_branch_of_the_hub_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"revision 'main' of owner/name is not a commit"):
        HubId("owner/name", "main")
    digests = {HubId("o/n", COMMIT).digest, HubId("o/m", COMMIT).digest, HubId("o/n", COMMIT[::-1]).digest}
    assert len(digests) == 3
    assert HubId("o/n", COMMIT).ready() is None


def test_a_hub_that_cannot_be_reached_is_a_sentence(tmp_path: Path) -> None:
    script = (
        "from assay.models.weights_source import HubId\n"
        "from assay.errors import DataError\n"
        f"try: HubId('owner/name', '{COMMIT}').fetch()\n"
        "except DataError as error: print(error)\n"
    )
    environment = {"PATH": "", "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert re.match(r"weights: owner/name at 0123456789ab cannot be fetched from the hub \(", done.stdout)
    assert "Check name, commit, network" in done.stdout


def test_the_digest_of_a_folder_covers_every_byte_that_decides(tmp_path: Path) -> None:
    save_tiny(tmp_path, TinyRandom("llama"))
    before = LocalFolder(tmp_path).digest
    (tmp_path / "notes.md").write_text("not part of the model")
    assert LocalFolder(tmp_path).digest == before
    weights = bytearray((tmp_path / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (tmp_path / "model.safetensors").write_bytes(weights)
    assert LocalFolder(tmp_path).digest != before
    with pytest.raises(DataError, match="holds no model files"):
        _ = LocalFolder(tmp_path / "absent").digest


@pytest.mark.parametrize("name", FETCHABLES)
def test_pinned_sources_are_complete(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = FETCHABLES[name]
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    assert source.name == name
    assert "dequantised to float32" in source.label
    for digest in (source.digest, *(wheel.sha256 for wheel in source.wheels)):
        assert re.fullmatch(r"[0-9a-f]{64}", digest)
    assert any(wheel.notices for wheel in source.wheels)
    assert source.ready() is None
    assert source.folder.parent == tmp_path / "models"
    assert re.search(r"\d MB to download, about \d+ s to convert, \d\.\d\d GB kept", source.describe())


def test_sources_open_without_torch() -> None:
    script = (
        "import sys, assay.models.weights_source, assay.models.sites, assay.models.families; print(sorted(sys.modules))"
    )
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "'assay.models.sites'" in loaded
    assert not {"'torch'", "'transformers'"} & set(loaded.strip("[]\n").split(", "))
