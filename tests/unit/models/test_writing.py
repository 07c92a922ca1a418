"""The contract of a write: what is refused, and with which words. The laws stand in tests/laws/test_hooks.py."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from assay.errors import ConfigError, ModelError, ShapeError
from assay.models.hooks import capture
from assay.models.sites import HookPoint, Site
from assay.models.toy import ToyConfig, toy
from assay.models.writing import Write, write, writing

MODEL = toy(ToyConfig(width=16, n_layers=2, n_heads=2), seed=0)
IDS = torch.tensor([[1, 5, 16, 7], [1, 6, 15, 0]])
MASK = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
SITE = Site(HookPoint.RESID_POST, 0)


@pytest.mark.parametrize(
    ("target", "word"),
    [
        (torch.zeros(2, 4, 8), r"shape \(2, 4, 16\).*the target has shape \(2, 4, 8\)"),
        (torch.zeros(16), r"the target has shape \(16,\)"),
        (torch.zeros(2, 4, 16, dtype=torch.float64), r"torch\.float32 .* in torch\.float64"),
        (lambda rows: rows[:, 0], r"the target has shape \(2, 16\)"),
        (lambda rows: None, "the target at resid_post.0 is NoneType"),
    ],
)
def test_a_target_that_does_not_fit_is_refused(target: Any, word: str) -> None:
    with pytest.raises(ShapeError, match=word):
        write(MODEL, [Write(SITE, target)], IDS, MASK)


def test_a_disabled_write_still_checks_its_target_and_calls_no_function() -> None:
    with pytest.raises(ShapeError, match="shape"):
        write(MODEL, [Write(SITE, torch.zeros(1), alpha=0.0)], IDS, MASK)

    def never(rows: torch.Tensor) -> torch.Tensor:
        raise AssertionError("called")

    write(MODEL, [Write(SITE, never, alpha=0.0)], IDS, MASK)


def test_wrong_writes_are_refused() -> None:
    rows = torch.zeros(2, 4, 16)
    for alpha in (math.nan, math.inf):
        with pytest.raises(ConfigError, match="give a finite number"):
            Write(SITE, rows, alpha=alpha)
    with pytest.raises(ConfigError, match="boolean and go with position 'all'"):
        Write(Site(HookPoint.RESID_POST, 0, -1), rows[:, 0], tokens=MASK.bool())
    with pytest.raises(ConfigError, match=r"torch\.int64"):
        Write(SITE, rows, tokens=MASK)
    with pytest.raises(ShapeError, match=r"tokens \(1, 4\)"):
        write(MODEL, [Write(SITE, rows, tokens=MASK[:1].bool())], IDS, MASK)
    with pytest.raises(ModelError, match=r"two writes at resid_post\.0"):
        write(MODEL, [Write(SITE, rows), Write(SITE, rows)], IDS, MASK)
    with pytest.raises(ModelError, match=r"resid_post\.2 asked, but Toy has layers 0 to 1"):
        write(MODEL, [Write(Site(HookPoint.RESID_POST, 2), rows)], IDS, MASK)
    with pytest.raises(ShapeError, match="line 1 of the batch has 3 real tokens"):
        write(MODEL, [Write(Site(HookPoint.RESID_POST, 0, 3), rows[:, 0])], IDS, MASK)
    with (
        pytest.raises(ShapeError, match=r"\(2, 3\) tokens came, the mask has \(2, 4\)"),
        writing(MODEL, [Write(SITE, rows)], MASK),
    ):
        MODEL(IDS[:, :3])


def test_a_write_that_nothing_reached_is_told() -> None:
    with (
        pytest.raises(ModelError, match=r"no forward pass reached resid_post\.0"),
        writing(MODEL, [Write(SITE, torch.zeros(2, 4, 16))], MASK),
    ):
        pass


def test_several_passes_may_be_written_and_gradients_flow() -> None:
    target = torch.zeros(2, 4, 16, requires_grad=True)
    with writing(MODEL, [Write(SITE, target, alpha=0.5)], MASK):
        first = MODEL(input_ids=IDS, attention_mask=MASK).logits
        assert torch.equal(first, MODEL(input_ids=IDS, attention_mask=MASK).logits)
        first.sum().backward()
    assert target.grad is not None
    assert float(target.grad.abs().sum()) > 0


def test_two_writes_at_two_positions_of_one_tensor() -> None:
    first, last = Site(HookPoint.MLP_OUT, 1, 0), Site(HookPoint.MLP_OUT, 1, -1)
    writes = [Write(first, torch.ones(2, 16)), Write(last, 2 * torch.ones(2, 16))]
    everywhere = Site(HookPoint.MLP_OUT, 1)
    rows = write(MODEL, writes, IDS, MASK, sites=[everywhere])[everywhere]
    plain = capture(MODEL, [everywhere], IDS, MASK)[everywhere]
    assert torch.equal(rows[:, 0], torch.ones(2, 16))
    assert torch.equal(rows[[0, 1], [3, 2]], 2 * torch.ones(2, 16))
    assert torch.equal(rows[:, 1], plain[:, 1])
