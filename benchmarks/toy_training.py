"""Throughput of many toy trainings: one after the other with two threads, against processes of one thread.

    python benchmarks/toy_training.py [--models 17] [--steps 20] [--repeats 3] [--profile]

The trainings of the studies have 3,000 steps; a step costs the same throughout, so fewer are timed and printed a step.
Arms are timed in turn, repeat after repeat, and a ratio is the median of the ratios within a repeat, because the load
of a machine changes. Timed is the training alone, from when every process has started to when the last has ended.
``--profile`` prints instead where the processor time of 20 steps in one thread goes.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import statistics
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

import torch

from assay.models.toy import ToyConfig, toy
from assay.models.training import TrainingConfig, train
from assay.models.training_pool import TrainingJob
from assay.seeds import stream
from assay.tasks.operator_items import OperatorBatches
from assay.tasks.operators import operator_task


class Arm(NamedTuple):
    name: str
    processes: int
    threads: int
    grouping: Literal["one_length", "mixed"]
    products: Literal["float32", "bfloat16"] = "float32"


ARMS = (
    Arm("one after the other, two threads, lines of mixed length", 1, 2, "mixed"),
    Arm("one after the other, two threads, one length a batch", 1, 2, "one_length"),
    Arm("one after the other, one thread, one length a batch", 1, 1, "one_length"),
    Arm("two at a time, one thread each, one length a batch", 2, 1, "one_length"),
    Arm("the same with products in bfloat16", 2, 1, "one_length", "bfloat16"),
    Arm("these one after the other", 1, 1, "one_length", "bfloat16"),
)


def jobs(models: int, steps: int, arm: Arm) -> list[TrainingJob]:
    """``models`` trainings that differ in seed."""
    task = operator_task(rng=stream(0, "omega"))
    names = tuple(operator.name for operator in task.operators)
    config = TrainingConfig(steps=steps, warmup=min(100, steps - 1), products=arm.products)
    return [
        TrainingJob(
            f"model_{seed}",
            partial(toy, ToyConfig(), seed=seed),
            OperatorBatches(task, names, seed, "donor", grouping=arm.grouping),
            config,
        )
        for seed in range(models)
    ]


def work(queue: Any, ready: Any, done: Any, arm: Arm, folder: str) -> None:
    """Train jobs from the queue until it is empty."""
    torch.set_num_threads(arm.threads)
    warm = jobs(1, 2, arm)[0]
    train(warm.model(), warm.batches, config=warm.config)
    ready.wait()
    while (job := queue.get()) is not None:
        train(job.model(), job.batches, config=job.config, folder=Path(folder) / job.name)
    done.wait()


def timed(arm: Arm, models: int, steps: int) -> tuple[float, dict[str, str]]:
    """Seconds a step of one model, and the digest of every checkpoint."""
    context = multiprocessing.get_context("spawn")
    ready, done = context.Barrier(arm.processes + 1), context.Barrier(arm.processes + 1)
    queue: Any = context.Queue()
    for job in [*jobs(models, steps, arm), *([None] * arm.processes)]:
        queue.put(job)
    with TemporaryDirectory() as folder:
        workers = [context.Process(target=work, args=(queue, ready, done, arm, folder)) for _ in range(arm.processes)]
        for worker in workers:
            worker.start()
        ready.wait()
        start = time.perf_counter()
        done.wait()
        spent = time.perf_counter() - start
        for worker in workers:
            worker.join()
        files = sorted(Path(folder).rglob("*.safetensors"))
        digests = {path.parent.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return spent / models / steps, digests


def profile(products: Literal["float32", "bfloat16"]) -> None:
    """Print the shares of the operations that take most processor time."""
    torch.set_num_threads(1)
    (job,) = jobs(1, 20, Arm("profiled", 1, 1, "one_length", products))
    model = job.model()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as found:
        train(model, job.batches, config=job.config)
    spent = sorted(found.key_averages(), key=lambda one: -one.self_cpu_time_total)
    total = sum(one.self_cpu_time_total for one in spent)
    print(f"{products}: {total / 20e3:.1f} ms a step, profiler included")
    for one in spent[:12]:
        print(f"{one.self_cpu_time_total / total:6.1%}  {one.key}")


def main() -> None:
    """Print seconds a step and ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=17)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    if asked.profile:
        profile("float32")
        profile("bfloat16")
        return
    print(
        f"{asked.models} toy decoders of 802,688 parameters, 128 programs a step, {asked.steps} steps instead of 3,000,"
        f" {asked.repeats} repeats, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    seconds: dict[str, list[float]] = {arm.name: [] for arm in ARMS}
    digests: dict[str, dict[str, str]] = {}
    for _ in range(asked.repeats):
        for arm in ARMS:
            spent, digests[arm.name] = timed(arm, asked.models, asked.steps)
            seconds[arm.name].append(spent)
    for arm in ARMS:
        ratios = [base / own for base, own in zip(seconds[ARMS[0].name], seconds[arm.name], strict=True)]
        print(
            f"{statistics.median(seconds[arm.name]) * 1e3:8.1f} ms a step of one model, "
            f"{statistics.median(ratios):5.2f} times the first ({min(ratios):.2f} to {max(ratios):.2f})  {arm.name}",
            flush=True,
        )
    for many, alone in ((3, 2), (4, 5)):
        same = digests[ARMS[many].name] == digests[ARMS[alone].name]
        verdict = "yes" if same else "NO"
        print(f"{ARMS[many].products}, two at a time: checkpoints byte for byte those of one alone: {verdict}")


if __name__ == "__main__":
    main()
