"""The four barriers on paths whose answers are known, and a gain that does not flatter itself."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.diagnostics.barrier import LossPath, barrier, barriers, gain, held_out_gain
from assay.errors import EstimateError

GRID = tuple(i / 10 for i in range(11))


def path(loss, grid=GRID):
    return LossPath(grid, tuple(loss(t) for t in grid))


def heights(losses):
    return {kind: found.height for kind, found in barriers(losses).items()}


def test_a_straight_path_has_the_gap_as_its_mean_barrier_and_no_other():
    found = heights(path(lambda t: 2 + 3 * t))
    assert found == pytest.approx({"mean": 1.5, "chord": 0, "chord_interior": 0, "midpoint": 0}, abs=1e-12)


def test_a_bump_between_equal_ends_is_the_same_in_all_four():
    found = barriers(path(lambda t: 2 + 0.7 * 4 * t * (1 - t)))
    assert {kind: (each.height, each.t) for kind, each in found.items()} == {
        kind: (pytest.approx(0.7), 0.5) for kind in ("mean", "chord", "chord_interior", "midpoint")
    }
    assert {each.kind for each in found.values()} == set(found)


def test_a_valley_is_negative_only_inside():
    found = heights(path(lambda t: 2 + t + (t - 0.5) ** 2 - 0.25))
    assert found["chord"] == 0
    assert found["chord_interior"] == pytest.approx(-0.09)
    assert found["midpoint"] == pytest.approx(-0.25)
    assert found["mean"] == pytest.approx(0.5)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(st.floats(-5, 5), min_size=11, max_size=11), st.floats(-3, 3), st.floats(0.1, 4))
def test_signs_order_and_scale(losses, offset, factor):
    made = LossPath(GRID, tuple(losses))
    found = heights(made)
    assert found["mean"] >= abs(losses[0] - losses[-1]) / 2 - 1e-9
    assert found["chord"] == max(0.0, found["chord_interior"]) >= 0
    assert found["midpoint"] <= found["chord_interior"] + 1e-9
    assert found["mean"] >= found["midpoint"]
    scaled = heights(LossPath(GRID, tuple(offset + factor * loss for loss in losses)))
    assert scaled == pytest.approx({kind: factor * value for kind, value in found.items()}, abs=1e-9)
    turned = heights(LossPath(GRID, tuple(losses[::-1])))
    assert turned == pytest.approx(found, abs=1e-9)


def test_a_finer_grid_is_never_lower():
    def loss(t):
        return math.sin(9 * t) + t

    coarse, fine = path(loss), path(loss, tuple(i / 200 for i in range(201)))
    for kind in ("mean", "chord", "chord_interior"):
        assert barrier(fine, kind=kind).height >= barrier(coarse, kind=kind).height


def test_gain_over_the_better_end():
    made = path(lambda t: 2 - t + 4 * (t - 0.6) ** 2)
    assert gain(made) == pytest.approx(min(made.losses[0], made.losses[-1]) - min(made.losses[1:-1]))
    assert gain(path(lambda t: 1 + t)) < 0


def test_the_held_out_choice_is_not_the_best_of_the_reported():
    choose = {"lerp": path(lambda t: (t - 0.3) ** 2), "slerp": path(lambda t: (t - 0.3) ** 2 - 0.05 * (0 < t < 1))}
    report = {"lerp": path(lambda t: (t - 0.8) ** 2), "slerp": path(lambda t: (t - 0.8) ** 2)}
    found = held_out_gain(choose, report)
    assert (found.operator, found.t, found.tried) == ("slerp", 0.3, 18)
    assert found.value == pytest.approx(0.04 - 0.25)
    assert gain(report["slerp"]) == pytest.approx(0.04)


def test_noise_alone_gains_nothing_held_out_and_something_otherwise():
    rng = np.random.default_rng(0)
    inside, outside = [], []
    for _ in range(400):
        halves = [{"lerp": LossPath(GRID, (1.0, *(1.0 + rng.standard_normal(9) * 0.1), 1.0))} for _ in range(2)]
        inside.append(gain(halves[0]["lerp"]))
        outside.append(held_out_gain(*halves).value)
    assert np.mean(inside) > 0.1
    assert abs(np.mean(outside)) < 4 * 0.1 / 20


def test_ties_go_to_the_first_place():
    assert barrier(LossPath((0, 0.25, 0.5, 1), (0, 1, 1, 0)), kind="mean").t == 0.25
    assert held_out_gain({"lerp": path(lambda t: 1.0)}, {"lerp": path(lambda t: 1.0)}).t == 0.1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LossPath((0, 1), (1, 1)), r"places \(0\.0, 1\.0\)"),
        (lambda: LossPath((0.1, 0.5, 0.9), (1, 1, 1)), "both included"),
        (lambda: LossPath((0, 0.5, 0.5, 1), (1, 1, 1, 1)), "rise from 0 to 1"),
        (lambda: LossPath((0, 0.5, 1), (1, 1)), "3 places, 2 losses"),
        (lambda: LossPath((0, 0.5, 1), (1, math.nan, 1)), "t = 0.5 is nan"),
        (lambda: barriers(LossPath((0, 0.4, 1), (1, 1, 1))), "no loss at t = 0.5"),
        (lambda: held_out_gain({}, {}), "at least one"),
        (lambda: held_out_gain({"lerp": path(abs)}, {"slerp": path(abs)}), "same operators"),
        (
            lambda: held_out_gain(*[{"lerp": path(abs), "slerp": path(lambda t: 1 + t)}] * 2),
            "the ends of lerp and slerp have losses 0.0 and 1",
        ),
    ],
)
def test_what_is_no_path_is_refused(call, message):
    with pytest.raises(EstimateError, match=message):
        call()
