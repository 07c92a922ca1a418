"""Many at once: the same bytes as alone, failures told by name."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import torch

from assay.errors import ConfigError, ModelError
from assay.models.checkpoint import CHECKPOINT
from assay.models.toy import ToyConfig, toy
from assay.models.training import TrainingConfig, train
from assay.models.training_pool import TrainingJob, train_many
from tests.unit.models.training_data import Successors

SMALL = ToyConfig(width=16, n_layers=1, n_heads=2, vocabulary=7, positions=8)
QUICK = TrainingConfig(steps=4, warmup=1, checkpoint_every=2)


def job(name: str, seed: int, *, unscored: bool = False) -> TrainingJob:
    return TrainingJob(name, partial(toy, SMALL, seed=seed), Successors(seed, unscored=unscored), QUICK)


def test_many_at_once_are_the_bytes_of_one_alone_and_a_failure_is_named(tmp_path: Path) -> None:
    jobs = [job("a", 0), job("broken", 1, unscored=True), job("c", 2)]
    with pytest.raises(ModelError, match=r"1 of 3 trainings failed \(broken\); broken: ShapeError: .*0 scored"):
        train_many(jobs, folder=tmp_path / "many")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for name, seed in (("a", 0), ("c", 2)):
            train(toy(SMALL, seed=seed), Successors(seed), config=QUICK, folder=tmp_path / "alone" / name)
    finally:
        torch.set_num_threads(threads)
    for name in "ac":
        many, alone = ((tmp_path / how / name / CHECKPOINT).read_bytes() for how in ("many", "alone"))
        assert many == alone
    again = train_many([job("a", 0)], folder=tmp_path / "many", processes=1)
    assert again["a"].resumed_from == 4


def test_wrong_names_are_refused(tmp_path: Path) -> None:
    for jobs, processes in (([job("a", 0), job("a", 1)], 2), ([job("../a", 0)], 2), ([job("a", 0)], 0)):
        with pytest.raises(ConfigError, match="train_many"):
            train_many(jobs, folder=tmp_path, processes=processes)
