"""The normal interval agrees with the bootstrap where clusters are many, and the alarm says where they part."""

import math

import numpy as np
import pytest

from assay.errors import EstimateError
from assay.seeds import stream
from assay.stats.bootstrap import cluster_mean
from assay.stats.cluster_normal import cluster_normal, width_alarm
from assay.stats.estimate import Estimate


def grouped(n_clusters=100, size=4):
    source = stream(0, "normal", n_clusters)
    clusters = np.repeat(np.arange(n_clusters), size)
    return source.standard_normal(n_clusters)[clusters] + source.standard_normal(clusters.size), clusters


@pytest.mark.parametrize(("level", "z"), [(0.90, 1.6448536), (0.95, 1.9599640)])
def test_the_error_is_its_formula(level, z):
    values, clusters = grouped()
    found = cluster_normal(values, clusters=clusters, level=level)
    sums = np.bincount(clusters, weights=values - values.mean())
    error = math.sqrt(100 / 99 * (sums**2).sum()) / values.size
    assert (found.value, found.low) == pytest.approx((values.mean(), values.mean() - z * error))
    assert found.high - found.value == pytest.approx(found.value - found.low)
    assert (found.n, found.reason) == (400, "")


def test_many_clusters_raise_no_alarm_and_forgotten_ones_do():
    values, clusters = grouped()
    right = cluster_mean(values, clusters=clusters, draws=1000, rng=stream(0, "draws"))
    forgotten = cluster_mean(values, clusters=range(400), draws=1000, rng=stream(0, "draws"))
    normal = cluster_normal(values, clusters=clusters)
    assert width_alarm(right, normal) == ""
    assert width_alarm(forgotten, normal).startswith("the bootstrap interval is 0.6")


@pytest.mark.parametrize(("width", "alarm"), [(1.2, ""), (0.8, ""), (1.25, "1.25 times"), (0.75, "0.75 times")])
def test_a_fifth_is_allowed(width, alarm):
    found = width_alarm(Estimate(0, 0, width, 9), Estimate(0, 0, 1, 9))
    assert alarm in found
    assert bool(found) == bool(alarm)


def test_few_clusters_are_flagged_and_very_few_refused():
    values, clusters = grouped(12)
    assert "12 clusters, fewer than 30" in cluster_normal(values, clusters=clusters).reason
    with pytest.raises(EstimateError, match="an interval needs 10 clusters"):
        cluster_normal(values[:36], clusters=clusters[:36])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cluster_normal(np.array([1.0, math.inf]), clusters=[0, 1]), "1 not finite"),
        (lambda: cluster_normal(np.ones(3), clusters=[0, 1]), r"shape \(3,\), 0 not finite, 2 cluster names"),
        (lambda: cluster_normal(np.ones(20), clusters=range(20), level=1.0), "level 1.0"),
        (lambda: cluster_normal(np.ones(20), clusters=range(20), level=0.0), "level 0.0"),
        (lambda: width_alarm(Estimate(0, 0, 1, 9), Estimate(0, 0, 0, 9)), "widths 1 and 0"),
        (lambda: width_alarm(Estimate(0, math.nan, 1, 9, "x"), Estimate(0, 0, 1, 9)), "widths nan and 1"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(EstimateError, match=message):
        call()
