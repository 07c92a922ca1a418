"""An estimate refuses everything that would let a missing number pass for a number."""

import dataclasses
import math
import subprocess
import sys

import numpy as np
import pytest

from assay.errors import EstimateError
from assay.stats.estimate import Estimate


def test_numpy_numbers_become_plain_ones():
    estimate = Estimate(np.float32(0.5), np.float64(0.25), 1, np.int64(7))
    assert [type(part) for part in dataclasses.astuple(estimate)] == [float, float, float, int, str]
    assert estimate.known


def test_the_value_may_lie_outside_its_interval():
    assert Estimate(0.9, 0.1, 0.5, 10).value == 0.9


def test_nan_needs_a_reason():
    with pytest.raises(EstimateError, match="low, high is NaN without a reason"):
        Estimate(1.0, math.nan, math.nan, 3)
    with pytest.raises(EstimateError, match="without a reason"):
        Estimate(math.nan, 0.0, 1.0, 3, reason="  ")
    assert not Estimate(math.nan, math.nan, math.nan, 3, reason="no variance").known


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.5, 0.6, 0.4, 3), "lies above high"),
        ((0.5, 0.4, 0.6, -1), "0 or more"),
        ((0.5, 0.4, 0.6, 2.5), "whole number"),
        ((0.5, 0.4, 0.6, True), "0 or more"),
        (("0.5", 0.4, 0.6, 1), "real number"),
        ((True, 0.4, 0.6, 1), "real number"),
        ((0.5, None, 0.6, 1), "low must be a real number"),
        ((0.5, 0.4, 0.6, 1, None), "reason must be text"),
    ],
)
def test_bad_parts_are_refused(arguments, message):
    with pytest.raises(EstimateError, match=message):
        Estimate(*arguments)


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Estimate(0.5, 0.4, 0.6, 1).value = 0.7


def test_the_import_is_light():
    """Claims open estimates, so the module must not bring in an array library."""
    code = "import sys, assay.stats.estimate; print(sorted({'numpy','scipy','torch','pandas'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
