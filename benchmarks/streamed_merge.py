"""Streamed merge of two checkpoints against mergekit: time and peak memory, one thread, each side a process of its own.

OMP_NUM_THREADS=1 python benchmarks/streamed_merge.py [--megabytes 700] [--repeats 3] [--peer PYTHON]; the peer's
interpreter is this one unless it is named. Needs three times the size in free disk, and the size again for the result.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
from safetensors.torch import save_file

from assay.seeds import torch_stream

LAYERS, WIDTH, HIDDEN, VOCABULARY = 12, 1024, 2816, 16_000
RECIPES = {
    "lerp": "merge_method: linear\nmodels:\n- {{model: {a}, parameters: {{weight: 0.5}}}}\n"
    "- {{model: {b}, parameters: {{weight: 0.5}}}}\ndtype: float32\n",
    "ties": "merge_method: ties\nbase_model: {base}\nmodels:\n"
    "- {{model: {a}, parameters: {{weight: 0.5, density: 0.2}}}}\n"
    "- {{model: {b}, parameters: {{weight: 0.5, density: 0.2}}}}\ndtype: float32\n",
}


def main() -> None:
    """Make the checkpoints, merge with both, print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=700)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", default=sys.executable)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        folders = {name: checkpoint(root / name, seed, asked.megabytes) for seed, name in enumerate(("base", "a", "b"))}
        size = (root / "a/model.safetensors").stat().st_size / 1e6
        print(f"two fp32 llama checkpoints of {size:,.0f} MB, medians of {asked.repeats}, one thread")
        for name, text in RECIPES.items():
            (root / "recipe.yml").write_text(text.format(**folders))
            ours = [sys.executable, "-m", "assay", "merge", str(root / "recipe.yml"), str(root / "out")]
            code = "from mergekit.scripts.run_yaml import main; main()"
            theirs = [asked.peer, "-c", code, str(root / "recipe.yml"), str(root / "out")]
            figures = [measured(command, root / "out", asked.repeats) for command in (ours, theirs)]
            for side, (seconds, peak) in zip(("assay", "mergekit"), figures, strict=True):
                print(f"{name:5} {side:9} {seconds:7.2f} s  {peak:7.0f} MB peak", flush=True)
            (mine, my_peak), (other, other_peak) = figures
            print(
                f"{name:5} {other / mine:.1f} times faster, {my_peak / other_peak:.0%} of the peak memory", flush=True
            )


def checkpoint(folder: Path, seed: int, megabytes: int) -> Path:
    """A llama of about that size with random weights, and no tokenizer."""
    block = 4 * (4 * WIDTH * WIDTH + 3 * WIDTH * HIDDEN) / 1e6
    layers = max(1, round((megabytes - 8 * VOCABULARY * WIDTH / 1e6) / block))
    folder.mkdir()
    shapes = {"model.embed_tokens.weight": (VOCABULARY, WIDTH), "lm_head.weight": (VOCABULARY, WIDTH)}
    shapes["model.norm.weight"] = (WIDTH,)
    for layer in range(layers):
        name = f"model.layers.{layer}."
        shapes |= {f"{name}self_attn.{one}_proj.weight": (WIDTH, WIDTH) for one in "qkvo"}
        shapes |= {f"{name}mlp.{one}_proj.weight": (HIDDEN, WIDTH) for one in ("gate", "up")}
        shapes |= {f"{name}mlp.down_proj.weight": (WIDTH, HIDDEN)}
        shapes |= {f"{name}{one}_layernorm.weight": (WIDTH,) for one in ("input", "post_attention")}
    draws = torch_stream(seed, "benchmark", "streamed merge")
    save_file(
        {name: torch.randn(shape, generator=draws) for name, shape in shapes.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": WIDTH,
        "intermediate_size": HIDDEN,
        "num_hidden_layers": layers,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "vocab_size": VOCABULARY,
        "tie_word_embeddings": False,
        "dtype": "float32",
    }
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def measured(command: list[str], out: Path, repeats: int) -> tuple[float, float]:
    """Median seconds and peak MB of a command, start-up included."""
    seconds, peaks = [], []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for _ in range(repeats):
        start = time.perf_counter()
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds.append(time.perf_counter() - start)
        if status:
            raise SystemExit(f"{' '.join(command)} ended with status {status}")
        peaks.append(usage.ru_maxrss / 1000 * (1.024 if sys.platform != "darwin" else 1e-3))
        shutil.rmtree(out)
    return statistics.median(seconds), statistics.median(peaks)


if __name__ == "__main__":
    main()
