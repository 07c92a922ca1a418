"""Overhead of hooks on all layers of SmolLM2-135M, 16 x 64 tokens, over a plain forward pass, beside peers.

    OMP_NUM_THREADS=1 python benchmarks/hooks.py [--repeats 15]

Needs the weights (assay data fetch smollm2-135m). TransformerLens and nnsight are timed where they are installed, in
the same process on the same weights, and compared with the plain pass of the same model. All ways are timed in turn,
repeat after repeat, each time beginning with another one, in processor time of the one thread; an overhead is the
median of the ratios within a repeat, printed with their quartiles.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import gc
import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from assay.models.hooks import capture, noop
from assay.models.pretrained import PretrainedModel, open_pretrained
from assay.models.sites import HookPoint, at_every_layer
from assay.models.weights_source import source_of
from assay.models.writing import Write, writing
from assay.seeds import torch_stream

BATCH, TOKENS = 16, 64
Way = Callable[[], object]


def ours(pretrained: PretrainedModel, ids: torch.Tensor) -> dict[str, Way]:
    """Plain, no-op, capture and disabled writes through assay."""
    sites = at_every_layer(HookPoint.RESID_POST, n_layers=pretrained.n_layers)
    mask = torch.ones_like(ids)
    bare: Any = pretrained.model

    def plain() -> object:
        with torch.no_grad():
            return bare(input_ids=ids, attention_mask=mask, use_cache=False).logits

    def idle() -> object:
        with noop(pretrained, sites):
            return plain()

    def disabled() -> object:
        with writing(pretrained, [Write(site, lambda rows: rows, alpha=0.0) for site in sites], mask):
            return plain()

    return {
        "plain forward": plain,
        "assay, no-op hooks": idle,
        "assay, capture": lambda: capture(pretrained, sites, ids, mask),
        "assay, writes with alpha 0": disabled,
    }


def transformer_lens(pretrained: PretrainedModel, ids: torch.Tensor) -> dict[str, Way]:
    """Plain, no-op and capture through TransformerLens' bridge around the same weights."""
    from transformer_lens.model_bridge import TransformerBridge

    bridge: Any = TransformerBridge.boot_transformers(
        "HuggingFaceTB/SmolLM2-135M-Instruct", hf_model=pretrained.model, tokenizer=pretrained.tokenizer, device="cpu"
    )
    names = [f"blocks.{layer}.hook_out" for layer in range(pretrained.n_layers)]

    def run(function: Callable[[], object]) -> Way:
        def way() -> object:
            with torch.no_grad():
                return function()

        return way

    def keep_out(tensor: Any, *, hook: Any) -> None:
        return None

    return {
        "TransformerLens, plain": run(lambda: bridge(ids)),
        "TransformerLens, no-op hooks": run(
            lambda: bridge.run_with_hooks(ids, fwd_hooks=[(n, keep_out) for n in names])
        ),
        "TransformerLens, capture": run(lambda: bridge.run_with_cache(ids, names_filter=lambda name: name in names)),
    }


def nnsight_ways(pretrained: PretrainedModel, ids: torch.Tensor) -> dict[str, Way]:
    """Capture through nnsight around the same model."""
    import nnsight

    wrapped: Any = nnsight.NNsight(pretrained.model)
    mask = torch.ones_like(ids)

    def empty() -> object:
        with torch.no_grad(), wrapped.trace(input_ids=ids, attention_mask=mask, use_cache=False):
            wrapped.output.logits.save()
        return None

    def saved() -> object:
        with torch.no_grad(), wrapped.trace(input_ids=ids, attention_mask=mask, use_cache=False):
            for layer in wrapped.model.layers:
                layer.output.clone().save()
        return None

    return {"nnsight, logits only": empty, "nnsight, capture": saved}


def main() -> None:
    """Print processor milliseconds and overheads."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    pretrained = open_pretrained(source_of("smollm2-135m"))
    ids = torch.randint(3, 49_000, (BATCH, TOKENS), generator=torch_stream(0, "benchmark", "hooks"))
    ways = ours(pretrained, ids)
    bases = dict.fromkeys(ways, "plain forward")
    for package, make in (("transformer_lens", transformer_lens), ("nnsight", nnsight_ways)):
        if importlib.util.find_spec(package) is None:
            print(f"{package} is not installed: not timed")
            continue
        theirs = make(pretrained, ids)
        bases |= dict.fromkeys(theirs, "TransformerLens, plain" if package == "transformer_lens" else "plain forward")
        ways |= theirs
    times: dict[str, list[float]] = {name: [] for name in ways}
    for repeat in range(-1, repeats):
        first = repeat % len(ways)
        turn = list(ways.items())
        for name, way in turn[first:] + turn[:first]:
            gc.collect()
            start = time.process_time()
            way()
            if repeat >= 0:
                times[name].append(time.process_time() - start)
    print(f"SmolLM2-135M, {BATCH} x {TOKENS} tokens, {pretrained.n_layers} layers, one thread, {repeats} repeats")
    for name, spent in times.items():
        base = times[bases[name]]
        shares = [own / plain - 1.0 for own, plain in zip(spent, base, strict=True)]
        low, middle, high = (100 * share for share in statistics.quantiles(shares, n=4))
        print(f"{statistics.median(spent) * 1e3:9.1f} ms  {middle:+6.2f} % ({low:+.2f} to {high:+.2f})  {name}")


if __name__ == "__main__":
    main()
