"""Named random streams: equal names give equal draws, other names give others, in any order."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from assay.seeds import stream, stream_key, torch_stream

PARTS = st.lists(st.one_of(st.text(max_size=8), st.integers()), max_size=3)


@given(root=st.integers(), name=PARTS)
def test_equal_names_give_equal_draws(root: int, name: list[str | int]) -> None:
    assert np.array_equal(stream(root, *name).integers(0, 2**62, 4), stream(root, *name).integers(0, 2**62, 4))


@given(root=st.integers(0, 9), first=PARTS, second=PARTS)
def test_other_names_give_other_keys(root: int, first: list[str | int], second: list[str | int]) -> None:
    same = list(map(repr, first)) == list(map(repr, second))
    assert (stream_key(root, *first) == stream_key(root, *second)) == same


def test_a_stream_does_not_move_when_another_is_drawn() -> None:
    alone = stream(7, "bootstrap", 1).normal(size=3)
    stream(7, "shuffle").normal(size=100)
    assert np.array_equal(stream(7, "bootstrap", 1).normal(size=3), alone)


def test_golden_draws_do_not_depend_on_the_process() -> None:
    code = "from assay.seeds import stream; print(stream(20261, 'bootstrap').integers(0, 10**9))"
    seen = {subprocess.check_output([sys.executable, "-c", code], text=True) for _ in range(2)}
    assert seen == {f"{stream(20261, 'bootstrap').integers(0, 10**9)}\n"}


def test_torch_streams_are_named_too() -> None:
    first, again, other = (torch.randn(3, generator=torch_stream(1, *name)) for name in (("a",), ("a",), ("b",)))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("root", [True, 1.0, "1"])
def test_a_root_that_is_no_integer_is_refused(root: object) -> None:
    with pytest.raises(TypeError, match="must be an integer"):
        stream(root, "x")  # type: ignore[arg-type]
