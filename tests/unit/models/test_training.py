"""Training: it learns, repeats byte for byte, goes on after a kill, and refuses what it cannot repeat."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from assay.errors import ConfigError, ModelError, ShapeError
from assay.models.checkpoint import CHECKPOINT, load_trained, read_checkpoint, write_checkpoint
from assay.models.tiny import TinyRandom, _model
from assay.models.toy import Toy, ToyConfig, toy
from assay.models.training import TrainingConfig, learning_rate, train
from tests.unit.models.training_data import Successors

SMALL = ToyConfig(width=16, n_layers=1, n_heads=2, vocabulary=7, positions=8)
QUICK = TrainingConfig(steps=6, warmup=2, checkpoint_every=2)


class Killed(BaseException):
    """What a kill looks like from inside."""


def fresh(seed: int = 0) -> Toy:
    return toy(SMALL, seed=seed)


def test_it_learns() -> None:
    config = TrainingConfig(steps=150, warmup=10, peak=1e-2, checkpoint_every=1000)
    losses = train(fresh(), Successors(), config=config).losses
    assert losses[0] == pytest.approx(math.log(7), abs=0.1)
    assert losses[-1] < 0.1
    assert len(losses) == 150


def test_short_factors_train_as_well_and_are_another_training(tmp_path: Path) -> None:
    config = TrainingConfig(steps=150, warmup=10, peak=1e-2, checkpoint_every=1000, products="bfloat16")
    one, two = (train(fresh(), Successors(), config=config, folder=tmp_path / name) for name in "ab")
    assert one.losses[-1] < 0.1
    assert np.array_equal(one.losses, two.losses)
    full = train(fresh(), Successors(), config=replace(config, products="float32"))
    assert not np.array_equal(one.losses, full.losses)
    with pytest.raises(ModelError, match=r"belongs to another training: config differ"):
        train(fresh(), Successors(), config=replace(config, products="float32"), folder=tmp_path / "a")
    with pytest.raises(ConfigError, match="products 'float16'; there are float32 and bfloat16"):
        replace(config, products="float16")


def test_a_repeat_gives_the_same_bytes(tmp_path: Path) -> None:
    first = train(fresh(), Successors(), config=QUICK, folder=tmp_path / "a")
    second = train(fresh(), Successors(), config=QUICK, folder=tmp_path / "b")
    assert np.array_equal(first.losses, second.losses)
    assert (tmp_path / "a" / CHECKPOINT).read_bytes() == (tmp_path / "b" / CHECKPOINT).read_bytes()
    train(fresh(), Successors(seed=1), config=QUICK, folder=tmp_path / "twin")
    assert (tmp_path / "twin" / CHECKPOINT).read_bytes() != (tmp_path / "a" / CHECKPOINT).read_bytes()


@pytest.mark.parametrize("killed_after", [1, 2, 3, 5])
def test_a_killed_training_ends_in_the_same_bytes(tmp_path: Path, killed_after: int) -> None:
    whole = train(fresh(), Successors(), config=QUICK, folder=tmp_path / "whole")

    def kill(done: int, loss: float) -> None:
        if done == killed_after:
            raise Killed

    with pytest.raises(Killed):
        train(fresh(), Successors(), config=QUICK, folder=tmp_path / "killed", progress=kill)
    (tmp_path / "killed").mkdir(exist_ok=True)
    (tmp_path / "killed" / (CHECKPOINT + ".partial")).write_bytes(b"half")
    resumed = train(fresh(), Successors(), config=QUICK, folder=tmp_path / "killed")
    assert resumed.resumed_from == killed_after // 2 * 2
    assert np.array_equal(resumed.losses, whole.losses)
    assert (tmp_path / "killed" / CHECKPOINT).read_bytes() == (tmp_path / "whole" / CHECKPOINT).read_bytes()
    assert train(fresh(), Successors(), config=QUICK, folder=tmp_path / "killed").resumed_from == 6


def test_a_checkpoint_without_moments_would_be_noticed(tmp_path: Path) -> None:
    """The twin of the kill test: going on from the weights alone ends elsewhere."""
    short = TrainingConfig(steps=4, warmup=2, checkpoint_every=2)
    train(fresh(), Successors(), config=short, folder=tmp_path)
    tensors, identity = read_checkpoint(tmp_path / CHECKPOINT)
    half = {name: tensor for name, tensor in tensors.items() if name != "losses"}
    emptied = {name: torch.zeros_like(part) if "exp_avg" in name else part for name, part in half.items()}
    twin = tmp_path / "twin" / CHECKPOINT
    write_checkpoint(twin, {**emptied, "losses": tensors["losses"][:2]}, identity=identity)
    resumed = train(fresh(), Successors(), config=short, folder=twin.parent)
    assert not np.array_equal(resumed.losses, tensors["losses"].numpy())


def test_trained_weights_can_be_loaded(tmp_path: Path) -> None:
    model = fresh()
    train(model, Successors(), config=QUICK, folder=tmp_path)
    other = fresh(seed=5)
    assert load_trained(other, tmp_path / CHECKPOINT) == 6
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), other.parameters(), strict=True))
    with pytest.raises(ModelError, match=r"differ in \['blocks\.1"):
        load_trained(toy(ToyConfig(16, 2, 2, 7, 8), seed=0), tmp_path / CHECKPOINT)


@pytest.mark.parametrize(
    ("seed", "data", "config", "word"),
    [
        (1, Successors(), QUICK, "start differ"),
        (0, Successors(seed=2), QUICK, "data differ"),
        (0, Successors(), TrainingConfig(steps=8, warmup=2, checkpoint_every=2), "config differ"),
    ],
)
def test_another_training_is_not_gone_on_with(
    tmp_path: Path, seed: int, data: Successors, config: TrainingConfig, word: str
) -> None:
    train(fresh(), Successors(), config=QUICK, folder=tmp_path)
    with pytest.raises(ModelError, match=word):
        train(fresh(seed), data, config=config, folder=tmp_path)


@pytest.mark.parametrize("content", [b"", b"half a file", None])
def test_a_damaged_checkpoint_is_told(tmp_path: Path, content: bytes | None) -> None:
    train(fresh(), Successors(), config=QUICK, folder=tmp_path)
    path = tmp_path / CHECKPOINT
    path.write_bytes(path.read_bytes()[:-10] if content is None else content)
    with pytest.raises(ModelError, match=r"is not a checkpoint of a training.*Remove it"):
        train(fresh(), Successors(), config=QUICK, folder=tmp_path)


def test_decay_spares_embeddings_norms_and_biases() -> None:
    strong = TrainingConfig(steps=1, warmup=0, peak=1e-2, decay=50.0, schedule="constant")
    none = TrainingConfig(steps=1, warmup=0, peak=1e-2, decay=0.0, schedule="constant")
    models = []
    for config in (strong, none):
        model = fresh()
        train(model, Successors(), config=config)
        models.append(dict(model.named_parameters()))
    changed = {name for name in models[0] if not torch.equal(models[0][name], models[1][name])}
    assert changed == {f"blocks.0.{part}.weight" for part in ("attention.qkv", "attention.out", "mlp.up", "mlp.down")}


def test_schedules_warm_up_and_end_at_the_floor() -> None:
    cosine = TrainingConfig(steps=110, warmup=10, peak=2.0, floor=0.1)
    assert [learning_rate(cosine, step) for step in (0, 9, 10)] == pytest.approx([0.2, 2.0, 2.0])
    assert learning_rate(cosine, 60) == pytest.approx(2.0 * 0.55)
    linear = TrainingConfig(steps=110, warmup=10, peak=2.0, floor=0.1, schedule="linear")
    assert learning_rate(linear, 60) == pytest.approx(1.1)
    assert learning_rate(linear, 109) == pytest.approx(2.0 * (0.1 + 0.9 * 0.01))
    assert learning_rate(TrainingConfig(schedule="constant", peak=0.5), 2999) == 0.5


@pytest.mark.parametrize("family", ["llama", "gpt_neox"])
def test_small_transformers_models_train_and_repeat(tmp_path: Path, family: str) -> None:
    for name in "ab":
        model = _model(TinyRandom(family, width=32, n_layers=1))
        done = train(model, Successors(), config=QUICK, folder=tmp_path / name)
    assert done.losses[-1] < done.losses[0]
    assert (tmp_path / "a" / CHECKPOINT).read_bytes() == (tmp_path / "b" / CHECKPOINT).read_bytes()


def test_what_cannot_be_repeated_or_is_wrong_is_refused() -> None:
    model = fresh()
    model.blocks[0].add_module("dropout", nn.Dropout(0.1))
    with pytest.raises(ModelError, match=r"dropout \{'blocks\.0\.dropout': 0\.1\}"):
        train(model, Successors(), config=QUICK)
    with pytest.raises(ModelError, match="no weight of Toy is trainable"):
        train(fresh().requires_grad_(requires_grad=False), Successors(), config=QUICK)
    with pytest.raises(ShapeError, match="0 scored"):
        train(fresh(), Successors(unscored=True), config=QUICK)
    broken = fresh()
    with torch.no_grad():
        broken.ln_f.weight.fill_(torch.nan)
    with pytest.raises(ModelError, match="the loss of step 0 is nan"):
        train(broken, Successors(), config=QUICK)
    for wrong in ({"schedule": "step"}, {"warmup": 3000}, {"floor": 2.0}, {"peak": math.inf}, {"checkpoint_every": 0}):
        with pytest.raises(ConfigError, match="TrainingConfig"):
            TrainingConfig(**wrong)  # type: ignore[arg-type]
